#!/bin/bash
# reproducible.sh FOLDER [SWIFT]: makes what portable.sh has made in FOLDER again, in another folder and from the same
# source packages, and checks that it is the same byte for byte: the libraries are compiled again too.
set -euo pipefail
first=$(cd "$1" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck disable=SC1091
. "$here/Sources/Packaging/epoch.sh" "$first/s3up"
again=$work/somewhere/else
mkdir -p "$again/portable" "$work/home"
cp -r "$here"/{Package.swift,Sources,Tests} "$again"
cp -r "$first/sources" "$again/portable"
(
  umask 027
  cd "$again"
  # Another home, time zone and language.
  env HOME="$work/home" TZ=Asia/Tokyo LC_ALL=C.UTF-8 Sources/Packaging/portable.sh "$again/portable" "${2:-swift}"
)
for name in s3up s3up.sha256 s3up.spdx.json; do
  cmp "$first/$name" "$again/portable/$name" || {
    echo "reproducible: made again, $name is another" >&2
    exit 1
  }
done
echo "reproducible: made again in another folder, $(cut -c 1-16 "$first/s3up.sha256")… is the same"

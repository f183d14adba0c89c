#!/bin/bash
# deb.sh PROGRAM MAP FOLDER: makes FOLDER/s3up_VERSION_ARCHITECTURE.deb of a built program and the linker's map of it, for the
# Debian release that built it: the system's libraries in it get the system's updates. The package is reproducible byte for
# byte. The maintainer is $DEBFULLNAME <$DEBEMAIL>, as for Debian's own tools.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "$1")
map=$(realpath "$2")
mkdir -p "$3"
folder=$(cd "$3" && pwd)
maintainer="${DEBFULLNAME:-The authors of s3up} <${DEBEMAIL:-s3up@example.org}>"
version=$("$program" --version | awk '{ print $2 }')
architecture=$(dpkg --print-architecture)
. "$here/epoch.sh" "$program"
work=$(mktemp -d "$folder/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
umask 022

root=$work/root
put() { install -D -m "${3:-644}" "$1" "$root/$2"; }
doc=usr/share/doc/s3up
strip --strip-unneeded -R .comment -o "$work/s3up" "$program"
put "$work/s3up" usr/bin/s3up 755
python3 "$here/sbom.py" "$work/s3up" "$(dirname "$program")" "$map" >"$work/s3up.spdx.json"
put "$work/s3up.spdx.json" "$doc/s3up.spdx.json"
"$program" help --man | gzip -9n >"$work/s3up.1.gz"
put "$work/s3up.1.gz" usr/share/man/man1/s3up.1.gz
for shell in bash=bash-completion/completions/s3up zsh=zsh/vendor-completions/_s3up fish=fish/vendor_completions.d/s3up.fish; do
  "$program" completions "${shell%%=*}" >"$work/completions"
  put "$work/completions" "usr/share/${shell#*=}"
done
put "$here/copyright" "$doc/copyright"
put "$here/../MultipartCore/MultipartCore.docc/Resources/json-output.schema.json" "$doc/json-output.schema.json"
date=$(LC_ALL=C date -u -d "@$SOURCE_DATE_EPOCH" '+%a, %d %b %Y %H:%M:%S +0000')
changelog=$(<"$here/changelog")
# In quotes, because a name may have an ampersand.
changelog=${changelog/@VERSION@/"$version"}
changelog=${changelog/@MAINTAINER@/"$maintainer"}
printf '%s\n' "${changelog/@DATE@/"$date"}" | gzip -9n >"$work/changelog.gz"
put "$work/changelog.gz" "$doc/changelog.gz"

# dpkg-shlibdeps must run in a source package.
mkdir -p "$work/debian"
printf 'Source: s3up\n\nPackage: s3up\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O root/usr/bin/s3up 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
mkdir "$root/DEBIAN"
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$work/md5sums"
install -m 644 "$work/md5sums" "$root/DEBIAN/md5sums"
cat >"$root/DEBIAN/control" <<EOF
Package: s3up
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -k -s --apparent-size "$root/usr" | cut -f 1)
Depends: $depends
Recommends: ca-certificates
Section: net
Priority: optional
Description: uploads to and downloads from S3 that can be trusted
 Uploads files, folders and streams to S3 and stores like it, in parts and in
 parallel, and brings them back. Interrupted transfers are resumed, each object
 is proven by its checksum, and nothing is published that is not whole.
 .
 For a shell, for cron and for CI: clear exit codes, JSON, no noise.
EOF
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
deb=s3up_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz -b "$root" "$folder/$deb" >/dev/null
(cd "$folder" && sha256sum "$deb" >"$deb.sha256")
echo "$folder/$deb: $(($(stat -c %s "$folder/$deb") >> 10)) KiB"

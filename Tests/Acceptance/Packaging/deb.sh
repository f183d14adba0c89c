#!/bin/bash
# deb.sh FOLDER PROGRAM MAP RELEASE: checks that the Debian package in FOLDER passes lintian, is identical if it is made again of
# PROGRAM and its MAP, says what is in it, and can be installed, used and purged in a Debian with nothing but its base system.
set -euo pipefail
folder=$(cd "$1" && pwd)
program=$2 map=$3 release=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/system.sh"
package=$(echo "$folder"/s3up_*.deb)

fail() {
  echo "deb: $1" >&2
  exit 1
}

lintian --fail-on error,warning --allow-root "$package" || fail "lintian found the above"
"$here/../../../Sources/Packaging/deb.sh" "$program" "$map" "$folder/again" >/dev/null
cmp "$package" "$folder/again/${package##*/}" || fail "made again, it is another"
(cd "$folder" && sha256sum --quiet -c "${package##*/}.sha256")

rm -rf "$folder/unpacked"
dpkg-deb -x "$package" "$folder/unpacked"
"$here/sbom.sh" "$folder/unpacked/usr/share/doc/s3up/s3up.spdx.json" "$folder/unpacked/usr/bin/s3up"

bare_system "$release"
files() { (cd "$bare" && find etc usr var srv -name '*s3up*' -not -path 'var/*/apt/*' | sort); }
cp "$package" "$bare/srv/new.deb"
in_it apt-get -q -y update >"$bare.log" 2>&1 || fail "$(tail "$bare.log")"
in_it DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends /srv/new.deb >"$bare.log" 2>&1 ||
  fail "$(tail "$bare.log")"
in_it dpkg --verify s3up || fail "installed, it is not what the package holds"
cp "$CA_FILE" "$bare/etc/ssl/certs/ca-certificates.crt"
in_it s3up --version
key=s3://$BUCKET/deb-$release
in_it s3up put /srv/file "$key"
in_it s3up get "$key" /srv/back --overwrite
cmp "$bare/srv/file" "$bare/srv/back" || fail "what came back is not what went up"
in_it sh -c 'bash -n /usr/share/bash-completion/completions/s3up'
in_it DEBIAN_FRONTEND=noninteractive apt-get -q -y purge s3up >"$bare.log" 2>&1 || fail "$(tail "$bare.log")"
rm -rf "$bare/srv/.local"
[ -z "$(files)" ] || fail "purged, it has left: $(files)"
echo "$release: installed, used and purged"

#!/bin/bash
# bare.sh FOLDER RELEASE...: checks that FOLDER/s3up uploads over TLS from a Debian with nothing but its base system,
# and trusts the certificates where that Debian has them.
set -euo pipefail
folder=$(cd "$1" && pwd)
shift
. "$(dirname "${BASH_SOURCE[0]}")/system.sh"

for release in "$@"; do
  bare_system "$release"
  cp "$folder/s3up" "$bare/usr/local/bin/"
  cp "$CA_FILE" "$bare/etc/ssl/certs/ca-certificates.crt"
  echo "$release: $(chroot "$bare" ldd --version | head -n 1)"
  in_it s3up put /srv/file "s3://$BUCKET/bare-$release"
  # From here on nothing is trusted.
  : >"$bare/etc/ssl/certs/ca-certificates.crt"
  if in_it s3up put /srv/file "s3://$BUCKET/bare-$release" --retries 1 2>"$bare.log"; then
    echo "$release: it trusted an authority that is gone" >&2
    exit 1
  fi
  tail -n 2 "$bare.log"
  cp "$CA_FILE" "$bare/srv/ca.pem"
  in_it SSL_CERT_FILE=/srv/ca.pem s3up put /srv/file "s3://$BUCKET/bare-$release-2"
done

#!/bin/bash
# bare.sh FOLDER RELEASE...: FOLDER/s3up uploads over TLS from a Debian that has its base system and nothing else, and trusts
# what lies where that Debian has its certificates. Needs root, debootstrap, and a store that Tests/Stores/stores.sh runs.
set -euo pipefail
folder=$(cd "$1" && pwd)
shift
. "$S3UP_TEST_STORES/seaweedfs/env"
# shellcheck disable=SC2016 # it is apt's
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Component: main' | head -n 1)

for release in "$@"; do
  bare=$folder/bare-$release
  if [ ! -e "$bare/made" ]; then
    rm -rf "$bare"
    debootstrap --variant=minbase "$release" "$bare" "$mirror" >"$bare.log" 2>&1 || {
      tail -n 20 "$bare.log" >&2
      exit 1
    }
    touch "$bare/made"
  fi
  cp "$folder/s3up" "$bare/usr/local/bin/"
  mkdir -p "$bare/etc/ssl/certs"
  cp "$CA_FILE" "$bare/etc/ssl/certs/ca-certificates.crt"
  head -c 50M /dev/urandom >"$bare/root/file"
  echo "$release: $(chroot "$bare" ldd --version | head -n 1)"
  in_it() {
    chroot "$bare" env -i HOME=/root AWS_ACCESS_KEY_ID="$ACCESS_KEY" AWS_SECRET_ACCESS_KEY="$SECRET_KEY" \
      AWS_REGION="$REGION" AWS_ENDPOINT_URL_S3="$TLS_ENDPOINT" "$@"
  }
  in_it /usr/local/bin/s3up put /root/file "s3://$BUCKET/bare-$release"
  # Nothing is trusted any more.
  : >"$bare/etc/ssl/certs/ca-certificates.crt"
  if in_it /usr/local/bin/s3up put /root/file "s3://$BUCKET/bare-$release" --retries 1 2>"$bare.log"; then
    echo "$release: it trusted an authority that is gone" >&2
    exit 1
  fi
  tail -n 2 "$bare.log"
  cp "$CA_FILE" "$bare/root/ca.pem"
  in_it SSL_CERT_FILE=/root/ca.pem /usr/local/bin/s3up put /root/file "s3://$BUCKET/bare-$release-2"
done

#!/bin/bash
# OpenStack Swift (Apache-2.0) with its s3api: proxy, account, container and object server, one replica.
# It verifies the signature and the region in its scope, x-amz-content-sha256, Content-MD5 and checksums, does not change
# keys and lists in pages of 1,000. Its access key is "account:user". Its data needs a file system with user attributes.
NAME=swift
ACCESS_KEY=test:tester
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"
PARTS=(stunnel proxy object container account)
LAUNCH_PORTS=5

# configure FILE SED_ARG...: fills in a configuration; paths are absolute, because the servers change their directory
configure() { sed "${@:2}" -e "s|@RUN@|$RUN|" -e "s|@USER@|$(id -un)|" "$1"; }

# backend KIND PORT: its configuration, and a ring of one device
backend() {
  configure "$HERE/swift/backend.conf" -e "s|@KIND@|$1|" -e "s|@PORT@|$2|" >"$1.conf"
  {
    "$VENV/bin/swift-ring-builder" "$1.builder" create 2 1 0
    "$VENV/bin/swift-ring-builder" "$1.builder" add "r1z1-127.0.0.1:$2/d1" 1
    "$VENV/bin/swift-ring-builder" "$1.builder" rebalance
  } >>ring.log 2>&1 || [ -e "$1.ring.gz" ] || fail "no ring" "$RUN/ring.log"
}

launch() {
  local kind
  mkdir -p data/d1
  python3 -c 'import os; os.setxattr("data/d1", "user.probe", b"1")' 2>/dev/null ||
    fail "$RUN lies on a file system without user attributes: set S3UP_STORES_DIR to a folder on one that has them"
  cp "$HERE/swift/swift.conf" .
  backend account "${PORTS[2]}"
  backend container "${PORTS[3]}"
  backend object "${PORTS[4]}"
  configure "$HERE/swift/proxy.conf" -e "s|@PORT@|${PORTS[0]}|" -e "s|@SECRET@|$SECRET_KEY|" \
    -e "s|@HOST_SUFFIX@|$HOST_SUFFIX|" >proxy.conf
  export SWIFT_DIR=$RUN
  for kind in account container object proxy; do
    background "$kind" "$VENV/bin/swift-$kind-server" "$kind.conf" -v
  done
  tls_front "${PORTS[1]}" "${PORTS[0]}"
  ENDPOINT=http://127.0.0.1:${PORTS[0]}
  PROBE=/healthcheck
}

main "$@"

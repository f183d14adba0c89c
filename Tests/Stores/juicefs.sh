#!/bin/bash
# JuiceFS gateway (Apache-2.0): MinIO's S3 front end over JuiceFS, with SQLite for the names and a folder for the data.
# It verifies signatures, x-amz-content-sha256, Content-MD5 and the clock, but ignores checksum headers.
NAME=juicefs
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"
PARTS=(stunnel server)
LAUNCH_PORTS=2

launch() {
  local juicefs=$VENV/bin/juicefs names=sqlite3://data/names.db
  mkdir -p data/blob data/cache
  HOME=. "$juicefs" format --storage file --bucket data/blob/ --trash-days 0 "$names" test >format.log 2>&1 ||
    fail "could not be formatted" "$RUN/format.log"
  background server env HOME=. MINIO_ROOT_USER="$ACCESS_KEY" MINIO_ROOT_PASSWORD="$SECRET_KEY" \
    "$juicefs" gateway --multi-buckets --keep-etag --object-meta --object-tag --no-usage-report --backup-meta 0 \
    --domain "$HOST_SUFFIX" --log gateway.log --cache-dir data/cache --cache-size 256 "$names" "127.0.0.1:${PORTS[0]}"
  tls_front "${PORTS[1]}" "${PORTS[0]}"
  ENDPOINT=http://127.0.0.1:${PORTS[0]}
  PROBE=/
}

main "$@"

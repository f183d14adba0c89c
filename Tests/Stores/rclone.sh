#!/bin/bash
# rclone's server (MIT): a folder served as S3 by `rclone serve s3`. It verifies signatures, reports an ETag of the parts and
# knows no checksums. It is not part of `all`: only the soak brings back what other clients have put there.
NAME=rclone
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"
PARTS=(stunnel server)
LAUNCH_PORTS=2

launch() {
  mkdir -p data/$BUCKET
  # rclone reads the variable as a line of CSV.
  background server env HOME=. RCLONE_AUTH_KEY="\"$ACCESS_KEY,$SECRET_KEY\"" \
    "$VENV/bin/rclone" serve s3 --config "" --addr "127.0.0.1:${PORTS[0]}" --vfs-cache-mode writes --cache-dir cache data
  tls_front "${PORTS[1]}" "${PORTS[0]}"
  ENDPOINT=http://127.0.0.1:${PORTS[0]}
  PROBE=/
}

main "$@"

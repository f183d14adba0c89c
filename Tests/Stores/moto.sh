#!/bin/bash
# moto (Apache-2.0): AWS's STS and IAM, and an S3 that uses them. It verifies signatures, session tokens and policies: its
# user may only assume a role, and the role may do everything in S3.
NAME=moto
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"
PARTS=(stunnel server)
LAUNCH_PORTS=2

launch() {
  ENDPOINT=http://127.0.0.1:${PORTS[0]}
  PROBE=/moto-api/
  background server env INITIAL_NO_AUTH_ACTION_COUNT=1000 "$VENV/bin/moto_server" -H 127.0.0.1 -p "${PORTS[0]}"
  tls_front "${PORTS[1]}" "${PORTS[0]}"
  await "$ENDPOINT$PROBE" || return 0
  "$VENV/bin/python" "$HERE/moto_accounts.py" "$ENDPOINT" "$BUCKET" >accounts 2>accounts.log || give_up "has no accounts"
  read -r ACCESS_KEY SECRET_KEY ROLE <accounts
}

extra_env() { echo "ROLE=$ROLE"; }

main "$@"

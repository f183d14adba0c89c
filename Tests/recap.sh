#!/bin/bash
# recap.sh COMMAND ARG...: runs tests, and if some fail, repeats at the end which ones and why, because their own lines are
# far up among those of a thousand others; also in the file that S3UP_FAILED names, for those who run several commands at
# once. The exit status is the command's.
set -uo pipefail
log=$(mktemp) || exit
trap 'rm -f "$log"' EXIT

recap() {
  echo
  echo "exit status $status of $*; what failed:"
  awk '/ recorded an issue |error: |Fatal error/ { print; told = 1; next } told && /^↳/ { print; next } { told = 0 }' "$log"
  grep -qF ' recorded an issue ' "$log" || tail -n 30 "$log"
  [ "$status" -le 128 ] || echo "a signal has ended them: SIG$(kill -l "$((status - 128))")"
}

"$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
[ "$status" -eq 0 ] || recap "$@" | tee -a "${S3UP_FAILED:-/dev/null}"
exit "$status"

#!/bin/bash
# recap.sh COMMAND ARG...: runs the tests, and if some fail, repeats at the end which ones and why, because their own
# lines are far up among those of a thousand others. The exit status is the command's.
set -uo pipefail
log=$(mktemp) || exit
trap 'rm -f "$log"' EXIT
"$@" 2>&1 | tee "$log"
status=${PIPESTATUS[0]}
if [ "$status" -ne 0 ]; then
  echo
  echo "exit status $status; what failed:"
  awk '/ recorded an issue |error: |Fatal error/ { print; told = 1; next } told && /^↳/ { print; next } { told = 0 }' "$log"
  [ "$status" -le 128 ] || echo "a signal has ended them: SIG$(kill -l "$((status - 128))")"
fi
exit "$status"

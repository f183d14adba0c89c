# shellcheck shell=bash
# Background processes, ended only by whoever started them; sourced by common.sh.
# A pid file contains the pid and its start time, so that a reused pid is never signalled.

start_time() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

alive() { # alive PART
  local pid began
  [ -s "$RUN/$1.pid" ] && read -r pid began <"$RUN/$1.pid" && [ -n "$began" ] &&
    [ "$(start_time "$pid")" = "$began" ]
}

all_alive() {
  local part
  for part in "${PARTS[@]}"; do alive "$part" || return 1; done
}

any_alive() {
  local part
  for part in "${PARTS[@]}"; do if alive "$part"; then return 0; fi; done
  return 1
}

# background PART COMMAND ARG...: in its own session, for a limited time, without the caller's locks
background() {
  local part=$1
  shift
  setsid timeout --kill-after=10 "$LIFETIME" "$@" >>"$RUN/$part.log" 2>&1 </dev/null 8>&- 9>&- &
  echo "$! $(start_time $!)" >"$RUN/$part.pid"
}

signal_parts() { # signal_parts SIGNAL: to each running part and its process group
  local part pid began
  for part in "${PARTS[@]}"; do
    if alive "$part"; then
      read -r pid began <"$RUN/$part.pid"
      kill "-$1" -- "-$pid" 2>/dev/null || kill "-$1" "$pid" 2>/dev/null || true
    fi
  done
}

# The data is deleted anyway, so a server gets little time to shut down.
end_parts() {
  local end=$((SECONDS + 2)) part
  signal_parts TERM
  while any_alive && [ "$SECONDS" -lt "$end" ]; do sleep 0.05; done
  signal_parts KILL
  for part in "${PARTS[@]}"; do rm -f "$RUN/$part.pid"; done
}

# shellcheck shell=bash
# What the servers' scripts share; sourced by seaweedfs.sh, swift.sh, juicefs.sh, moto.sh and
# rclone.sh, which set NAME and define
#   PARTS          the names of their processes, in the order of stopping
#   LAUNCH_PORTS   how many ports launch needs
#   tidy           (optional) removes what the server leaves outside of its folder
#   extra_env      (optional) prints more lines for its env
#   launch         starts the parts on PORTS, sets ENDPOINT, TLS_ENDPOINT and PROBE (a path that a ready server answers)
#
#   S3UP_STORES_DIR       where everything goes      (default: .build/stores of this checkout)
#   S3UP_STORES_LIFETIME  a server ends by itself after so many seconds (default 3600)
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ROOT=${S3UP_STORES_DIR:-$(cd "$HERE/../.." && pwd)/.build/stores}
LIFETIME=${S3UP_STORES_LIFETIME:-3600}
VENV=$ROOT/$NAME
RUN=$ROOT/run/$NAME
ACCESS_KEY=${ACCESS_KEY:-S3UPTESTACCESSKEY01}
SECRET_KEY='test/secret+KEY0123456789abcdefghijklmnop'
BUCKET=s3up-test
# libcurl resolves every name below this suffix to this machine, so buckets can be part of the host name
HOST_SUFFIX=s3.localhost

# shellcheck source=processes.sh
. "$HERE/processes.sh"

# fail REASON [LOG...]: the reason, then the last lines of the logs
fail() {
  echo "$NAME: $1" >&2
  shift
  local log
  for log in "$@"; do
    [ -s "$log" ] || continue
    echo "--- the end of $log" >&2
    tail -n 25 "$log" >&2
  done
  exit 1
}

# The server's wheels, as pinned in requirements/NAME.txt. A venv contains its own path, so a moved checkout gets a new one.
install() {
  local pins=$HERE/requirements/$NAME.txt mark=$VENV/.installed log=$ROOT/$NAME-install.log want try
  want="$VENV $(cksum <"$pins")"
  if [ -e "$mark" ] && [ "$(cat "$mark")" = "$want" ]; then return 0; fi
  echo "$NAME: installing $(grep -v '^#' "$pins" | head -n 1)" >&2
  mkdir -p "$ROOT"
  python3 -m venv --clear "$VENV" >"$log" 2>&1 || fail "no virtual environment" "$log"
  for try in 1 2 3; do
    if PIP_DEFAULT_TIMEOUT=${PIP_DEFAULT_TIMEOUT:-120} "$VENV/bin/python" -m pip install --quiet --retries 5 \
      --disable-pip-version-check --only-binary :all: -r "$pins" >>"$log" 2>&1; then
      echo "$want" >"$mark"
      return 0
    fi
    echo "$NAME: pip failed (try $try of 3)" >&2
  done
  fail "not installed" "$log"
}

# A certificate authority and a server certificate that it signed: ca.pem, tls.pem, tls.key.
certificate() {
  local names="subjectAltName=DNS:$HOST_SUFFIX,DNS:*.$HOST_SUFFIX,DNS:localhost,IP:127.0.0.1"
  local key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30)
  {
    openssl req -x509 "${key[@]}" -keyout ca.key -out ca.pem -subj "/CN=s3up test authority" \
      -addext keyUsage=critical,keyCertSign &&
      openssl req -x509 "${key[@]}" -keyout tls.key -out tls.pem -subj "/CN=$HOST_SUFFIX" -CA ca.pem -CAkey ca.key \
        -addext "$names" -addext basicConstraints=critical,CA:FALSE -addext extendedKeyUsage=serverAuth
  } >certificate.log 2>&1 || fail "no certificate" "$RUN/certificate.log"
}

# tls_front PORT HTTP_PORT: stunnel in front of a server without TLS
tls_front() {
  cat >stunnel.conf <<EOF
foreground = yes
pid =
syslog = no
debug = warning
[s3]
accept = 127.0.0.1:$1
connect = 127.0.0.1:$2
cert = tls.pem
key = tls.key
sslVersionMin = TLSv1.2
EOF
  background stunnel stunnel stunnel.conf
  TLS_ENDPOINT=https://127.0.0.1:$1
}

answers() { [ "$(curl --noproxy '*' -ks -o /dev/null -m 5 -w '%{http_code}' "$1")" != 000 ]; }

# await URL: 0 when the URL is answered; 1 if a process has died or a minute has passed
await() {
  local end=$((SECONDS + 60))
  until answers "$1"; do
    if ! all_alive || [ "$SECONDS" -ge "$end" ]; then return 1; fi
    sleep 0.1
  done
  all_alive
}

# young: a server in the second half of its lifetime is not reused.
young() { [ $(($(date +%s) - $(stat -c %Y "$RUN/env"))) -lt $((LIFETIME / 2)) ]; }

start() {
  install
  if [ -e "$RUN/env" ] && all_alive && young; then return 0; fi
  local try
  # if another process has taken a port in between, the server dies: the next try uses other ports
  for try in 1 2 3; do
    stop
    rm -rf "$RUN"
    mkdir -p "$RUN"
    cd "$RUN"
    certificate
    python3 "$HERE/free_ports.py" "$LAUNCH_PORTS" >ports
    # shellcheck disable=SC2034 # launch uses them
    read -r -a PORTS <ports
    launch
    if await "$ENDPOINT$PROBE" && await "$TLS_ENDPOINT$PROBE"; then
      python3 "$HERE/make_bucket.py" "$ENDPOINT" "$ACCESS_KEY" "$SECRET_KEY" "$BUCKET" 2>bucket.log || give_up "has no bucket"
      write_env
      echo "$NAME: $ENDPOINT $TLS_ENDPOINT" >&2
      return 0
    fi
    echo "$NAME: not up (try $try of 3)" >&2
  done
  give_up "does not start"
}

give_up() {
  end_parts
  tidy
  fail "$1" "$RUN"/*.log
}

write_env() {
  cat >env.new <<EOF
NAME=$NAME
ENDPOINT=$ENDPOINT
TLS_ENDPOINT=$TLS_ENDPOINT
CA_FILE=$RUN/ca.pem
REGION=us-east-1
ACCESS_KEY=$ACCESS_KEY
SECRET_KEY=$SECRET_KEY
BUCKET=$BUCKET
HOST_SUFFIX=$HOST_SUFFIX
EOF
  extra_env >>env.new
  mv env.new env
}

tidy() { :; }

extra_env() { :; }

# The data is deleted with the server; its logs are kept.
stop() {
  if [ ! -d "$RUN" ]; then return 0; fi
  rm -f "$RUN/env"
  end_parts
  tidy
  rm -rf "$RUN/data"
}

main() {
  case "${1:-}" in
    install) install ;;
    start) start ;;
    stop) stop ;;
    clean)
      stop
      rm -rf "$RUN" "$VENV" "$ROOT/$NAME-install.log"
      ;;
    status)
      if [ -e "$RUN/env" ] && all_alive; then
        echo "$NAME: running"
      else
        echo "$NAME: stopped"
        return 1
      fi
      ;;
    *)
      echo "usage: $0 install|start|stop|clean|status" >&2
      exit 64
      ;;
  esac
}

#!/bin/bash
# scripts.sh BINARY: tests tickets as scripts, in dash, busybox and bash, against a real store: Tests/Stores/stores.sh
# run seaweedfs -- Tests/Acceptance/Tickets/scripts.sh BINARY
set -euo pipefail
binary=$(realpath "${1:?name the s3up to test}")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
store=${S3UP_TEST_STORES:?names no store: run it by stores.sh run}/seaweedfs
"$here/../../Stores/deps.sh" dash busybox procps shellcheck
shellcheck -s sh "$here/../../../Sources/s3up/Ticket/upload.sh"
value() { sed -n "s/^$1=//p" "$store/env"; }

room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"
mkdir home bin bare
base=scripts/$(date +%s).$$
endpoint=$(value ENDPOINT) bucket=$(value BUCKET)
SECRETS=("HOME=$room/home" "AWS_ACCESS_KEY_ID=$(value ACCESS_KEY)" "AWS_SECRET_ACCESS_KEY=$(value SECRET_KEY)")
# Changes the curl of a run: CURL_MORE has further options, CURL_POST is the answer to a POST, CURL_GROW is a file that
# grows while the parts are listed, CURL_FIRST is a command that runs before a POST. With NO_SLEEP it does not wait before
# it tries again.
cat >bin/curl <<EOF_CURL
#!/bin/sh
shift
case " \$* " in *' -X '* | *' -I '* | *' --data-binary '*) ;; *) [ -z "\${CURL_GROW-}" ] || printf x >>"\$CURL_GROW" ;; esac
case " \$* " in *' -X PUT '* | *' -I '*) ;; *' --data-binary '*)
  if [ -n "\${CURL_POST-}" ]; then cat >/dev/null; printf '%s' "\$CURL_POST"; exit; fi
  [ -z "\${CURL_FIRST-}" ] || CURL_FIRST='' sh -c "\$CURL_FIRST" </dev/null >first 2>&1 ;;
esac
exec $(command -v curl) -q "\$@" \${CURL_MORE-}
EOF_CURL
cat >bin/sleep <<EOF_SLEEP
#!/bin/sh
[ -n "\${NO_SLEEP-}" ] || exec $(command -v sleep) "\$@"
EOF_SLEEP
chmod +x bin/curl bin/sleep
# A machine without a program for MD5s.
for name in sh dash bash busybox dd tr cat stat mkdir sleep curl env; do ln -s "$(command -v $name)" bare; done
ln -sf "$room/bin/curl" bare

s3up() { env -i "PATH=$PATH" "${SECRETS[@]}" "$binary" "$@" --quiet; }
# issue FORM OUT FILE KEY OPTION...
issue() {
  local form=$1 out=$2 file=$3 key=$4
  shift 4
  s3up ticket issue ${file:+"$file"} "s3://$bucket/$key" --endpoint-url "$endpoint" --addressing path \
    --region "$(value REGION)" --format "$form" -o "$out" "$@"
}
# upload SCRIPT FILE: runs it in a shell without credentials; its output is in the files `out` and `errors`.
upload() {
  env -i "PATH=${UPLOAD_PATH:-$room/bin:$PATH}" "HOME=$room/home" "CURL_MORE=${CURL_MORE-}" "CURL_POST=${CURL_POST-}" \
    "CURL_GROW=${CURL_GROW-}" "CURL_FIRST=${CURL_FIRST-}" "NO_SLEEP=${NO_SLEEP-}" $shell "$@" >out 2>errors
}
fail() {
  echo "scripts.sh: ${shell:-}: $1" >&2
  cat out errors >&2 2>/dev/null || true
  exit 1
}
# expect STATUS SCRIPT FILE
expect() {
  local status=0
  upload "${@:2}" || status=$?
  [ "$status" = "$1" ] || fail "${*:2} ended with $status, not $1"
}
ask() { # KEY: its SHA-256, as another client reads it
  python3 -c 'import json, sys; print(json.dumps({"method": "GET", "key": sys.argv[1]}))' "$1" |
    python3 "$here/../../Stores/other_client.py" "$store" http |
    python3 -c 'import json, sys; a = json.load(sys.stdin); print(a["sha256"] if a["status"] == 200 else a["status"])'
}
identical() { # FILE KEY
  [ "$(ask "$2")" = "$(sha256sum <"$1" | cut -d' ' -f1)" ] || fail "the object $2 is not the file $1"
}
missing() { # TICKET
  env -i "PATH=$PATH" "HOME=$room/home" "$binary" ticket show "$1" --json |
    python3 -c 'import json, sys; print(*json.load(sys.stdin)["missing"])'
}
# Whether the output has nothing that a terminal interprets.
harmless() { [ "$(cat out errors | tr -d '\n\040-\176' | wc -c)" = 0 ] || fail 'it printed what a terminal obeys'; }
sent() { sed -n 's/^part \([0-9]*\) of .*/\1/p' errors; }
# Whether a process of the group shows a signature or the address in its command line or environment.
shows() {
  local pid
  for pid in $(ps -e -o pid=,pgid= | awk -v group="$1" '$2 == group { print $1 }'); do
    if cat "/proc/$pid/cmdline" "/proc/$pid/environ" 2>/dev/null | grep -aqF -e X-Amz-Sig -e "$endpoint/"; then return 0; fi
  done
  return 1
}
runs_curl() { ps -e -o pgid=,comm= | awk -v group="$1" '$1 == group && $2 == "curl" { found = 1 } END { exit !found }'; }

# Kills the script in its fourth part, checking from outside until then, and runs it again.
killed() {
  local group line seen='' first rest part status=0
  mkfifo said
  set -m
  env -i "PATH=$room/bin:$PATH" CURL_MORE='--limit-rate 3M' $shell killed.sh file >out 2>said &
  group=$!
  set +m
  while read -r line; do
    for _ in 1 2 3; do
      if shows "$group"; then fail 'everybody can read a URL'; fi
      if runs_curl "$group"; then
        seen=yes
        break
      fi
    done
    if [ "${line#part 4 }" != "$line" ]; then
      kill -KILL -- "-$group"
      break
    fi
  done <said
  wait "$group" 2>/dev/null || status=$?
  rm said
  [ "$status" = 137 ] || fail "it was not killed but ended with $status"
  [ -n "$seen" ] || fail 'no curl was seen'
  first=$(missing killed.json)
  [ "$(wc -w <<<"$first")" -ge 6 ] && [ "$(wc -w <<<"$first")" -lt 12 ] || fail "missing after the kill: $first"
  expect 0 killed.sh file
  rest=$(sent)
  [ -n "$rest" ] || fail 'the second run sent nothing'
  for part in $rest; do
    case " $first " in *" $part "*) ;; *) fail "part $part was there, and was sent again" ;; esac
  done
  grep -q 'proven by its ETag' out || fail 'it does not say what proves it'
  identical file "$key"
  # Another run may have completed it in between.
  expect 0 killed.sh file
  grep -q 'already complete' out || fail 'it does not see that the object is complete'
  [ -z "$(sent)" ] || fail 'it sent parts of a complete object'
  expect 69 killed.sh other
}

# If no program can compare, a part counts only if this script has sent it from this very file.
bare() {
  local UPLOAD_PATH=$room/bare post=$'<Error><Code>InternalError</Code></Error>\n200'
  issue sh bare.sh '' "$place/bare" --size 6291456 --part-size 5M
  CURL_POST=$post expect 75 bare.sh small
  CURL_POST=$post expect 75 bare.sh small
  [ -z "$(sent)" ] || fail 'parts that it had noted were sent again'
  CURL_POST=$post expect 75 bare.sh small2
  [ "$(sent | wc -l)" = 2 ] || fail 'parts of another file were taken for those of this one'
  # The first file's notes are about parts that no longer exist.
  expect 0 bare.sh small
  identical small "$place/bare"
  grep -q 'has this size' out || fail 'it says more than was shown'
  expect 0 bare.sh small
  grep -q 'already complete' out || fail 'it does not know what it has completed itself'
  expect 69 bare.sh small2
  [ ! -s out ] || fail 'another file of this size was called complete'
  UPLOAD_PATH='' expect 0 bare.sh small
  UPLOAD_PATH='' expect 69 bare.sh small2
  # Its note is about an object that has been replaced since.
  issue sh replaced.sh small2 "$place/bare" --part-size 5M
  UPLOAD_PATH='' expect 0 replaced.sh small2
  expect 69 bare.sh small
  [ ! -s out ] || fail 'an object that replaced the one of this file was called complete'

  # The file was rewritten, with its size and times restored.
  issue sh rewritten.sh '' "$place/rewritten" --max-size 20M --part-size 5M
  cp -p small copy
  CURL_POST=$post expect 75 rewritten.sh copy
  cat small2 >copy
  touch -r small copy
  expect 0 rewritten.sh copy
  identical small2 "$place/rewritten"

  # A run without notes.
  issue sh stateless.sh '' "$place/stateless" --size 6291456 --part-size 5M
  rm -r home/.local
  : >home/.local
  CURL_POST=$post expect 75 stateless.sh small
  expect 0 stateless.sh small2
  identical small2 "$place/stateless"
  expect 69 stateless.sh small2
  rm home/.local

  # The file grew after it was measured: neither more than allowed is sent, nor half a file.
  issue sh grown.sh '' "$place/grown" --max-size 6M --part-size 5M
  cp small copy
  CURL_GROW=$room/copy expect 65 grown.sh copy
  [ "$(ask "$place/grown")" = 404 ] || fail 'a file that was growing was published'
}

# Names and answers with characters that a terminal interprets, as bytes and as the escapes that some shells' echo
# expands.
hostile() {
  local file=$'a\033]0;x\a \302\233 \377 \\033[2J'
  cp small "$file"
  issue sh hostile.sh '' "$place/hostile" --size 6291456 --part-size 5M
  CURL_POST=$'<Error><Code>\033[2J\\033[2J</Code></Error>\n200' expect 75 hostile.sh "$file"
  harmless
  grep -qF '?[2J\033[2J' errors || fail 'it does not say what the store has answered'
  expect 0 hostile.sh "$file"
  harmless
  expect 66 hostile.sh "$file$file"
  harmless
  rm "$file"
}

all() {
  local place=$base/${shell%% *} name
  local key="$place/it's a \"key\" \$HOME 100% ö"
  issue json killed.json file "$key" --part-size 5M
  s3up ticket renew killed.json --endpoint-url "$endpoint" --addressing path --region "$(value REGION)" --all \
    --format sh -o killed.sh
  [ "$(stat -c %a killed.sh)" = 700 ] || fail 'the script is not a program for its owner alone'
  expect 64 killed.sh
  expect 66 killed.sh nothing
  expect 65 killed.sh shorter
  expect 65 killed.sh longer
  [ "$(missing killed.json | wc -w)" = 12 ] || fail 'a file of another length was sent'
  expect 65 killed.sh other
  [ "$(missing killed.json | wc -w)" = 12 ] || fail 'the store took bytes of another file'
  killed

  for name in empty one; do
    issue sh "$name.sh" "$name" "$place/$name"
    expect 0 "$name.sh" "$name"
    identical "$name" "$place/$name"
  done

  # Compared by: the checksum of AWS; only a length; only a maximum; only MD5s of this machine.
  issue sh sha256.sh small "$place/sha256" --checksum sha256 --part-size 5M
  expect 65 sha256.sh small2
  expect 0 sha256.sh small
  identical small "$place/sha256"
  issue sh size.sh '' "$place/size" --size 6291456 --part-size 5M
  CURL_POST=$'<Error><Code>InternalError</Code></Error>\n200' expect 75 size.sh small
  expect 0 size.sh small2
  [ "$(sent | wc -l)" = 2 ] || fail 'parts of another file were taken for those of this one'
  grep -q 'proven by its ETag' out || fail 'the MD5s of this machine prove nothing'
  identical small2 "$place/size"
  expect 69 size.sh small
  # The store answers a second completion with the result of the first.
  issue sh twice.sh '' "$place/twice" --size 6291456 --part-size 5M
  CURL_FIRST="sh twice.sh small2" expect 75 twice.sh small
  grep -q 'is not this file' errors || fail 'it does not say that the object is not this file'
  identical small2 "$place/twice"
  expect 69 twice.sh small
  issue sh most.sh '' "$place/most" --max-size 20M --part-size 5M
  expect 65 most.sh file
  issue sh less.sh '' "$place/less" --max-size 6291455 --part-size 5M
  expect 65 less.sh small
  [ -z "$(sent)" ] || fail 'a file that is one byte too long was sent'
  # While there is no object yet: the condition is checked when a ticket is issued.
  issue sh exists.sh small "$place/most" --if-none-match
  expect 0 most.sh small
  identical small "$place/most"

  # A condition, an answer of 200 that means an error, and a store that cannot be reached.
  expect 73 exists.sh small
  issue sh error.sh small "$place/error" --part-size 5M
  CURL_POST=$'<Error><Code>InternalError</Code></Error>\n200' expect 75 error.sh small
  grep -q InternalError errors || fail 'it does not say what the store has answered'
  [ "$(ask "$place/error")" = 404 ] || fail 'there is an object that was not completed'
  expect 0 error.sh small
  [ -z "$(sent)" ] || fail 'parts were sent again because completing failed'
  sed "s|$endpoint/|http://127.0.0.1:1/|" error.sh >away.sh
  NO_SLEEP=yes expect 75 away.sh small
  [ "$(grep -c 'trying again in' errors)" = 8 ] || fail 'it did not try again eight times'
  expect 77 expired.sh small
  grep -q 'ask for a new one' errors || fail 'it does not say what to do'
  bare
  hostile
  rm -f -- *.sh killed.json
}

head -c 62914560 /dev/urandom >file
head -c 62914560 /dev/urandom >other
head -c 62914559 file >shorter
{ cat file; printf x; } >longer
head -c 6291456 file >small
head -c 6291456 other >small2
: >empty
printf x >one

for shell in dash 'busybox sh' 'bash --posix'; do
  issue sh expired.sh small "$base/${shell%% *}/expired" --expires 1s
  all
done

echo 'scripts of tickets: every promise held'

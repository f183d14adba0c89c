#!/bin/bash
# demo.sh S3UP: uploads random bytes with the given binary to a real S3 server on loopback, reads the object back with
# curl and compares the SHA-256 of both, then downloads it with the given binary and compares that too. Server and files
# are removed at the end, also after Ctrl-C. S3UP_DEMO_MIB the size of the file (default 256)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd "$here/../../.." && pwd)
binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
size=${S3UP_DEMO_MIB:-256}

if [ "${2:-}" != with-server ]; then
  echo "Starting SeaweedFS, a real S3 server, on loopback; the first time it is installed into .build/stores."
  exec "$repository/Tests/Stores/stores.sh" run seaweedfs -- "$here/demo.sh" "$binary" with-server
fi

work=$(mktemp -d "$repository/.build/demo.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

value() { sed -n "s/^$1=//p" "$S3UP_TEST_STORES/seaweedfs/env"; }
endpoint=$(value ENDPOINT)
bucket=$(value BUCKET)
key=demo/random.bin

# The demo has its own credentials and state, and uses nothing of the user's.
s3up() {
  env -i PATH="$PATH" HOME="$work" TERM="${TERM:-dumb}" LANG="${LANG:-C.UTF-8}" COLUMNS="${COLUMNS:-}" \
    AWS_ACCESS_KEY_ID="$(value ACCESS_KEY)" AWS_SECRET_ACCESS_KEY="$(value SECRET_KEY)" "$binary" "$@"
}

# An independent client. It gets the key on standard input, because all users can read a command line.
read_back() {
  printf 'user = "%s:%s"\n' "$(value ACCESS_KEY)" "$(value SECRET_KEY)" |
    curl --disable --noproxy '*' --fail --silent --show-error --config - \
      --aws-sigv4 "aws:amz:$(value REGION):s3" -H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' "$endpoint/$bucket/$key"
}

show() { printf '\n$ %s\n' "$*"; }
sha256() { sha256sum | cut -d ' ' -f 1; }

head -c "${size}M" /dev/urandom >"$work/random.bin"
sent=$(sha256 <"$work/random.bin")
echo "Made a file of $size MiB of random bytes, SHA-256 $sent"

put=(put "$work/random.bin" "s3://$bucket/$key" --endpoint-url "$endpoint" --region "$(value REGION)" --addressing path)
[ -t 2 ] || put+=(--progress plain)
show "s3up put random.bin ${put[*]:2}"
began=${EPOCHREALTIME/[.,]/}
s3up "${put[@]}"
took=$(((${EPOCHREALTIME/[.,]/} - began) / 1000 + 1))

show "curl --aws-sigv4 aws:amz:$(value REGION):s3 ... $endpoint/$bucket/$key | sha256sum"
got=$(read_back | sha256) || {
  echo "demo: the object could not be read back" >&2
  exit 1
}
echo "$got"
if [ "$got" != "$sent" ]; then
  echo "demo: the object is NOT the file: $sent went in, $got came back" >&2
  exit 1
fi

get=(get "s3://$bucket/$key" "$work/back.bin" "${put[@]:3}")
show "s3up get s3://$bucket/$key back.bin ${get[*]:3}"
s3up "${get[@]}"
cmp "$work/random.bin" "$work/back.bin" || {
  echo "demo: what came back is NOT the file" >&2
  exit 1
}

s3up="${binary#"$repository/"}"
cat <<EOF

The object is the file, byte for byte, and so is what came back. s3up sent $size MiB in $((took / 1000)).$(printf %03d $((took % 1000))) s, $((size * 1000 / took)) MiB/s.

Now with a bucket of your own:
  export AWS_ACCESS_KEY_ID=... AWS_SECRET_ACCESS_KEY=... AWS_REGION=...
  $s3up put FILE s3://BUCKET/KEY
  $s3up get s3://BUCKET/KEY FILE
  $s3up put FILE s3://BUCKET/KEY --endpoint-url https://HOST   (a store that is not AWS)
and:
  $s3up help           every command and option
  make test                        all tests, also against three real S3 servers
  sudo make install                into /usr/local
EOF

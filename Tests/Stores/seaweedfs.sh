#!/bin/bash
# SeaweedFS (Apache-2.0): master, volume server, filer and S3 gateway in one process, with its own TLS.
# It verifies signatures in headers and URLs, Content-MD5 and all five checksums, also for complete.
# It ignores x-amz-content-sha256, and lists all parts on one page.
NAME=seaweedfs
# shellcheck source=common.sh
. "$(dirname "$0")/common.sh"
PARTS=(server)
LAUNCH_PORTS=9

launch() {
  mkdir -p data tmp
  cat >identities.json <<EOF
{"identities": [{"name": "test", "credentials": [{"accessKey": "$ACCESS_KEY", "secretKey": "$SECRET_KEY"}],
  "actions": ["Admin", "Read", "List", "Tagging", "Write"]}]}
EOF
  # Paths are relative to the run folder, because a socket's path must be short. The key for SSE is any 32 bytes.
  background server env HOME=. TMPDIR=tmp WEED_S3_SSE_KEK="$(printf '%064d' 1)" "$VENV/bin/weed" -logtostderr=true server \
    -ip=127.0.0.1 -ip.bind=127.0.0.1 -dir=data \
    -master.telemetry=false -master.resumeState=false -master.volumeSizeLimitMB=256 \
    -master.port="${PORTS[2]}" -master.port.grpc="${PORTS[3]}" \
    -volume.max=100 -volume.preStopSeconds=0 -volume.port="${PORTS[4]}" -volume.port.grpc="${PORTS[5]}" \
    -filer -filer.port="${PORTS[6]}" -filer.port.grpc="${PORTS[7]}" -filer.localSocket=tmp/filer.sock \
    -s3 -s3.port="${PORTS[0]}" -s3.port.https="${PORTS[1]}" -s3.port.grpc="${PORTS[8]}" -s3.localSocket=tmp/s3.sock \
    -s3.port.iceberg=0 -s3.port.lance=0 -s3.config=identities.json -s3.autoCreateBucket=false \
    -s3.domainName="$HOST_SUFFIX" -s3.cert.file=tls.pem -s3.key.file=tls.key
  ENDPOINT=http://127.0.0.1:${PORTS[0]}
  TLS_ENDPOINT=https://127.0.0.1:${PORTS[1]}
  PROBE=/
}

# Its gRPC sockets are always in /tmp.
tidy() {
  local port
  [ -s "$RUN/ports" ] || return 0
  for port in $(<"$RUN/ports"); do rm -f /tmp/seaweedfs-*-grpc-"$port".sock; done
}

main "$@"

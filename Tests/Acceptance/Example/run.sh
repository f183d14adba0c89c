#!/bin/bash
# Builds the example as a package of its own and runs it against a real store: Tests/Stores/stores.sh run seaweedfs --
# Tests/Acceptance/Example/run.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
build=../../../.build/example
value() { sed -n "s/^$1=//p" "${S3UP_TEST_STORES:?names no store: run it by stores.sh run}/seaweedfs/env"; }

"${SWIFT:-swift}" build -debug-info-format none --quiet --scratch-path "$build"
AWS_ACCESS_KEY_ID=$(value ACCESS_KEY) AWS_SECRET_ACCESS_KEY=$(value SECRET_KEY)
export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
export XDG_STATE_HOME=$state
cp Package.swift "$state/file"
"$build/debug/Tutorial" "$(value ENDPOINT)" "$(value BUCKET)" "$state/file"
cmp "$state/file" "$state/file.back"
"$build/debug/Example" "$(value ENDPOINT)" "$(value BUCKET)"

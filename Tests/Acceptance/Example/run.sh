#!/bin/bash
# Compiles the example against the library of the debug build, as another package would see it, and runs it against a
# real store: Tests/Stores/stores.sh run seaweedfs -- Tests/Acceptance/Example/run.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
build=.build/debug example=Tests/Acceptance/Example work=.build/example
value() { sed -n "s/^$1=//p" "${S3UP_TEST_STORES:?names no store: run it by stores.sh run}/seaweedfs/env"; }

# The package must find the library by its name. Building the package would compile the whole library a second time.
"${SWIFT:-swift}" package --package-path "$example" --scratch-path "$work" show-dependencies >/dev/null
mkdir -p "$work"
modules=(-I "$build/Modules" -I Sources/CCurl -I Sources/COpenSSL -I Sources/CExpat)
for module in CKernels CTLS; do
  modules+=(-Xcc "-fmodule-map-file=$build/$module.build/module.modulemap")
done
# What the command is linked from, without its own part.
mapfile -t library < <(grep -v '/s3up\.build/' "$build/s3up.product/Objects.LinkFileList" | tr -d "'")
for program in "$example"/Sources/*; do
  "${SWIFT:-swift}c" -swift-version 6 "${modules[@]}" "$program"/*.swift "${library[@]}" \
    -lcurl -lssl -lcrypto -lexpat -o "$work/${program##*/}"
done

AWS_ACCESS_KEY_ID=$(value ACCESS_KEY) AWS_SECRET_ACCESS_KEY=$(value SECRET_KEY)
export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
export XDG_STATE_HOME=$state
cp Makefile "$state/file"
"$work/Tutorial" "$(value ENDPOINT)" "$(value BUCKET)" "$state/file"
cmp "$state/file" "$state/file.back"
"$work/Example" "$(value ENDPOINT)" "$(value BUCKET)"

#!/bin/bash
# portable.sh FOLDER [SWIFT]: makes FOLDER/s3up, one file that needs nothing but the C library of an x86-64 Linux, its
# SHA-256 in FOLDER/s3up.sha256, and what is in it in FOLDER/s3up.spdx.json. They are reproducible byte for byte, in any
# folder, with the same toolchain and the same packages of Debian.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
swift=${2:-swift}

libraries=$("$here/libraries.sh" "$1")
folder=$(cd "$1" && pwd)
# A folder that the linker searches first.
ln -sf "$(cc -print-file-name=libstdc++.a)" "$libraries/lib"
# lld leaves out what only dropped sections call; in libstdc++.a that is arc4random, for which glibc would have to be 2.36.
# The linker leaves out the debugging information, which has the names of folders in it, before it hashes the program for its
# build ID. The compiler's incremental mode, which is off here, puts a hash of the object's path too into each object.
flags=(-c release --static-swift-stdlib --disable-local-rpath --scratch-path "$folder/swift" --product s3up
  -Xcc -I"$libraries/include" -Xswiftc -L"$libraries/lib" -Xswiftc -use-ld=lld
  -Xswiftc -Xfrontend -Xswiftc -disable-incremental-llvm-codegen
  -Xswiftc -Xclang-linker -Xswiftc -static-libgcc -Xlinker --strip-all -Xlinker -Map="$folder/s3up.map")
PKG_CONFIG_PATH=$libraries/pkgconfig "$swift" build "${flags[@]}"
build=$(realpath "$folder/swift/release")
new=$(mktemp -d "$folder/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
cp "$build/s3up" "$new"

needed=$(objdump -p "$new/s3up" | awk '/NEEDED/ && $2 !~ /^(libc|libm|ld-linux-x86-64)\.so/ { print $2 }')
[ -z "$needed" ] || {
  echo "portable: the program needs more than the C library: $needed" >&2
  exit 1
}
. "$here/epoch.sh" "$build/s3up"
(cd "$new" && sha256sum s3up >s3up.sha256)
python3 "$here/sbom.py" "$new/s3up" "$build" "$folder/s3up.map" "$libraries" >"$new/s3up.spdx.json"
mv "$new"/* "$folder"
oldest=$(objdump -T "$folder/s3up" | grep -o 'GLIBC_2[.0-9]*' | sort -uV | tail -n 1)
echo "$folder/s3up: $(($(stat -c %s "$folder/s3up") >> 20)) MiB, for ${oldest/_/ } and newer"

#!/bin/bash
# portable.sh FOLDER [SWIFT]: makes FOLDER/s3up, one file that needs nothing but the C library of an x86-64 Linux.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
swift=${2:-swift}

libraries=$("$here/libraries.sh" "$1")
# A folder that the linker searches first.
ln -sf "$(cc -print-file-name=libstdc++.a)" "$libraries/lib"
# lld leaves out what only dropped sections call; in libstdc++.a that is arc4random, for which glibc would have to be 2.36.
flags=(-c release --static-swift-stdlib --disable-local-rpath --scratch-path "$1/swift" --product s3up
  -Xcc -I"$libraries/include" -Xswiftc -L"$libraries/lib" -Xswiftc -use-ld=lld
  -Xswiftc -Xclang-linker -Xswiftc -static-libgcc)
PKG_CONFIG_PATH=$libraries/pkgconfig "$swift" build "${flags[@]}"
strip -o "$1/s3up.new" "$1/swift/release/s3up"

needed=$(objdump -p "$1/s3up.new" | awk '/NEEDED/ && $2 !~ /^(libc|libm|ld-linux-x86-64)\.so/ { print $2 }')
[ -z "$needed" ] || {
  echo "portable: the program needs more than the C library: $needed" >&2
  exit 1
}
mv "$1/s3up.new" "$1/s3up"
oldest=$(objdump -T "$1/s3up" | grep -o 'GLIBC_2[.0-9]*' | sort -uV | tail -n 1)
echo "$1/s3up: $(($(stat -c %s "$1/s3up") >> 20)) MiB, for ${oldest/_/ } and newer"

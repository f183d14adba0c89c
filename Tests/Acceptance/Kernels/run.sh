#!/bin/bash
# run.sh: checks the kernels written in C on this machine, and on x86-64 also those for aarch64, under QEMU: as the
# toolchain's clang and as GCC compile them, with the instructions that each needs and without.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
sources=../../../Sources/CKernels
machine=$(uname -m)
[ "$machine" != x86_64 ] || ../../Stores/deps.sh gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The same bytes each time, so that what fails fails again.
/usr/bin/python3 -c 'import random, sys; sys.stdout.buffer.write(random.Random(1).randbytes(1 << 16))' >"$work/data"

compile() { # compile PROGRAM COMPILER ARG...: Package.swift has the same warnings
  "${@:2}" -Wall -Wextra -Werror -pthread -I"$sources/include" -o "$work/$1" kernels.c "$sources"/*.c
}

runs=0
check() { # check NAMES COMMAND...: the program has to find these kernels
  # shellcheck disable=SC2086 # the names are words
  "${@:2}" "$work/data" $1 >"$work/digests" || {
    echo "kernels: wrong: ${*:2}: $1" >&2
    exit 1
  }
  /usr/bin/python3 digests.py "$work/data" <"$work/digests"
  runs=$((runs + 1))
}

flag() { grep -qE "^(flags|Features).*[[:space:]]$1( |\$)" /proc/cpuinfo; }

native=
case $machine in
  x86_64)
    ! { flag pclmulqdq && flag sse4_1; } || native=pclmulqdq
    ! { [ "$native" ] && flag avx512f && flag vpclmulqdq; } || native="vpclmulqdq $native"
    native="$native portable"
    ! { flag sha_ni && flag ssse3 && flag sse4_1; } || native="$native pairs"
    ;;
  aarch64)
    ! flag pmull || native=pmull
    ! flag crc32 || native="$native armcrc"
    native="$native portable"
    ;;
  *) native=portable ;;
esac

on_aarch64() { # on_aarch64 PROGRAM KERNELS: those that the processor has, and what is left if it lacks instructions
  local emulator=()
  [ "$machine" = aarch64 ] || emulator=(qemu-aarch64 -cpu cortex-a57)
  check "$2" "${emulator[@]}" "$1"
  check "${2/pmull/}" env HIDE=pmull "${emulator[@]}" "$1"
  check "${2/armcrc/}" env HIDE=crc32 "${emulator[@]}" "$1"
  check portable env HIDE=pmull,crc32 "${emulator[@]}" "$1"
}

# The release and the debug build of the package, and the other compiler.
clang=$(dirname "$(readlink -f "$(command -v swift)")")/clang
for compiler in "$clang -O2" "$clang -O0" "gcc -O2"; do
  read -ra command <<<"$compiler"
  case $machine in
    x86_64)
      compile native "${command[@]}"
      check "$native" "$work/native"
      check 'pclmulqdq portable' qemu-x86_64 -cpu Westmere "$work/native"
      check portable qemu-x86_64 -cpu qemu64 "$work/native"
      # Static, because there is no aarch64 system to load libraries from.
      case ${command[0]} in
        gcc) command[0]=aarch64-linux-gnu-gcc ;;
        *) command+=(--target=aarch64-linux-gnu) ;;
      esac
      compile aarch64 "${command[@]}" -static -Wl,--wrap=getauxval
      on_aarch64 "$work/aarch64" 'pmull armcrc portable'
      ;;
    aarch64)
      compile native "${command[@]}" -Wl,--wrap=getauxval
      on_aarch64 "$work/native" "$native"
      ;;
    *)
      compile native "${command[@]}"
      check portable "$work/native"
      ;;
  esac
done
echo "kernels: right in $runs runs; this processor has: $native"

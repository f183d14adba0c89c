#!/bin/bash
# lean.sh FOLDER: makes FOLDER/libcurl-….a: the system's own archive of libcurl, with stand-ins for what no upload calls:
# LDAP, SSH, RTMP, Kerberos, HTTP/2, compression. A program linked with it loads OpenSSL, not the thirty libraries under
# a shared libcurl, which take longer than a small upload. Where the system has no archive, or one that does not work
# with the stand-ins, there is none, and the shared libcurl is linked.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"

without() {
  rm -f libcurl-*.a
  echo "libcurl stays shared: $1" >&2
  exit 0
}

compiler=$(command -v cc || command -v clang || true)
[ -n "$compiler" ] && command -v nm >/dev/null && command -v ar >/dev/null || without 'there is no cc, nm or ar'
archive=$("$compiler" -print-file-name=libcurl.a)
[ -f "$archive" ] || without 'there is no libcurl.a'

# The name tells the contents, so that another one is linked anew. Dates do not: a newer package may hold older ones.
name=curl-$(cat "$archive" "$here"/{lean.sh,absent.c,try.c} | sha256sum | head -c 16)
[ -f "lib$name.a" ] && exit 0

# Beside its place, so that the last step is a rename: half an archive would be taken for a whole one.
work=$(mktemp -d "$PWD/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
flags=(-O2 -fPIC -fvisibility=hidden -Wall -Wextra -Werror)
compile() { "$compiler" "${flags[@]}" -c "$1" -o "$2" || without 'the stand-ins for what is under it do not compile'; }
compile "$here/absent.c" "$work/absent.o"

# What the archive and the stand-ins written by hand need, less what they and the libraries that stay have.
symbols() { awk '{ sub(/@.*/, "", $NF); print $NF }' | LC_ALL=C sort -u; }
{
  nm --defined-only "$archive" "$work/absent.o"
  for library in libssl.so libcrypto.so libc.so.6; do
    nm --dynamic --defined-only "$("$compiler" -print-file-name=$library)" || true # then the trial below fails
  done
} 2>/dev/null | awk 'NF == 3' | symbols >"$work/there"
{ nm --undefined-only "$archive" "$work/absent.o" 2>/dev/null || true; } | awk 'NF == 2 && $2 !~ /^_/' | symbols >"$work/called"
{
  echo 'void absent(const char *name);'
  LC_ALL=C comm -23 "$work/called" "$work/there" |
    awk '{ print "void " $1 "(void);\nvoid " $1 "(void) { absent(\"" $1 "\"); }" }'
} >"$work/rest.c"
compile "$work/rest.c" "$work/rest.o"
cp "$archive" "$work/lib$name.a"
ar r "$work/lib$name.a" "$work/absent.o" "$work/rest.o"

if ! { "$compiler" "${flags[@]}" "$here/try.c" -L"$work" -l"$name" -lssl -lcrypto -o "$work/try" && "$work/try"; } \
  >"$work/said" 2>&1; then
  tail -n 3 "$work/said" >&2
  without 'its archive does not work with stand-ins for what is under it'
fi

rm -f libcurl-*.a
mv "$work/lib$name.a" .

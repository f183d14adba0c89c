#!/bin/bash
# lean.sh FOLDER: creates FOLDER/libcurl-….a: the system's own archive of libcurl, with stand-ins for what uploads never
# call: LDAP, SSH, RTMP, Kerberos, HTTP/2, compression. A program linked with it loads OpenSSL, but not the thirty libraries
# of a shared libcurl, whose loading takes longer than a small upload. In it send is replaced by send.c's, which can send a
# file without copying it first; if that does not work, send stays the system's. If the system has no archive, or one that
# does not work with the stand-ins, nothing is created, and the shared libcurl is linked.
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

# The name depends on the contents, so that changed ones are linked again. Dates would not do: a newer package may contain
# older ones.
contents=$(cat "$archive" "$here"/{lean.sh,absent.c,send.c,offer.h,try.c} | sha256sum | head -c 16)
[ -f "libcurl-$contents.a" ] && exit 0

# In a temporary folder, so that the last step is a rename: an incomplete archive would be used.
work=$(mktemp -d "$PWD/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
flags=(-O2 -fPIC -fvisibility=hidden -Wall -Wextra -Werror)
compile() { "$compiler" "${flags[@]}" -c "$1" -o "$2"; }
symbols() { awk '{ sub(/@.*/, "", $NF); print $NF }' | LC_ALL=C sort -u; }

make_archive() { # make_archive NAME OBJECT...: libNAME.a of curl.a, the objects, and stand-ins for the rest
  local made=lib$1.a
  shift
  # The symbols that it needs, without those that it and the remaining libraries have.
  {
    nm --defined-only curl.a "$@"
    for library in libssl.so libcrypto.so libc.so.6; do
      nm --dynamic --defined-only "$("$compiler" -print-file-name=$library)" || true # then the trial fails
    done
  } 2>/dev/null | awk 'NF == 3' | symbols >there
  { nm --undefined-only curl.a "$@" 2>/dev/null || true; } | awk 'NF == 2 && $2 !~ /^_/' | symbols >called
  {
    echo 'void absent(const char *name);'
    LC_ALL=C comm -23 called there |
      awk '{ print "void " $1 "(void);\nvoid " $1 "(void) { absent(\"" $1 "\"); }" }'
  } >rest.c
  compile rest.c rest.o && cp curl.a "$made" && ar r "$made" "$@" rest.o
}

works() { # works NAME FLAG...: a program linked with it works
  local name=$1
  shift
  "$compiler" "${flags[@]}" "$@" "$here/try.c" -L. -l"$name" -lssl -lcrypto -o try && ./try "$archive"
}

sends_files() {
  compile "$here/absent.c" absent.o && compile "$here/send.c" send.o &&
    objcopy --redefine-sym send=s3up_send --redefine-sym close=s3up_close "$archive" curl.a &&
    make_archive "curl-$contents" absent.o send.o && works "curl-$contents" -DOFFERS
}

copies_files() {
  compile "$here/absent.c" absent.o && cp "$archive" curl.a &&
    make_archive "curl-copying-$contents" absent.o && works "curl-copying-$contents"
}

cd "$work"
if sends_files >said 2>&1; then
  made=libcurl-$contents.a
else
  # It is tried again the next time, because the machine may have been busy or had no loopback for a moment.
  echo "libcurl sends files by copying them: $(tail -n 1 said)" >&2
  made=libcurl-copying-$contents.a
  [ -f "../$made" ] && exit 0
  copies_files >said 2>&1 || { cd .. && without "its archive does not work with stand-ins for what is under it: $(tail -n 1 "$work/said")"; }
fi
cd ..
rm -f libcurl-*.a
mv "$work/$made" .

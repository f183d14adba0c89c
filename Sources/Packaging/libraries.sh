#!/bin/bash
# libraries.sh FOLDER: makes the static libraries of the portable program (OpenSSL 3.5, expat, and a libcurl that has
# HTTP and TLS only and can borrow what it sends), and prints the folder that has them in lib/, their headers in
# include/, where pkg-config finds them in pkgconfig/, and the .dsc of each one's sources in sources/. Its name depends on
# their contents, so that changed libraries are built and linked again. No name of a folder here gets into the libraries.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
folder=$PWD

fail() {
  echo "libraries: $1" >&2
  [ $# -eq 1 ] || tail -n 25 "$2" >&2
  exit 1
}

# Only what a client of TLS 1.2 and 1.3 needs. Its configuration is not the machine's openssl.cnf, which may be for
# another version, but OPENSSL_CONF still names one. The prefix is compiled in, and is where a machine that runs the program
# has system libraries, not where this one builds them.
make_openssl() {
  ./Configure linux-x86_64 --prefix=/usr --libdir=lib/s3up --openssldir=/etc/s3up \
    no-shared no-module no-apps no-tests no-docs no-legacy no-engine no-cmp no-cms no-ct no-dtls no-quic no-srp no-srtp no-ts
  make -j"$(nproc)" build_libs
  make install_dev DESTDIR="$PWD/installed"
  cp -r installed/usr/include "$1"
  # Without its pkgconfig/, which has the prefix.
  install -m 644 -D -t "$1/lib" installed/usr/lib/s3up/*.a
}

make_curl() {
  "$here/lend.sh" .
  ./configure --prefix="$1" --disable-shared --disable-dependency-tracking --with-openssl="$folder/$openssl" \
    --without-{zlib,brotli,zstd,libpsl,libgsasl,librtmp,libidn2,nghttp2,ca-bundle,ca-path,ca-fallback} \
    --disable-{ftp,file,ldap,ldaps,rtsp,dict,telnet,tftp,pop3,imap,smb,smtp,gopher,mqtt,sspi,unix-sockets} \
    --disable-{crypto-auth,ntlm,tls-srp,cookies,doh,mime,dateparse,netrc,alt-svc,hsts,websockets} \
    --disable-{manual,libcurl-option,progress-meter,get-easy-options}
  make -j"$(nproc)" -C lib install
  make -C include install
  cp -r "$folder/$openssl"/{lib,include,sources} "$folder/$expat"/{lib,include,sources} "$1"
  mkdir "$1/pkgconfig"
  local name
  for name in openssl=ssl\ -lcrypto expat=expat libcurl=curl; do
    printf '%s\n' "Name: ${name%%=*}" 'Description: static' 'Version: 1' "Cflags: -I$1/include" "Libs: -L$1/lib -l${name#*=}" \
      >"$1/pkgconfig/${name%%=*}.pc"
  done
}

# Not Debian's archive, which calls arc4random_buf and so needs glibc 2.36.
make_expat() {
  cd expat/lib
  : >expat_config.h
  # Since version 2.8 the random numbers come from a separate file.
  # shellcheck disable=SC2046 # one name or none
  cc -O2 -fPIC -I. -DHAVE_GETRANDOM -DXML_DTD -DXML_NS -DXML_GE=1 -DXML_CONTEXT_BYTES=1024 -DBYTEORDER=1234 \
    -c xmlparse.c xmlrole.c xmltok.c $(compgen -G random_getrandom.c)
  mkdir "$1"/{lib,include}
  ar rcs "$1/lib/libexpat.a" ./*.o
  cp expat.h expat_external.h "$1/include"
}

# once PACKAGE NAME: builds the folder NAME with make_PACKAGE from Debian's sources of it, unless it exists.
once() {
  local log=$folder/$1.log work=$folder/$1.work
  [ -e "$2/made" ] && return
  echo "libraries: building $1, which takes a few minutes at most" >&2
  rm -rf "$1"-* "$work"
  # Not `( … ) || fail`, inside which -e has no effect.
  set +e
  (
    set -e
    # This checks the hashes in the .dsc, and apt has checked the .dsc.
    dpkg-source --no-copy --require-strong-checksums -x "sources/$1/"*.dsc "$work"
    mkdir -p "$folder/$2/sources"
    cp "sources/$1/"*.dsc "$folder/$2/sources/$1.dsc"
    cd "$work"
    # OpenSSL has the time when it was built in it.
    SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -S Timestamp)
    export SOURCE_DATE_EPOCH
    "make_$1" "$folder/$2"
    touch "$folder/$2/made"
  ) >"$log" 2>&1
  local status=$?
  set -e
  [ "$status" -eq 0 ] || fail "$1 was not built" "$log"
  rm -rf "$work"
}

hash() { # hash PACKAGE FILE...: of what goes into it
  { cc --version && declare -f once "make_$1" && cat "sources/$1/"*.dsc "${@:2}"; } | sha256sum | head -c 12
}

"$here/sources.sh" sources openssl trixie
"$here/sources.sh" sources expat trixie bookworm
"$here/sources.sh" sources curl bookworm # 7.88.1, which lend.sh knows
openssl=openssl-$(hash openssl)
expat=expat-$(hash expat)
curl=curl-$(hash curl "$here/lend.sh" "$here/../CCurl/loan.h" <(echo "$openssl $expat"))
once openssl "$openssl"
once expat "$expat"
once curl "$curl"
echo "$folder/$curl"

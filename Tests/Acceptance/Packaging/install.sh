#!/bin/bash
# install.sh PROGRAM: checks that `make install` after `make` compiles nothing and leaves nothing in the source folder, in
# a copy of it that has PROGRAM where the release build would be. Root, whom sudo makes of a user, often has no swift.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
program=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
tree=$work/tree to=$work/to calls=$work/calls

fail() {
  echo "install: $1" >&2
  exit 1
}

mkdir -p "$tree/.build/release" "$tree/Tests/Stores"
cp -r "$here"/{Makefile,Package.swift,Sources} "$tree"
cp "$here"/Tests/Stores/*.sh "$tree/Tests/Stores"
install -m 755 "$program" "$tree/.build/release/s3up"
# A compiler that finds nothing to do, as after a change of the documentation: the program stays older than that.
touch -d yesterday "$tree/.build/release/s3up"
# shellcheck disable=SC2016 # the other shell expands it
printf '#!/bin/sh\necho "$*" >>%s\n' "$calls" >"$work/swift"
chmod 755 "$work/swift"
: >"$calls"
as_user=()
if [ "$(id -u)" -eq 0 ]; then
  chown -R nobody: "$tree" "$calls"
  as_user=(setpriv --reuid nobody --regid 65534 --clear-groups env HOME=/nonexistent)
fi
run() { "$@" >"$work/log" 2>&1 || fail "$(cat "$work/log")"; }
make_it() { run "$@" -C "$tree" SWIFT="$work/swift" DESTDIR="$to" MAKEFLAGS=; }

make_it "${as_user[@]}" make
[ "$(wc -l <"$calls")" -eq 1 ] || fail "make has called the compiler $(wc -l <"$calls") times"

touch "$work/before"
(umask 077 && make_it make install)
[ "$(wc -l <"$calls")" -eq 1 ] || fail "make install has called the compiler: $(tail -n 1 "$calls")"
changed=$(find "$tree" -newer "$work/before"; [ ${#as_user[@]} -eq 0 ] || find "$tree" ! -user nobody)
[ -z "$changed" ] || fail "make install has changed the source folder: $changed"
cmp "$program" "$to/usr/local/bin/s3up"
"$program" help --man | cmp - "$to/usr/local/share/man/man1/s3up.1"
for shell in bash=bash-completion/completions/s3up zsh=zsh/site-functions/_s3up fish=fish/vendor_completions.d/s3up.fish; do
  "$program" completions "${shell%%=*}" | cmp - "$to/usr/local/share/${shell#*=}"
done
left=$(find "$to" -type f -perm -444 | wc -l)
[ "$left" -eq 5 ] || fail "$left files were installed that all may read, not 5"

make_it make uninstall
[ -z "$(find "$to" -type f)" ] || fail "make uninstall has left $(find "$to" -type f)"

# Without a build, or when a source is newer, it does call it.
touch -d tomorrow "$tree/Sources/s3up/main.swift"
make_it make install
[ "$(wc -l <"$calls")" -eq 2 ] || fail "make install took a program that is older than its sources"
echo "install: nothing is compiled after make, and nothing is left by make uninstall"

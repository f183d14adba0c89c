#!/bin/bash
# lending.sh FOLDER: checks that the libcurl that portable.sh made there sends borrowed memory, and that the machine's
# own reports that it cannot.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
libraries=$("$here/../../../Sources/Packaging/libraries.sh" "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compile() { cc -O2 -Wall -Wextra -Werror -I"$here/../../../Sources/CCurl" "$here/lending.c" "$@" -lcurl -lssl -lcrypto; }
compile -o "$work/lent" -I"$libraries/include" -L"$libraries/lib"
compile -o "$work/copied"
"$work/lent" can
"$work/copied" cannot

#!/bin/bash
# sbom.sh BILL PROGRAM [SOURCES]: checks that BILL is a valid bill of materials of PROGRAM, by the validator of the SPDX project, and
# that it says what the program itself shows. SOURCES is the folder of the source packages that went into it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=$(
  cd "$here/../../Stores"
  export NAME=spdx
  # shellcheck disable=SC1091
  . ./common.sh
  install
  echo "$VENV/bin/python"
)
exec "$python" "$here/sbom.py" "$@"

#!/bin/bash
# check.sh LINES: validates the lines that the tests' runs of s3up have printed with --json against the documented
# schema.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
"$here/../../Stores/deps.sh" python3-jsonschema
/usr/bin/python3 "$here/check.py" "$here/../../../Sources/MultipartCore/MultipartCore.docc/Resources/json-output.schema.json" "$1"

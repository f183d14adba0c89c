#!/bin/bash
# check.sh FOLDER [--shots FOLDER]: reads the traces that TraceTests have kept in FOLDER (S3UP_TRACES) with a reader of the
# Trace Event Format from PyPI, compares them with what --json has said, and opens the reports in Chromium.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
"$here/../../Stores/deps.sh" chromium
python=$(
  cd "$here/../../Stores"
  # The reader's own needs include a notebook server; these packages are what reading takes.
  export PIP_NO_DEPS=1 NAME=trace
  # shellcheck disable=SC1091
  . ./common.sh
  install
  echo "$VENV/bin/python"
)
exec "$python" "$here/check.py" "$@"

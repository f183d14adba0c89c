#!/bin/bash
# check.sh: checks that the job files of the articles are valid for their schedulers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
../../Stores/deps.sh dash python3-yaml
/usr/bin/python3 check.py

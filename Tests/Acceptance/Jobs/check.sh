#!/bin/bash
# check.sh: checks that the job files are those of the articles, and are valid for their schedulers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
../../Stores/deps.sh dash python3-yaml
for script in slurm-array.sh parallel.sh; do dash -n "$script"; done
/usr/bin/python3 check.py

#!/bin/bash
# check.sh: the job files are those of the articles, and can be read by what they are for.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
../../Stores/deps.sh dash python3-yaml
for script in slurm-array.sh parallel.sh; do dash -n "$script"; done
/usr/bin/python3 check.py

#!/bin/bash
# run.sh BINARY [OPTION...]: the screens of screens.py, and the completions in three shells, at a store that stores.sh has
# started:
#   Tests/Stores/stores.sh run seaweedfs -- Tests/Acceptance/Screens/run.sh .build/debug/s3up
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
Tests/Stores/deps.sh tmux zsh fish
python3 Tests/Acceptance/Screens/screens.py "$@"
python3 Tests/Acceptance/Screens/shells.py "$1"

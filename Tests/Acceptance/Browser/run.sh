#!/bin/bash
# run.sh BINARY [OPTION...]: uploads with the page of a ticket in a headless browser, to a store that stores.sh has started:
#   Tests/Stores/stores.sh run seaweedfs -- Tests/Acceptance/Browser/run.sh .build/debug/s3up
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
Tests/Stores/deps.sh chromium chromium-driver
exec python3 Tests/Acceptance/Browser/browser.py "$@"

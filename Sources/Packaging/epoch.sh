# shellcheck shell=bash
# Sourced by what makes packages: sets SOURCE_DATE_EPOCH, unless it is set, to the time of the last commit, or of the file
# $1 if there is no repository.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$(dirname "${BASH_SOURCE[0]}")" log -1 --format=%ct 2>/dev/null || stat -c %Y "$1")}
export SOURCE_DATE_EPOCH

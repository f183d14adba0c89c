#!/bin/bash
# sources.sh FOLDER PACKAGE RELEASE...: downloads a source package, the newest that this release of Debian and its
# security updates have, into FOLDER/PACKAGE, unless it exists; that of the next release if the mirror has none. It is
# downloaded from the mirrors that the machine's apt uses, and apt checks it by Debian's signed index. The script uses
# its own package lists: the machine's configuration does not change.
set -euo pipefail
package=$2 releases=("${@:3}")
mkdir -p "$1"
cd "$1"
[ -d "$package" ] && exit 0

keys=/usr/share/keyrings/debian-archive-keyring.gpg
work=$(mktemp -d "$PWD/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,cache/archives/partial,package}

own=$(. /etc/os-release && echo "${VERSION_CODENAME:-unknown}")
# The release, its updates and its security updates are where those of the machine's own release are.
list() { # RELEASE
  # shellcheck disable=SC2016 # apt expands them
  apt-get indextargets --format '$(SITE) $(CODENAME)' 'Created-By: Packages' 'Origin: Debian' 'Component: main' | sort -u |
    while read -r site suite; do
      case $suite in
        "$own" | "$own-updates" | "$own-security") echo "deb-src [signed-by=$keys] $site $1${suite#"$own"} main" ;;
      esac
    done
}

options=(-q -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache" -o "APT::Sandbox::User=$(id -un)" -o Acquire::Retries=3)
cd "$work/package"
for release in "${releases[@]}"; do
  list "$release" >"$work/sources.list"
  [ -s "$work/sources.list" ] || {
    echo "sources: apt has no Debian mirror here; this works only on Debian, after apt-get update" >&2
    exit 1
  }
  apt-get "${options[@]}" update >&2
  # A mirror may list a version before it has its files.
  while read -r version; do
    if apt-get "${options[@]}" source --download-only "$package=$version" >&2; then
      mv "$work/package" "$work/../$package"
      exit 0
    fi
    echo "sources: $package $version cannot be found" >&2
    rm -f ./*
  done < <(apt-cache "${options[@]}" madison "$package" | awk '{ print $3 }' | sort -ruV)
done
exit 1

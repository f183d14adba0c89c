#!/bin/bash
# deps.sh [PACKAGE...]: installs those Debian packages that are missing of the ones that the build, the tests and their
# servers need, and of these; not the Swift toolchain. On other systems it prints what is missing.
set -euo pipefail

packages=(
  libcurl4-openssl-dev libssl-dev libexpat1-dev zlib1g-dev pkg-config # the build
  curl openssl ca-certificates python3 python3-venv stunnel4          # the servers of the tests, and curl as the other client
  git                                                                 # whose ignore patterns the tests compare
  jq                                                                  # examples in the documentation
  rclone                                                              # which must find nothing to do after us
  e2fsprogs fuse2fs                                                   # file systems that the tests mount
  "$@"
)
commands=(cc pkg-config curl git openssl python3 stunnel flock)

installed() { dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null | sed -n 's/^installed //p'; }

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  missing=()
  for name in "${commands[@]}"; do command -v "$name" >/dev/null || missing+=("$name"); done
  for name in libcurl openssl expat; do pkg-config --exists "$name" 2>/dev/null || missing+=("$name (headers)"); done
  [ ${#missing[@]} -eq 0 ] && exit 0
  echo "deps: no apt-get here; please install: ${missing[*]}" >&2
  exit 1
fi

# One at a time, because apt-get waits for no other one that reads the lists of packages.
exec 9<"${BASH_SOURCE[0]}"
flock 9

mapfile -t missing < <(comm -13 <(installed | sort) <(printf '%s\n' "${packages[@]}" | sort))
[ ${#missing[@]} -eq 0 ] && exit 0

# stunnel4 depends on systemd-sysusers; a machine without systemd, such as a container, gets only that
case " ${missing[*]} " in
  *" stunnel4 "*) command -v systemd-sysusers >/dev/null || missing+=(systemd-standalone-sysusers) ;;
esac

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || {
    echo "deps: neither root nor sudo; please install as root: apt-get install ${missing[*]}" >&2
    exit 1
  }
  as_root=(sudo)
fi
echo "deps: installing ${missing[*]}" >&2
options=(-q -y -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
"${as_root[@]}" apt-get "${options[@]}" update >&2 9<&-
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" install --no-install-recommends "${missing[@]}" >&2 9<&-

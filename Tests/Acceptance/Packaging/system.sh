# shellcheck shell=bash
# A Debian that has its base system and nothing else, in a folder. Sourced; needs root and debootstrap, and a store that
# Tests/Stores/stores.sh runs.
. "$S3UP_TEST_STORES/seaweedfs/env"
# shellcheck disable=SC2016 # it is apt's
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Component: main' | head -n 1)

trap 'umount "$bare/proc" 2>/dev/null || true' EXIT

# bare_system RELEASE: makes $folder/bare-RELEASE once, and sets $bare to it.
bare_system() {
  bare=$folder/bare-$1
  if [ ! -e "$bare/made" ]; then
    rm -rf "$bare"
    debootstrap --variant=minbase "$1" "$bare" "$mirror" >"$bare.log" 2>&1 || {
      tail -n 20 "$bare.log" >&2
      exit 1
    }
    touch "$bare/made"
  fi
  mkdir -p "$bare/etc/ssl/certs"
  head -c 50M /dev/urandom >"$bare/srv/file"
}

# in_it COMMAND ARG...: runs it in that system, with the store's credentials and nothing else in the environment.
in_it() {
  mountpoint -q "$bare/proc" || mount -t proc proc "$bare/proc"
  chroot "$bare" env -i HOME=/srv PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin AWS_ACCESS_KEY_ID="$ACCESS_KEY" \
    AWS_SECRET_ACCESS_KEY="$SECRET_KEY" AWS_REGION="$REGION" AWS_ENDPOINT_URL_S3="$TLS_ENDPOINT" "$@"
}

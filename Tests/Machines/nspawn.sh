#!/bin/bash
# A throw-away real systemd (PID 1, journald) in a container: native speed, boots in well under a
# second, but shares the host's kernel and clock: no clock steps, no suspend, no power cut (vm.sh).
#
#   nspawn.sh start [-p DIR] [-u SEC] [-- ARGS...]  boot; ARGS go to systemd-nspawn
#                              -p  copy DIR's content over its root (etc/..., usr/...)
#                              -u  run in a time namespace whose CLOCK_BOOTTIME and CLOCK_MONOTONIC are
#                                  SEC seconds ahead of the host's (or behind: negative): another uptime
#   nspawn.sh run [-t SEC] CMD run a shell command line in it; its output and exit status
#   nspawn.sh reboot [-u SEC]  orderly shutdown, then boot again on the same files
#   nspawn.sh kill             kill all of it at once (SIGKILL), keep the files; boot [-u SEC] starts it again
#   nspawn.sh stop             orderly shutdown, keep the files
#   nspawn.sh destroy          kill it, remove everything
#
# Needs root and systemd-container. VM_NAME chooses the container; settings: lib.sh.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
need systemd-nspawn:systemd-container nsenter:util-linux unshare:util-linux setpriv:util-linux
[ "$(id -u)" = 0 ] || die "needs root"
d=$VM_DIR/$VM_NAME.c
uptime= payload= more=()
options() {
  local o OPTIND=1
  while getopts p:u: o; do case $o in p) payload=$OPTARG;; u) uptime=$OPTARG;; *) exit 2;; esac; done
  shift $((OPTIND - 1)); more=("$@")
}
alive() { [ -s "$d/pid" ] && grep -qsaz systemd-nspawn "/proc/$(<"$d/pid")/cmdline"; }

leader() {                           # the container's PID 1, as the host numbers it
  local p
  for p in $(cat /proc/"$(<"$d/pid")"/task/*/children 2>/dev/null); do
    [ "$(awk '/^NSpid/ { print $NF }' "/proc/$p/status" 2>/dev/null)" = 1 ] && { echo "$p"; return; }
  done
  return 1
}
# DANGER: nsenter enters the namespaces but KEEPS the host's capabilities. There is no namespace for
# CLOCK_REALTIME, so a `date -s` started that way sets the HOST's clock. So the capabilities are cut down to
# those of the container's PID 1 first (setpriv, on the host), and user commands are in addition not run
# here at all but by the container's systemd (systemd-run, below).
enter() {
  local l cap drop=; l=$(leader) || return 1
  for cap in sys_time sys_module sys_rawio sys_boot sys_pacct syslog wake_alarm block_suspend; do drop+=${drop:+,}-$cap; done
  setpriv --bounding-set "$drop" nsenter -t "$l" -a env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"
}

boot() {                             # uses $uptime and $more
  local ns=() i state
  [ -z "$uptime" ] || ns=(unshare --time --boottime "$uptime" --monotonic "$uptime")
  # --register=no --keep-unit: the host needs neither systemd-machined nor systemd itself
  "${ns[@]}" setsid systemd-nspawn --quiet --register=no --keep-unit --machine="cd-$VM_NAME-$$" --link-journal=no \
    --directory="$d/ov/root" --kill-signal=SIGRTMIN+3 --boot "${more[@]}" </dev/null >>"$d/console.log" 2>&1 &
  echo $! > "$d/pid"
  for i in {1..600}; do
    sleep 0.05
    alive || { [ "$i" -lt 5 ] && continue; tail -n 20 "$d/console.log" >&2; die "it ended"; }
    state=$(enter systemctl is-system-running 2>/dev/null) || true
    case $state in running|degraded) return;; esac
  done
  tail -n 20 "$d/console.log" >&2; die "does not come up"
}
gone() { local i; for i in {1..300}; do alive || { rm -f "$d/pid"; return 0; }; sleep 0.05; done; die "does not end"; }
halt() { if alive; then kill -s RTMIN+4 "$(leader)"; gone; fi; }      # RTMIN+4: power off
shoot() { if alive; then kill -s KILL "$(leader)" 2>/dev/null || kill -9 "$(<"$d/pid")"; gone; fi; }

cmd=${1:-}; shift || true
case $cmd in
  start)
    options "$@"
    "$here/build-image.sh"
    alive && die "already running: $VM_NAME"
    mountpoint -q "$d/ov/root" 2>/dev/null && umount "$d/ov/root"
    mountpoint -q "$d/ov" 2>/dev/null && umount "$d/ov"
    rm -rf "$d"; mkdir -p "$d/ov"
    # The layer that takes the writes is on tmpfs, as overlayfs cannot put it on another overlayfs.
    mount -t tmpfs -o size=1G tmpfs "$d/ov"
    mkdir "$d/ov/upper" "$d/ov/work" "$d/ov/root"
    mount -t overlay -o lowerdir="$ROOTFS",upperdir="$d/ov/upper",workdir="$d/ov/work" overlay "$d/ov/root"
    [ -z "$payload" ] || tar -C "$payload" --owner=0 --group=0 --numeric-owner -cf - . |
      tar -C "$d/ov/root" --no-overwrite-dir -xf -
    boot;;
  run)
    t=60; [ "${1:-}" != -t ] || { t=$2; shift 2; }
    alive || die "not running"
    # through a file, so that a process left in the background does not hold the answer
    rc=0; enter systemd-run --quiet --wait --pipe --collect --expand-environment=no -p RuntimeMaxSec="$t" bash -c "$*" \
      </dev/null >"$d/out" 2>&1 || rc=$?
    cat "$d/out"; exit $rc;;
  reboot)  options "$@"; halt; boot;;
  stop)    halt;;
  kill)    shoot;;
  boot)    options "$@"; alive && die "already running"; boot;;
  destroy)
    shoot
    for m in "$d/ov/root" "$d/ov"; do if mountpoint -q "$m" 2>/dev/null; then umount "$m"; fi; done
    rm -rf "$d"; rmdir "$VM_DIR" 2>/dev/null || true;;
  *)       sed -n '2,/^set/{/^#/s/^# \?//p}' "$0"; exit 2;;
esac

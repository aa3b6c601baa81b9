#!/bin/bash
# A throw-away machine with a real systemd and its own kernel, in qemu.
#
#   vm.sh start [-w] [-p DIR]  start from the pristine disk, return once it takes commands
#                              -w  "warm": resume a saved, already booted machine (saved on first use)
#                              -p  copy DIR's content over the guest's root (etc/..., usr/...)
#   vm.sh run [-t SEC] CMD     run a shell command line in the guest; its output and exit status.
#                              124: no answer in SEC (60) seconds. A background process must not keep
#                              the output open: `daemon >/run/log 2>&1 </dev/null &`
#   vm.sh suspend SEC          suspend to RAM and resume, SEC seconds later as the guest sees it
#   vm.sh cut                  power cut: qemu is killed, the disk stays
#   vm.sh boot [SEC]           boot the disk that cut or stop left, SEC seconds later as its RTC sees it
#   vm.sh stop                 sync and quit; the disk stays
#   vm.sh destroy              kill it; remove disk, log and sockets
#   vm.sh qmp JSON             one QMP command, prints the answer
#   vm.sh log                  the serial console so far
#
# Clock steps need nothing of this script: vm.sh run 'date -s "+1 hour"'.
# VM_NAME chooses the machine (default "vm"); VM_ACCEL=tcg|kvm|auto; more settings in lib.sh.
# Needs qemu-system-x86 qemu-utils socat; faketime for long sleeps that take no time.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
need qemu-system-x86_64:qemu-system-x86 qemu-img:qemu-utils socat:socat

paths() { d=$VM_DIR/$1; disk=$d/disk.qcow2; payload=$d/payload.img; }
paths "$VM_NAME"                     # keep it short: a Unix socket's path has at most 107 bytes
warm=$VM_CACHE/warm-$VM_SUITE        # memory (.state) and disk (.qcow2) of a booted machine

# The name is checked because a stale pid file may name somebody else's process.
alive() {
  [ -s "$d/pid" ] || return 1
  case $(cat "/proc/$(<"$d/pid")/comm" 2>/dev/null) in qemu-system-x86|setsid|env|vm.sh) ;; *) return 1;; esac
}
reap() { local i; for i in {1..200}; do alive || { rm -f "$d/pid"; return 0; }; sleep 0.05; done; die "qemu does not end"; }

# KVM is taken only where it really runs this kernel: /dev/kvm may open and yet be of no use.
accel() {
  [ "${VM_ACCEL:-auto}" = auto ] || { echo "$VM_ACCEL"; return; }
  local f=$VM_CACHE/accel-$VM_SUITE out
  if [ ! -s "$f" ]; then
    echo tcg > "$f"
    if [ -w /dev/kvm ]; then
      out=$(timeout 8 qemu-system-x86_64 -accel kvm -cpu host -M pc -m 256 -display none -nodefaults -no-reboot \
        -serial stdio -kernel "$KERNEL" -append 'console=ttyS0 panic=-1' </dev/null 2>/dev/null | tr -d '\0' || true)
      case $out in *"Linux version"*) echo kvm > "$f";; esac
    fi
  fi
  cat "$f"
}

# qemu's idea of the host's wall clock, which drives the guest's RTC, can be moved while it runs.
faketime_lib() { local f; for f in /usr/lib/*/faketime/libfaketimeMT.so.1; do [ -e "$f" ] && echo "$f"; done; return 0; }
later() {                            # later SEC: the RTC moves on by SEC seconds
  if [ -n "$(faketime_lib)" ]; then
    echo "+$(( $(tr -d + < "$d/time") + $1 ))" > "$d/time.new"; mv "$d/time.new" "$d/time"
  else sleep "$1"; fi
}

launch() {                           # further arguments go to qemu
  local a cpu=qemu64 lib wrap=()
  a=$(accel); if [ "$a" = kvm ]; then cpu=host; else a=tcg,thread=single; fi
  lib=$(faketime_lib)
  [ -s "$d/time" ] || echo +0 > "$d/time"
  [ -z "$lib" ] || wrap=(env LD_PRELOAD="$lib" FAKETIME_TIMESTAMP_FILE="$d/time" FAKETIME_NO_CACHE=1
                         FAKETIME_DONT_FAKE_MONOTONIC=1)
  rm -f "$d"/*.sock "$d/pid"
  "${wrap[@]}" setsid qemu-system-x86_64 -accel "$a" -cpu $cpu -M pc -m 512 -smp 1 \
    -display none -nodefaults -no-reboot -rtc base=utc,clock=host \
    -kernel "$KERNEL" -initrd "$INITRD" \
    -append "rw console=ttyS0 quiet mitigations=off audit=0 nokaslr panic=-1 ${VM_APPEND:-}" \
    -drive file="$disk",format=qcow2,if=virtio,cache=writeback \
    -drive file="$payload",format=raw,if=virtio,readonly=on \
    -serial file:"$d/console.log" \
    -device virtio-serial-pci -chardev socket,id=cmd,path="$d/cmd.sock",server=on,wait=off \
    -device virtserialport,chardev=cmd,name=cmd \
    -qmp unix:"$d/qmp.sock",server=on,wait=off ${VM_QEMU:-} "$@" </dev/null >"$d/qemu.log" 2>&1 9>&- &
  echo $! > "$d/pid"
}

# talk SOCKET TIMEOUT TEXT N [BEGIN]: send TEXT, print the Nth line of the answer that is no QMP event
# and begins with BEGIN
talk() {
  local line n=0 rc=1 pid in out
  [ -S "$1" ] || return 1
  coproc SO { exec socat -t 0 - UNIX-CONNECT:"$1" 2>/dev/null; }
  pid=$SO_PID; exec {in}<&"${SO[0]}" {out}>&"${SO[1]}"
  # shellcheck disable=SC2261  # a number it is
  printf '%s\n' "$3" >&"$out" 2>/dev/null || true
  while IFS= read -r -t "$2" line <&"$in"; do
    case $line in '{"QMP"'*|'{"timestamp"'*) continue;; "${5:-}"*) ;; *) continue;; esac
    n=$((n+1)); [ $n -lt "$4" ] || { printf '%s\n' "$line"; rc=0; break; }
  done
  exec {in}<&- {out}>&-
  kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true
  return $rc
}
run() {                              # run TIMEOUT CMD
  local answer id=$$.$RANDOM.$RANDOM  # The answer to a command that took too long may still come.
  answer=$(trap '' PIPE; talk "$d/cmd.sock" "$1" "$id $(base64 -w0 <<<"$2")" 1 "$id ") || return 124
  answer=${answer#* }
  base64 -d <<<"${answer#* }"
  return "${answer%% *}"
}
qmp() { talk "$d/qmp.sock" 10 "$(printf '{"execute":"qmp_capabilities"}\n%s' "$1")" 2; }
status() { qmp '{"execute":"query-status"}' 2>/dev/null | grep -q "\"status\": \"$1\""; }
await() { local i; for i in {1..300}; do "$@" && return; sleep 0.1; done; die "timeout: $*"; }

ready() {                            # ready TIMEOUT: until the guest answers
  local end=$((SECONDS + $1))
  while [ $SECONDS -lt $end ]; do
    alive || { tail -n 20 "$d/qemu.log" >&2; die "qemu ended"; }
    run 3 : >/dev/null 2>&1 && return
    sleep 0.1
  done
  tail -n 20 "$d/console.log" >&2; die "no answer from the guest after $1 s"
}

pack() {                             # pack [DIR]: a disk of fixed size that holds a tar archive
  if [ -n "${1:-}" ]; then tar -C "$1" --owner=0 --group=0 --numeric-owner -cf "$payload" .
  else tar -cf "$payload" -T /dev/null; fi
  [ "$(stat -c %s "$payload")" -le $((256 << 20)) ] || die "payload over 256 MiB"
  truncate -s 256M "$payload"
}
overlay() { qemu-img create -q -f qcow2 -F qcow2 -b "$1" "$disk"; }

make_warm() (                        # boots once, saves memory and disk
  key=$(cat "$here/vm.sh" "$VM_CACHE/stamp-$VM_SUITE" "$VM_CACHE/accel-$VM_SUITE" 2>/dev/null | sha256sum)
  exec 8>"$VM_CACHE/lock"; flock 8
  [ "$(cat "$warm.key" 2>/dev/null)" = "$key" ] && return
  rm -f "$warm".*
  paths "warm-$$"; mkdir -p "$d"
  pack; overlay "$BASE"; launch 8>&-; ready 120
  run 60 'systemctl is-system-running --wait; sync; echo 3 > /proc/sys/vm/drop_caches' >/dev/null || true
  qmp '{"execute":"stop"}' >/dev/null
  qmp "{\"execute\":\"migrate\",\"arguments\":{\"uri\":\"exec:cat > $warm.state\"}}" >/dev/null
  await status postmigrate
  qmp '{"execute":"quit"}' >/dev/null || true; reap
  cp "$disk" "$warm.qcow2"; echo "$key" > "$warm.key"; rm -rf "$d"
)

cmd=${1:-}; shift || true
case $cmd in
  start)
    w= p=
    while getopts wp: o; do case $o in w) w=1;; p) p=$OPTARG;; *) exit 2;; esac; done
    "$here/build-image.sh"
    alive && die "already running: $VM_NAME"
    rm -rf "$d"; mkdir -p "$d"; pack "$p"
    if [ -n "$w" ]; then
      accel >/dev/null; make_warm
      overlay "$warm.qcow2"; launch -incoming "exec:cat $warm.state"
      await status paused            # it was saved paused
      qmp '{"execute":"cont"}' >/dev/null
      ready 120; run 10 "date -s @$(date +%s)" >/dev/null   # it still has the time it was saved at
    else
      overlay "$BASE"; launch; ready 120
    fi
    [ -z "$p" ] || run 60 'tar -C / --no-overwrite-dir -xmf /dev/vdb && systemctl daemon-reload';;
  boot)
    alive && die "already running"; [ -e "$disk" ] || die "no disk"
    [ -z "${1:-}" ] || later "$1"
    launch; ready 120;;
  run)
    t=60; [ "${1:-}" != -t ] || { t=$2; shift 2; }
    run "$t" "$*";;
  suspend)
    run 10 '(sleep 0.1; echo mem > /sys/power/state) >/dev/null 2>&1 </dev/null &'
    await status suspended
    later "$1"
    qmp '{"execute":"system_wakeup"}' >/dev/null; ready 30;;
  cut)     alive || die "not running"; kill -9 "$(<"$d/pid")"; reap;;
  stop)    run 30 sync; qmp '{"execute":"quit"}' >/dev/null || true; reap;;
  destroy) if alive; then kill -9 "$(<"$d/pid")"; reap; fi; rm -rf "$d"; rmdir "$VM_DIR" 2>/dev/null || true;;
  qmp)     qmp "$1";;
  log)     cat "$d/console.log";;
  *)       sed -n '2,/^set/{/^#/s/^# \?//p}' "$0"; exit 2;;
esac

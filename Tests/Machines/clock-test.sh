#!/bin/bash
# The daemon as a service of a machine whose clocks are moved: suspend to RAM for hours, steps of the wall
# clock from microseconds to 18 years, a leap second, a stopped process, a paused machine.
#
#   clock-test.sh BUILD-FOLDER       where countdownd and countdownctl are, from
#                                    swift build -c release --static-swift-stdlib
#
# One line for each thing shown; ends with status 1 at the first that does not hold. It builds nothing
# but, once, the machine (build-image.sh), and leaves nothing else behind. All clocks are the machine's
# own: this one's are never set. What is done in it is clock-peer.py's to say.
#
# Needs root, and from apt: qemu-system-x86 qemu-utils socat faketime mmdebstrap e2fsprogs cpio.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export VM_NAME=${VM_NAME:-clock$$}
. "$here/lib.sh"
[ $# = 1 ] || { sed -n '2,/^set/{/^#/s/^# \?//p}' "$0"; exit 2; }
need qemu-system-x86_64:qemu-system-x86 socat:socat faketime:faketime mmdebstrap:mmdebstrap mke2fs:e2fsprogs \
  qemu-img:qemu-utils cpio:cpio
[ "$(id -u)" = 0 ] || die "needs root"
for program in countdownd countdownctl; do [ -x "$1/$program" ] || die "no program: $1/$program"; done

payload=$(mktemp -d)
trap '"$here/vm.sh" destroy; rm -rf "$payload"' EXIT
machine=vm.sh
. "$here/checks.sh"

install_service "$payload" "$1"
install -D -m644 -t "$payload/usr/local/lib" "$here/clock-peer.py"
# So that it is due now and then while the clocks move.
install -D /dev/null "$payload/etc/systemd/system/countdownd.service.d/watchdog.conf"
printf '[Service]\nWatchdogSec=30s\n' >"$payload/etc/systemd/system/countdownd.service.d/watchdog.conf"
"$here/vm.sh" start -w -p "$payload"

peer='python3 /usr/local/lib/clock-peer.py'
scene() {                            # scene NAME: each line that it prints is a thing shown
  local out rc=0 line; out=$(guest -t 300 "$peer $1 2>&1") || rc=$?
  while IFS= read -r line; do
    case $line in 'ok    '*) shows "${line#ok    }";; esac
  done <<<"$out"
  [ $rc = 0 ] || fails "the scene $1" 'no failure' "${out##*ok    }
$(guest 'tail -n 3 /run/clock/*.log')" $rc
}
sleeps() { "$here/vm.sh" suspend "$1"; }

sleeps 165420                        # B01: 45 h 57 min before the daemon starts.
expect 'it starts, long after the machine did, and has clients' '' "
  set -e; mkdir /run/clock; systemd-sysusers >/run/clock/sysusers.log 2>&1; journalctl --update-catalog
  systemctl start countdownd.socket countdownd
  $peer record >/run/clock/record.log 2>&1 </dev/null &
  $peer watch >/run/clock/watch.log 2>&1 </dev/null &
  until [ -e /run/clock/ready ] && [ -s /run/clock/watched ]; do sleep 0.1; done"
scene begin
scene night-before; sleeps 28800; scene night-after
scene steps
scene back
scene leap
scene pause-before
"$here/vm.sh" qmp '{"execute":"stop"}' >/dev/null
sleep 1
"$here/vm.sh" qmp '{"execute":"cont"}' >/dev/null
scene pause-after
scene wake-before; sleeps 28800; scene wake-after
scene nudge-before; sleeps 28800; scene nudge-after
scene stopped
scene storm
scene crowd-before
guest "$peer crowd-calls >/run/clock/calls.log 2>&1 </dev/null &
  until [ -s /run/clock/calls ]; do sleep 0.1; done"
sleeps 600; scene crowd-after
scene audit

# What people see.
explains() {                         # explains WHAT ID GLOB
  expect "journalctl -x explains $1" "*$3*" "journalctl -b -x --no-pager MESSAGE_ID=$2 | head -n 40"
}
explains 'a sleep' 932afac4e32e43828388f1627a2061c1 'was suspended for'
explains 'a step' ec0461198d4d43fab1784295dc2c59aa 'set the wall clock by'
explains 'both at once' b881a63fba7c46cf8ea27ee46cb8f161 'suspended for * the wall*clock was set by'
expect 'countdownctl clocks tells of sleeps and steps' \
  '*of it asleep*the wall clock was set *by*the machine slept for 10min*' 'countdownctl clocks'
expect 'the service is active, and never was restarted, by the watchdog or otherwise' \
  $'Result=success\nNRestarts=0\nActiveState=active\nSubState=running' \
  'systemctl show countdownd -p Result,NRestarts,ActiveState,SubState'
expect 'systemctl status says so' '*active (running)*Serving*' 'systemctl status --no-pager countdownd'

"$here/vm.sh" destroy
[ ! -e "$VM_DIR/$VM_NAME" ] || die "something is left in $VM_DIR/$VM_NAME"
shows 'nothing is left'
echo "$shown shown"

#!/bin/bash
# The daemon as a service of a real systemd, in a container: ready, status, journal, access, stop,
# and systemd's own varlinkctl as a client.
#
#   service-test.sh BUILD-FOLDER     where countdownd and countdownctl are, from
#                                    swift build -c release --static-swift-stdlib
#
# One line for each thing shown; ends with status 1 at the first that does not hold. It builds
# nothing but, once, the container's files (build-image.sh), and leaves nothing else behind.
#
# Needs root, and from apt: systemd-container mmdebstrap e2fsprogs qemu-utils cpio.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export VM_NAME=${VM_NAME:-service$$}
. "$here/lib.sh"
[ $# = 1 ] || { sed -n '2,/^set/{/^#/s/^# \?//p}' "$0"; exit 2; }
need systemd-nspawn:systemd-container mmdebstrap:mmdebstrap mke2fs:e2fsprogs qemu-img:qemu-utils cpio:cpio
[ "$(id -u)" = 0 ] || die "needs root"
for program in countdownd countdownctl; do [ -x "$1/$program" ] || die "no program: $1/$program"; done

payload=$(mktemp -d)
trap '"$here/nspawn.sh" destroy; rm -rf "$payload"' EXIT

guest() { "$here/nspawn.sh" run "$@"; }
shown=0
shows() { shown=$((shown + 1)); printf 'ok    %s\n' "$1"; }
fails() {                            # fails SENTENCE WANTED GOT STATUS
  printf 'FAIL  %s\n  wanted: %s\n  got (status %s): %s\n' "$1" "$2" "$4" "${3:0:4000}" >&2
  { echo; guest 'systemctl status --no-pager --lines=0 countdownd; journalctl --no-pager -b -u countdownd'; } >&2 || true
  exit 1
}
expect() {                           # expect SENTENCE GLOB CMD: it succeeds and says that
  local out rc=0; out=$(guest "$3") || rc=$?
  # shellcheck disable=SC2053  # a pattern it is
  [ $rc = 0 ] && [[ $out == $2 ]] || fails "$1" "$2" "$out" $rc
  shows "$1"
}
refuse() {                           # refuse SENTENCE GLOB CMD: it fails and says that
  local out rc=0; out=$(guest "$3") || rc=$?
  # shellcheck disable=SC2053
  [ $rc != 0 ] && [[ $out == $2 ]] || fails "$1" "a failure, $2" "$out" $rc
  shows "$1"
}

S=/run/countdownd/io.countdownd.Countdown
I=io.countdownd.Countdown
install -D -t "$payload/usr/bin" "$1/countdownd" "$1/countdownctl"
install -D -m644 -t "$payload/usr/lib/systemd/system" "$here/../../systemd/countdownd.service"
install -D -m644 -t "$payload/usr/lib/sysusers.d" "$here/../../systemd/sysusers.d/countdownd.conf"
install -D -m644 -t "$payload/usr/local/lib" "$here/service-peer.py"
# A network of its own, so that abstract socket names are the container's, too.
"$here/nspawn.sh" start -p "$payload" -- --private-network
peer='python3 /usr/local/lib/service-peer.py'

# The unit and its user.
expect 'sysusers makes the user and its group' '*countdownd*/usr/sbin/nologin*countdownd*' \
  'systemd-sysusers && getent passwd countdownd && getent group countdownd'
expect 'systemd-analyze verify has nothing to say' '' \
  'systemd-analyze verify --man=no countdownd.service'

# Ready, and by whom.
expect 'start succeeds, and the first call after it is served' '*"created":true*' \
  "systemctl start countdownd && varlinkctl call --json=short $S $I.Start '{\"name\":\"first\",\"durationUSec\":60000000}'"
expect 'it is active by a message that the main process sent' \
  $'Type=notify\nNotifyAccess=main\nStatusText=Serving*\nActiveState=active\nSubState=running' \
  'systemctl show countdownd -p Type,NotifyAccess,StatusText,ActiveState,SubState'
expect 'READY and STOPPING are sent by the main process, READY once calls are served' '*main process*' \
  "$peer sender /usr/bin/countdownd"
expect 'without a manager, or with one that is gone, it serves all the same' '*served all the same*' \
  "$peer silent /usr/bin/countdownd"

# Who may connect.
expect 'the socket is for root and the group' \
  $'755 countdownd countdownd /run/countdownd\n660 countdownd countdownd '"$S" \
  "stat -c '%a %U %G %n' /run/countdownd $S"
expect 'the daemon runs as its own user' 'countdownd' \
  'stat -c %U /proc/$(systemctl show -P MainPID countdownd)'
expect 'root may call' '*created*true*running*' \
  "countdownctl --json start shared 1h && countdownctl --json get shared"
guest 'useradd --groups countdownd member && useradd stranger'
expect 'a member of the group may call, and has names of its own' '*created*true*running*' \
  'runuser -u member -- countdownctl --json start shared 1h && runuser -u member -- countdownctl --json get shared'
refuse 'others are refused, by the permissions of the file' '*you may not connect*' \
  'runuser -u stranger -- countdownctl get shared'
refuse 'others are refused whatever the client' '*ermission denied*' \
  "runuser -u stranger -- varlinkctl info $S"
expect 'more clients than descriptors by default are served' '1100 clients*' "ulimit -n 4096; $peer many 1100"

# What people see.
expect 'status tells how many countdowns there are' \
  '*active (running)*Status: "Serving; 4 countdowns running, 1 paused, 0 ended"*' \
  'countdownctl start one 1h && countdownctl start two 1h && countdownctl pause two &&
   sleep 2.5 && systemctl status --no-pager countdownd'
log='journalctl --sync && journalctl -b -u countdownd -o json'
expect 'the journal has its entries by the native protocol, with their priority' \
  '*"MESSAGE":"Listening; version *' "$log _TRANSPORT=journal PRIORITY=6"
expect 'and nothing of the daemon by another way' '' "$log _TRANSPORT=stdout"

# varlinkctl, systemd's own client.
call="varlinkctl call --json=short $S $I"
expect 'varlinkctl info' "*Product: countdownd*Interfaces:*$I*" "varlinkctl info $S"
expect 'varlinkctl introspect understands the interface' "*interface $I*method Start(*error StorageFailed*" \
  "varlinkctl introspect $S $I"
expect 'varlinkctl introspect understands org.varlink.service' '*interface org.varlink.service*method GetInfo(*' \
  "varlinkctl introspect $S org.varlink.service"
expect 'varlinkctl call: Start' '*"created":true*"state":"running"*' \
  "$call.Start '{\"name\":\"v/a\",\"durationUSec\":3600000000,\"payload\":{\"order\":[1,\"二\"]}}'"
expect 'varlinkctl call: Get' '*"name":"v/a"*"payload":{"order":\[1,"二"\]}*' \
  "$call.Get '{\"name\":\"v/a\"}'"
expect 'varlinkctl call: List' '*"countdowns":\[{"name":"v/a"*' "$call.List '{\"prefix\":\"v/\"}'"
expect 'varlinkctl call --more: List' '*"countdowns":\[{"name":"v/a"*' \
  "varlinkctl call --more --json=short $S $I.List '{\"prefix\":\"v/\"}'"
expect 'varlinkctl call --more: Subscribe tells of an expiry' \
  '*"ready":true*"kind":"expired","name":"v/b"*' "
  varlinkctl call --more --json=short $S $I.Subscribe '{\"prefix\":\"v/\"}' >/run/events & subscriber=\$!
  until grep -q ready /run/events; do sleep 0.02; done
  $call.Start '{\"name\":\"v/b\",\"durationUSec\":1000}' >/dev/null
  until grep -q v/b /run/events; do sleep 0.02; done
  kill \$subscriber; cat /run/events"
refuse 'varlinkctl call: an error and its fields' "*$I.NoSuchCountdown*v/none*" \
  "$call.Get '{\"name\":\"v/none\"}'"

# The end, and again.
expect 'stop answers what was sent before, and takes less than 2 s' '600 calls*' "$peer stop"
expect 'it stopped well' $'Result=success\nExecMainStatus=0\nActiveState=inactive' \
  'systemctl show countdownd -p Result,ExecMainStatus,ActiveState'
expect 'the journal says so' '*"MESSAGE":"Stopped"*' "$log _TRANSPORT=journal"
refuse 'it leaves no socket behind' '*No such file*' 'stat /run/countdownd'
expect 'a second start works, and nothing is left of the first' '*running*0*' \
  "systemctl start countdownd && $call.Count {}"
expect 'killed, it comes back by itself' 'active' \
  'before=$(systemctl show -P MainPID countdownd); kill -KILL $before
   until now=$(systemctl show -P MainPID countdownd); [ $now != $before ] && [ $now != 0 ]; do sleep 0.05; done
   until systemctl is-active countdownd; do sleep 0.05; done 2>&1 | tail -n 1'
guest 'systemctl stop countdownd; mkdir -p /run/systemd/system/countdownd.service.d
  printf "[Service]\nRestart=no\nExecStart=\nExecStart=/usr/bin/countdownd --socket /nowhere/at/all\n" \
    >/run/systemd/system/countdownd.service.d/nowhere.conf; systemctl daemon-reload'
refuse 'where it cannot serve, the start fails' '*failed*' 'systemctl start countdownd'
expect 'and the journal says why, as an error' '*"MESSAGE":"*/nowhere/at: *' "$log _TRANSPORT=journal PRIORITY=3"

"$here/nspawn.sh" destroy
[ ! -e "$VM_DIR/$VM_NAME.c" ] || die "something is left in $VM_DIR/$VM_NAME.c"
! grep -q "$VM_DIR/$VM_NAME.c" /proc/self/mounts || die "something is left mounted"
shows 'nothing is left'
echo "$shown shown"

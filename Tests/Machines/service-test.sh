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

machine=nspawn.sh
. "$here/checks.sh"

S=/run/countdownd/io.countdownd.Countdown
I=io.countdownd.Countdown
install_service "$payload" "$1"
install -D -m644 "$here/../../systemd/countdownd.service.d/notify-reload.conf" "$payload/usr/local/lib/notify-reload.conf"
install -D -m644 "$here/../../systemd/countdownd.socket.d/everybody.conf.example" "$payload/usr/local/lib/everybody.conf"
install -D -m644 -t "$payload/usr/local/lib" "$here/service-peer.py"
# A network of its own, so that abstract socket names are the container's, too. nspawn itself forbids to
# ask the clock's state; without CAP_SYS_TIME, which nobody in it has, nothing more can be done by that.
"$here/nspawn.sh" start -p "$payload" -- --private-network --system-call-filter='adjtimex clock_adjtime'
peer='python3 /usr/local/lib/service-peer.py'

# The unit and its user.
expect 'sysusers makes the user and its group' '*countdownd*/usr/sbin/nologin*countdownd*' \
  'systemd-sysusers && getent passwd countdownd && getent group countdownd'
expect 'tmpfiles makes the directory of the socket, for that user' '755 countdownd countdownd' \
  "systemd-tmpfiles --create countdownd.conf && stat -c '%a %U %G' /run/countdownd"
expect 'systemd-analyze verify has nothing to say' '' \
  'systemd-analyze verify --man=no countdownd.service countdownd.socket'
expect 'the sandbox is tight: exposure 1.5 or less' '*Overall exposure level for countdownd.service: [01].[0-9] *' \
  'systemd-analyze security --no-pager --threshold=15 countdownd.service'

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
expect 'it has no privileges, and a filter of system calls' \
  $'CapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2' \
  'grep -E "^(CapBnd|NoNewPrivs|Seccomp):" /proc/$(systemctl show -P MainPID countdownd)/status'
expect 'its limit of descriptors is the highest' 'the same' \
  'set -- $(grep "^Max open files" /proc/$(systemctl show -P MainPID countdownd)/limits)
   [ "$4" = "$5" ] && [ "$4" -ge 8192 ] && echo the same'
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
expect 'it knows which boot this is, and may ask whether the clock is synchronised' \
  '*"bootID":"*same boot*no complaint' \
  'countdownctl --json clocks &&
   countdownctl --json clocks | grep -q "$(tr -d -- - </proc/sys/kernel/random/boot_id)" && echo same boot &&
   journalctl --sync && ! journalctl -b -u countdownd | grep "Cannot ask" && echo no complaint'
expect 'statistics tell what there is, root of the daemon as well' \
  '*running*LATE BY UP TO*countdownd *of memory*MaxCountdowns *' \
  'countdownctl --json start brief 1ms && sleep 0.2 && countdownctl statistics'
expect 'a member is told of his own only' '*"running":1,*"sinceStart":{"started":1,*' \
  'runuser -u member -- countdownctl --json statistics | grep -v "\"daemon\""'
expect 'a stop of the process is told, in the journal under its id and by GetClocks' \
  '*"AWAY_USEC":"*the daemon was away for*' \
  'countdownctl --json start brief 300ms && pid=$(systemctl show -P MainPID countdownd) &&
   varlinkctl call '"$S"' io.systemd.service.SetLogLevel "{\"level\":7}" &&
   kill -STOP "$pid" && sleep 0.6 && kill -CONT "$pid" && sleep 0.2 && journalctl --sync &&
   journalctl -b -u countdownd -o json MESSAGE_ID=f6158cc0fe494d408be66e8206ceb03d | tail -n 1 &&
   varlinkctl call '"$S"' io.systemd.service.SetLogLevel "{\"level\":6}" &&
   countdownctl clocks'
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
expect 'varlinkctl list-methods names all, of both interfaces' \
  "*$I.CancelMany*$I.GetClocks*$I.GetStatistics*$I.Watch*io.systemd.service.Reload*" \
  "{ varlinkctl list-methods $S $I; varlinkctl list-methods $S io.systemd.service; } | sort"
# Every method that is not called below by itself.
every() {                            # every METHOD PARAMETERS GLOB: the method answers so
  expect "varlinkctl call: $1" "$3" "$call.$1 '$2'"
}
every StartMany '{"countdowns":[{"name":"w/a","durationUSec":60000000},{"name":"w/b","durationUSec":60000000}]}' '*"created":true*"created":true*'
every GetMany '{"names":["w/a","w/none"]}' '*"name":"w/a"*"missing":\["w/none"\]*'
every Count '{}' '*"running":*"paused":*"ended":*'
every Pause '{"name":"w/a"}' '*"revision":*'
every Resume '{"name":"w/a"}' '*"deadline":*'
every Extend '{"name":"w/a","byUSec":1000000}' '*"remainingUSec":*'
every Restart '{"name":"w/a"}' '*"remainingUSec":60000000*'
every SetPayload '{"name":"w/a","payload":{"n":1}}' '*"revision":*'
every GetClocks '{}' '*"bootID":*"discontinuities":\[*'
every GetStatistics '{"allOwners":true}' '*"running":*"lateness":\[*"daemon":*'
expect 'varlinkctl call --more: Watch tells where they stand' '*"name":"w/a"*"state":"running"*' "
  varlinkctl call --more --json=short $S $I.Watch '{\"names\":[\"w/a\"]}' >/run/watched & watcher=\$!
  for i in \$(seq 100); do grep -q w/a /run/watched && break; sleep 0.05; done
  kill \$watcher; cat /run/watched"
every Cancel '{"name":"w/b"}' '*"remainingUSec":*'
every CancelMany '{"prefix":"w/"}' '*"cancelled":1,"ended":1,"missing":0*'
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

control="varlinkctl call --json=short $S io.systemd.service"
expect 'varlinkctl introspect understands io.systemd.service' '*method SetLogLevel(*' \
  "varlinkctl introspect $S io.systemd.service"
expect 'varlinkctl call: Ping, by a member of the group' '{}' "runuser -u member -- $control.Ping {}"
expect 'varlinkctl call: Reload and SetLogLevel, by root and by its own user' $'{}\n{}\n{}\n{}' "
  for who in root countdownd; do
    runuser -u \$who -- $control.Reload {}; runuser -u \$who -- $control.SetLogLevel '{\"level\":6}'
  done"
refuse 'varlinkctl call: Reload is not for others' '*PermissionDenied*' "runuser -u member -- $control.Reload {}"
refuse 'varlinkctl call: SetLogLevel is not for others' '*PermissionDenied*' \
  "runuser -u member -- $control.SetLogLevel '{\"level\":6}'"
refuse 'varlinkctl call: a configuration that is refused is told with its file and line' \
  '*ConfigurationRefused*"file":"/etc/countdownd/countdownd.conf.d/wrong.conf","line":2*' "
  mkdir /etc/countdownd/countdownd.conf.d; printf '[Countdownd]\nMaxStreams=x\n' >/etc/countdownd/countdownd.conf.d/wrong.conf
  $control.Reload {}; status=\$?; rm -r /etc/countdownd/countdownd.conf.d; $control.Reload {}; exit \$status"

# The end, and again.
expect 'stop answers what was sent before, and takes less than 2 s' '600 calls*' "$peer stop"
expect 'it stopped well' $'Result=success\nExecMainStatus=0\nActiveState=inactive' \
  'systemctl show countdownd -p Result,ExecMainStatus,ActiveState'
expect 'the journal says so' '*"MESSAGE":"Stopped"*' "$log _TRANSPORT=journal"
refuse 'it leaves no socket behind' '*No such file*' "stat $S"
expect 'a second start works, and nothing is left of the first' '*running*0*' \
  "systemctl start countdownd && $call.Count {}"
expect 'killed, it comes back by itself' 'active' \
  'before=$(systemctl show -P MainPID countdownd); kill -KILL $before
   until now=$(systemctl show -P MainPID countdownd); [ $now != $before ] && [ $now != 0 ]; do sleep 0.05; done
   until systemctl is-active countdownd; do sleep 0.05; done 2>&1 | tail -n 1'

# The watchdog.
dropin=/run/systemd/system/countdownd.service.d
guest "mkdir -p $dropin && printf '[Service]\nWatchdogSec=1\n' >$dropin/watchdog.conf
  systemctl daemon-reload && systemctl restart countdownd && systemctl reset-failed countdownd"
expect 'while its loop goes round nothing happens' '0' 'sleep 2.2; systemctl show -P NRestarts countdownd'
expect 'a loop that stands still is ended by the watchdog, and serves again' $'*Watchdog timeout*\nactive' "
  before=\$(systemctl show -P MainPID countdownd); kill -STOP \$before
  until now=\$(systemctl show -P MainPID countdownd); [ \$now != \$before ] && [ \$now != 0 ]; do sleep 0.05; done
  until systemctl -q is-active countdownd; do sleep 0.05; done
  journalctl --sync; journalctl -b -o cat _PID=1 UNIT=countdownd.service | grep 'Watchdog timeout'; systemctl is-active countdownd"
guest "rm $dropin/watchdog.conf; systemctl daemon-reload; systemctl restart countdownd"

# Reload, as older ones do it and as systemd 253 and later do.
conf=/etc/countdownd/countdownd.conf.d
entry='journalctl --sync && journalctl -b -u countdownd -o json'
for type in notify notify-reload; do
  [ $type = notify ] || guest "rm -r $conf; cp /usr/local/lib/notify-reload.conf $dropin && systemctl daemon-reload && systemctl restart countdownd"
  expect "Type=$type: it is that" $type 'systemctl show -P Type countdownd'
  guest "rm -rf $conf && mkdir -p $conf && $call.Start '{\"name\":\"lives on\",\"durationUSec\":3600000000}'" >/dev/null
  expect "Type=$type: reload takes the new configuration in, and drops nothing" \
    '*QuotaExceeded*MaxPayloadBytes*"running":1,*' "
    printf '[Countdownd]\nMaxPayloadBytes=2\nLogLateSec=0\n' >$conf/a.conf && systemctl reload countdownd
    until [ \$(systemctl show -P SubState countdownd) = running ]; do sleep 0.02; done; sleep 0.2
    $call.Start '{\"name\":\"x\",\"durationUSec\":1,\"payload\":{\"a\":1}}' && exit 1; $call.Count {}"
  expect "Type=$type: a wrong one is refused with file and line, and the old one stays" \
    "*last reload was refused*active*\"MESSAGE\":\"$conf/a.conf:2: MaxPayloadBytes=x: *" "
    printf '[Countdownd]\nMaxPayloadBytes=x\n' >$conf/a.conf && systemctl reload countdownd; sleep 0.3
    systemctl show -P StatusText countdownd; systemctl is-active countdownd
    $entry MESSAGE_ID=c22986ef16784ac79c261efb0650c180 | tail -n 1"
done

# The journal and its catalog.
expect 'a late expiry is an entry with its fields' '*"COUNTDOWN_NAME":"late one"*' "
  rm -r $conf; mkdir $conf; printf '[Countdownd]\nLogLateSec=0\n' >$conf/a.conf; systemctl reload countdownd; sleep 0.2
  $call.Start '{\"name\":\"late one\",\"durationUSec\":1000}' >/dev/null; sleep 0.2
  $entry MESSAGE_ID=d8467ea05a024a7b8c51435408f47e8a | grep LATE_USEC | grep LATE_COUNT"
guest 'journalctl --update-catalog'
for id in 6650cbc2cf8e451f88ee6970900d186c:'serves calls' 8b9ced96f0dc451182087bf994f558bc:'has ended' \
  51b67eb7dd1e40bea6d9f6c8268e38f1:'configuration again' c22986ef16784ac79c261efb0650c180:'refused its new' \
  d8467ea05a024a7b8c51435408f47e8a:'microseconds: late one of the user with number 0'; do
  expect "the catalog explains it: ${id#*:}" "*${id#*:}*" "journalctl -b -x --no-pager MESSAGE_ID=${id%%:*}"
done
guest "rm -r $conf $dropin; systemctl daemon-reload; systemctl stop countdownd"

# The clock's state can be asked in the sandbox.
guest "mkdir -p $dropin && printf '[Service]\nExecStartPre=/usr/bin/perl /usr/local/lib/adjtimex.pl\n' >$dropin/clock.conf
  systemctl daemon-reload"
expect 'adjtimex can be called in the sandbox' 'active' 'systemctl start countdownd && systemctl is-active countdownd'
guest "systemctl stop countdownd; rm -r $dropin; systemctl daemon-reload"

# The socket unit.
expect 'the socket is there before the daemon, for root and the group' $'660 root countdownd\ninactive' \
  "systemctl start countdownd.socket && stat -c '%a %U %G' $S; systemctl is-active countdownd || true"
expect 'the first call starts the daemon, which serves it' $'*"created":true*\nactive' \
  "$call.Start '{\"name\":\"first\",\"durationUSec\":60000000}' && systemctl is-active countdownd"
expect 'a member of the group may call' '*running*' 'runuser -u member -- countdownctl --json start shared 1h'
refuse 'others may not' '*you may not connect*' 'runuser -u stranger -- countdownctl get shared'
expect 'after a stop the socket is the same, and the next call starts the daemon again' $'*"running":0*\nactive' "
  before=\$(stat -c %i $S); systemctl stop countdownd; [ \$(stat -c %i $S) = \$before ] &&
  $call.Count {} && [ \$(stat -c %i $S) = \$before ] && systemctl is-active countdownd"
expect 'with the drop-in everybody may call' '*created*' "
  systemctl stop countdownd.socket countdownd; mkdir -p /run/systemd/system/countdownd.socket.d
  cp /usr/local/lib/everybody.conf /run/systemd/system/countdownd.socket.d/; systemctl daemon-reload
  systemctl start countdownd.socket && runuser -u stranger -- countdownctl --json start mine 1h"
expect 'enabled, both come with the next boot' $'*enabled\nenabled' \
  'systemctl enable countdownd.socket countdownd && systemctl is-enabled countdownd.socket countdownd'
refuse 'stopped, the socket leaves nothing' '*No such file*' "systemctl stop countdownd.socket countdownd; stat $S"

# Where it cannot serve.
guest 'systemctl stop countdownd; mkdir -p /run/systemd/system/countdownd.service.d
  printf "[Service]\nRestart=no\nExecStart=\nExecStart=/usr/bin/countdownd --socket /nowhere/at/all\n" \
    >/run/systemd/system/countdownd.service.d/nowhere.conf; systemctl daemon-reload'
refuse 'where it cannot serve, the start fails' '*failed*' 'systemctl start countdownd'
expect 'and the journal says why, as an error' '*"MESSAGE":"*/nowhere/at: *' \
  "$log _TRANSPORT=journal PRIORITY=3 MESSAGE_ID=40ffddfa11de485a9453f01eee8035e2"

"$here/nspawn.sh" destroy
[ ! -e "$VM_DIR/$VM_NAME.c" ] || die "something is left in $VM_DIR/$VM_NAME.c"
! grep -q "$VM_DIR/$VM_NAME.c" /proc/self/mounts || die "something is left mounted"
shows 'nothing is left'
echo "$shown shown"

# shellcheck shell=bash disable=SC2154
# How a test shows things in a machine, one line for each: source it after lib.sh, do not run it.
#
# $here is the folder of the scripts, $machine the one that runs the machine: nspawn.sh or vm.sh.

guest() { "$here/$machine" run "$@"; }
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

# install_service PAYLOAD PROGRAMS: the programs and all that belongs to the service, for a guest's root.
install_service() {
  local system=$here/../../systemd
  install -D -t "$1/usr/bin" "$2/countdownd" "$2/countdownctl"
  install -D -m644 -t "$1/usr/lib/systemd/system" "$system/countdownd."{service,socket}
  install -D -m644 -t "$1/usr/lib/systemd/catalog" "$system/catalog/countdownd.catalog"
  install -D -m644 -t "$1/usr/lib/sysusers.d" "$system/sysusers.d/countdownd.conf"
  install -D -m644 -t "$1/usr/lib/tmpfiles.d" "$system/tmpfiles.d/countdownd.conf"
  install -D -m644 -t "$1/etc/countdownd" "$here/../../config/countdownd.conf"
  install -D -m644 -t "$1/usr/local/lib" "$here/varlink_peer.py" "$here/adjtimex.pl"
  ln -s busybox "$1/usr/bin/kill"    # The minimal guest has none; every real one has.
}

# shellcheck shell=bash disable=SC2034
# Settings and helpers that the scripts of this directory share. Source it, do not run it.
#
# Everything big is kept under $VM_CACHE, never in the repository. Every setting below can be
# overridden from the environment.

VM_CACHE=${VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/countdownd-machines}  # images, kernel, rootfs
VM_SUITE=${VM_SUITE:-trixie}        # guest's Debian suite: trixie has systemd 257 with varlinkctl
VM_DIR=${VM_DIR:-${TMPDIR:-/tmp}/countdownd-machines.$UID}  # sockets, pid, log, disk of running machines
VM_NAME=${VM_NAME:-vm}              # several machines may run side by side under different names

ROOTFS=$VM_CACHE/rootfs-$VM_SUITE   # unpacked root file system: for chroot, systemd-nspawn, mke2fs
KERNEL=$VM_CACHE/vmlinuz-$VM_SUITE
INITRD=$VM_CACHE/initrd-$VM_SUITE.gz
BASE=$VM_CACHE/base-$VM_SUITE.qcow2 # pristine disk; each started machine gets its own overlay

die() { echo "$(basename "$0"): $*" >&2; exit 1; }
# need COMMAND:PACKAGE...: says what to install where a command is missing.
need() {
  local c missing=
  for c; do command -v "${c%%:*}" >/dev/null || missing+=" ${c#*:}"; done
  [ -z "$missing" ] || die "missing programs: apt-get install --no-install-recommends$missing"
}

# The Debian archive this host's apt is configured with, as a URI. Empty on a host without one:
# mmdebstrap then falls back on its own default.
host_mirror() {
  apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk '$1 == "Debian" && $2 !~ /security/ { print $2; exit }'
}

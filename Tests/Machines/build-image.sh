#!/bin/bash
# Builds, once, what the other scripts here boot: a small Debian root file system with a real
# systemd, a kernel, a 1 MiB initramfs and a disk image. Nothing is rebuilt while the recipe (this
# file) is unchanged; -f forces it.
#
# Needs root, and from apt: mmdebstrap e2fsprogs qemu-utils cpio (and qemu-system-x86 to boot it).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
. "$here/lib.sh"
need mmdebstrap:mmdebstrap mke2fs:e2fsprogs qemu-img:qemu-utils cpio:cpio gzip:gzip dpkg-deb:dpkg
[ "$(id -u)" = 0 ] || die "needs root (mmdebstrap, mke2fs -d)"

mkdir -p "$VM_CACHE"
exec 9>"$VM_CACHE/lock"; flock 9           # two test runs must not build at once
stamp=$VM_CACHE/stamp-$VM_SUITE
recipe=$(cat "$here/build-image.sh" "$here/guest-agent" | sha256sum)
if [ "${1:-}" != -f ] && [ "$(cat "$stamp" 2>/dev/null)" = "$recipe" ]; then exit 0; fi
rm -f "$stamp"; rm -rf "$ROOTFS" "$VM_CACHE/work"
mkdir -p "$VM_CACHE/work"
work=$VM_CACHE/work

# 1. Root file system. No udev: devtmpfs names suffice here, and booting without it is far faster
#    under emulation. The kernel package is only downloaded, not installed, because installing it
#    would drag in initramfs-tools and a slow, big initramfs.
mirror=$(host_mirror)
mmdebstrap --quiet --variant=minbase \
  --include=systemd,systemd-sysv,dbus,kmod,busybox-static,python3-minimal \
  --aptopt='Acquire::Languages "none"' \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' \
  --customize-hook='chroot "$1" sh -ec "
      mkdir /kernel; cd /kernel
      pkg=\$(apt-cache depends linux-image-cloud-amd64 | sed -n \"s/^ *Depends: \(linux-image-[0-9][^ ]*\)\$/\1/p\")
      apt-get -qq -o APT::Sandbox::User=root download \$pkg
      mv *.deb kernel.deb"' \
  --customize-hook="copy-out /kernel/kernel.deb $work" \
  --customize-hook='rm -r "$1/kernel"' \
  --format=directory "$VM_SUITE" "$ROOTFS" $mirror

# 2. Kernel: Debian's "cloud" flavour has ext4, NVMe, virtio-pci and virtio-console built in.
#    virtio-blk (which, unlike NVMe, can be in a qemu snapshot) is the only module needed.
dpkg-deb -x "$work/kernel.deb" "$work/kernel"
cp "$work"/kernel/boot/vmlinuz-* "$KERNEL"
i=$work/initrd; mkdir -p "$i"/{bin,proc,dev,newroot}
cp "$ROOTFS/bin/busybox" "$i/bin/busybox"
find "$work/kernel" -name 'virtio_blk.ko*' -exec cp {} "$i/" \;
case "$(echo "$i"/virtio_blk.ko*)" in *.xz) xz -d "$i"/virtio_blk.ko.xz;; *.zst) zstd -q -d --rm "$i"/virtio_blk.ko.zst;; esac
cat > "$i/init" <<'INIT'
#!/bin/busybox sh
export PATH=/bin
busybox mount -t devtmpfs dev /dev
busybox insmod /virtio_blk.ko
while [ ! -b /dev/vda ]; do busybox usleep 10000; done
busybox mount -t ext4 -o rw,noatime /dev/vda /newroot
busybox mount --move /dev /newroot/dev
exec busybox switch_root /newroot /lib/systemd/systemd
INIT
chmod +x "$i/init"
(cd "$i" && find . | cpio -o -H newc --quiet | gzip -9) > "$INITRD"

# 3. Settings of the guest.
r=$ROOTFS
echo vm > "$r/etc/hostname"
: > "$r/etc/fstab"; : > "$r/etc/resolv.conf"
echo 5eed5eed5eed5eed5eed5eed5eed5eed > "$r/etc/machine-id"   # fixed: else each boot is a "first boot"
mkdir -p "$r/var/log/journal"                                 # journal kept across boots
install -m755 "$here/guest-agent" "$r/usr/local/sbin/guest-agent"
cat > "$r/etc/systemd/system/guest-agent.service" <<'UNIT'
[Unit]
Description=Runs commands sent by the host
[Service]
ExecStart=/usr/local/sbin/guest-agent
KillMode=process
Restart=on-failure
[Install]
WantedBy=multi-user.target
UNIT
# Off: what costs seconds under emulation and serves no test.
mask() { local u; for u; do ln -sf /dev/null "$r/etc/systemd/system/$u"; done; }
mask modprobe@.service kmod-static-nodes.service getty.target systemd-networkd.service systemd-networkd.socket \
  systemd-network-generator.service systemd-networkd-persistent-storage.service systemd-networkd-wait-online.service \
  apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer fstrim.timer \
  e2scrub_all.timer e2scrub_reap.service systemd-pcrlock-make-policy.service \
  systemd-update-utmp.service systemd-hibernate-clear.service systemd-timesyncd.service \
  dev-hugepages.mount sys-kernel-debug.mount sys-kernel-tracing.mount sys-kernel-config.mount \
  systemd-logind.service systemd-user-sessions.service ldconfig.service systemd-journal-catalog-update.service \
  systemd-update-done.service
mkdir -p "$r/etc/systemd/system/multi-user.target.wants"
ln -sf ../guest-agent.service "$r/etc/systemd/system/multi-user.target.wants/"
ln -sf /lib/systemd/system/multi-user.target "$r/etc/systemd/system/default.target"

# 4. Disk: mke2fs fills it without mounting anything; then a sparse, compact qcow2.
mke2fs -q -t ext4 -F -L root -d "$r" "$work/base.raw" 1G >/dev/null
qemu-img convert -f raw -O qcow2 "$work/base.raw" "$BASE"
rm -rf "$work"
echo "$recipe" > "$stamp"

#!/usr/bin/env bash
# vm.sh DEB OLD [SCENARIO…]: tries a package in a virtual machine and prints a line for each scenario: install
# reboot powercut login fulldisk upgrade removal memory (default: all). DEB is the package from release.sh, OLD a program of the
# previous release. The machine is Debian with systemd, run by qemu without KVM; it boots in about 15 s on a
# quiet computer, and all scenarios take about half an hour. Needs root for making the disk, and the packages
# qemu-system-x86 mmdebstrap e2fsprogs python3. Downloads are kept in $TANDEM_VM (default /var/tmp/tandem-vm).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
deb=$(realpath "$1") old=$(realpath "$2")
shift 2
work=${TANDEM_VM:-/var/tmp/tandem-vm}
mkdir -p "$work"
cd "$work"

if [ ! -e vmlinuz ]; then # the kernel is unpacked, not installed
	kernel=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/ *Depends: \(linux-image-.*\)/\1/p' | head -1)
	apt-get download "$kernel"
	dpkg -x "$kernel"_*.deb kernel
	cp kernel/boot/vmlinuz-* vmlinuz
	rm -rf kernel "$kernel"_*.deb
fi
[ -e root.tar ] || mmdebstrap --variant=minbase bookworm root.tar \
	--include=systemd,systemd-sysv,udev,dbus,dbus-user-session,libpam-systemd,bash,iproute2,procps,python3-minimal,kmod

# The console ttyS1 is root's. The user u logs in on ttyS0 when a scenario starts its getty.
rm -rf root
mkdir root
tar xf root.tar -C root
cp "$deb" root/opt/tandem.deb
cp "$old" root/opt/tandem-old
echo vm >root/etc/hostname
chroot root useradd -m -s /bin/bash u
chroot root passwd -d root >/dev/null
login_on() { # TTY USER
	mkdir -p "root/etc/systemd/system/serial-getty@$1.service.d"
	printf '[Service]\nRestart=no\nExecStart=\nExecStart=-/sbin/agetty -o "-p -f -- \\\\u" --keep-baud --autologin %s 115200 %%I vt220\n' "$2" \
		>"root/etc/systemd/system/serial-getty@$1.service.d/vm.conf"
}
login_on ttyS0 u
login_on ttyS1 root
rm -f base.img
mke2fs -q -t ext4 -d root -L root base.img 1500M
rm -rf root

failed=0
[ $# -gt 0 ] || set -- install reboot powercut login fulldisk upgrade removal memory
for scenario; do
	PYTHONDONTWRITEBYTECODE=1 python3 "$here/vm/$scenario.py" "$work" || failed=1
done
exit $failed

#!/bin/sh
# Installs Tandem @VERSION@ for Linux without root: one static program in ~/.local/bin, or in
# $TANDEM_INSTALL_DIR. Run it again to upgrade; what runs in Tandem keeps running.
#
#   curl -fsSL @INSTALL@ | sh
#   sh install.sh --uninstall     # removes the program; first offers to remove everything else of Tandem
#
# $TANDEM_RELEASES replaces @RELEASES@ for a mirror. The checksums below are part of this script.
set -eu

releases=${TANDEM_RELEASES:-@RELEASES@}
version=@VERSION@
sum_amd64=@AMD64@
sum_arm64=@ARM64@

fail() {
	echo "install.sh: $1" >&2
	[ $# = 1 ] || echo "hint: $2" >&2
	exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

fetch() { # URL FILE
	if has curl; then
		curl -fsSL -o "$2" "$1"
	elif has wget; then
		wget -q -O "$2" "$1"
	else
		fail 'neither curl nor wget is installed' 'install one of them'
	fi
}

sum() { # FILE
	if has sha256sum; then
		sha256sum <"$1"
	elif has shasum; then
		shasum -a 256 <"$1"
	elif has openssl; then
		openssl dgst -sha256 -r <"$1"
	else
		fail 'no program here computes SHA-256, so the download cannot be checked' 'install sha256sum (coreutils)'
	fi
}

install() {
	[ "$(uname -s)" = Linux ] || fail "Tandem needs Linux; this is $(uname -s)"
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 want=$sum_amd64 ;;
	aarch64 | arm64) arch=arm64 want=$sum_arm64 ;;
	*) fail "there is no build for $(uname -m); it must be x86_64 or aarch64" ;;
	esac
	mkdir -p "$dir" || fail "cannot create $dir" 'set TANDEM_INSTALL_DIR to a folder of yours'
	# In the target's folder, so that the rename is atomic and a full disk is noticed before it.
	work=$(mktemp -d "$dir/.tandem-XXXXXX") || fail "cannot write to $dir" 'set TANDEM_INSTALL_DIR to a folder of yours'
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM

	name=tandem_${version}_linux_$arch
	url=$releases/v$version/$name.tar.gz
	fetch "$url" "$work/archive" || fail "cannot download $url to $dir" 'see the message above; nothing was changed'
	got=$(sum "$work/archive")
	[ "${got%% *}" = "$want" ] || fail "$url has another checksum than expected; nothing was installed" "expected $want, got ${got%% *}"
	tar -xzf "$work/archive" -C "$work" "$name/tandem" || fail "cannot unpack $name to $dir; nothing was changed"
	"$work/$name/tandem" --version >/dev/null || fail "the program does not run in $dir; nothing was changed" 'set TANDEM_INSTALL_DIR to a folder whose file system allows programs'
	mv -f "$work/$name/tandem" "$dir/tandem" || fail "cannot replace $dir/tandem"
	echo "Tandem $version is in $dir/tandem. What runs in Tandem keeps running."
	case :$PATH: in
	*:"$dir":*) echo 'Run tandem to open the dashboard.' ;;
	*) echo "Add $dir to your PATH, then run tandem." ;;
	esac
}

uninstall() {
	if [ ! -e "$dir/tandem" ] && [ ! -L "$dir/tandem" ]; then
		fail "there is no $dir/tandem" 'set TANDEM_INSTALL_DIR to the folder it is in'
	fi
	# The command lists what is there and asks. Standard input may be this script.
	if ! (: </dev/tty) 2>/dev/null; then
		echo 'Without a terminal to ask on, what runs and your data stay. tandem uninstall --yes, run before, removes them.'
	elif ! "$dir/tandem" uninstall --keep-program </dev/tty; then
		printf 'Remove only the program? What runs and your data stay. [y/N] '
		read -r answer </dev/tty || answer=
		case $answer in
		[yY] | [yY][eE][sS]) ;;
		*) fail 'cancelled, nothing was removed' ;;
		esac
	fi
	rm -f "$dir/tandem" || fail "cannot remove $dir/tandem"
	echo "Removed $dir/tandem."
}

main() {
	dir=${TANDEM_INSTALL_DIR:-${HOME:?}/.local/bin}
	case $dir in
	/*) ;;
	*) dir=$PWD/$dir ;;
	esac
	case ${1:-} in
	'') install ;;
	--uninstall) uninstall ;;
	*) fail "unknown argument $1" 'the only one is --uninstall' ;;
	esac
}

main "$@" # the last line, so that a download that was cut off does nothing

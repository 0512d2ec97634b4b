//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// currentKernel queries the running kernel, without changing anything.
func currentKernel() kernel {
	var k kernel
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		k.landlockErr = errno
	} else {
		k.landlock = int(version)
		k.resolveUnix = canHandle(unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX)
	}
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno = unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	if errno != 0 {
		k.seccomp = fmt.Errorf("seccomp(2): %w", errno)
	}
	return k
}

// canHandle reports whether Landlock supports a right over files.
func canHandle(access uint64) bool {
	set, err := newRuleset(unix.LandlockRulesetAttr{Handled_access_fs: access})
	if err != nil {
		return false
	}
	set.close()
	return true
}

package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// foreignCalls refuses system calls whose numbers no rule would match; there are none here.
func foreignCalls() []unix.SockFilter {
	return nil
}

// machineCalls returns the system calls that change the machine and exist only on some
// architectures, including this one.
func machineCalls() []uint32 {
	return []uint32{unix.SYS_KEXEC_FILE_LOAD}
}

// olderModeRefusals cover the older calls that set modes. This architecture has only their newer
// forms, so it returns none.
func olderModeRefusals(uint32) []refusal { return nil }

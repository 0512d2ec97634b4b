package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// foreignCalls refuses system calls whose numbers no rule would match; here
// there are none.
func foreignCalls() []unix.SockFilter {
	return nil
}

// machineCalls change the machine and exist on this architecture.
func machineCalls() []uint32 {
	return []uint32{unix.SYS_KEXEC_FILE_LOAD}
}

// olderCalls are refused forms of calls that have newer ones on all architectures:
// here there are none.
func olderCalls() []refusal { return nil }

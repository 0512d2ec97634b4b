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

// olderModeRefusals are about calls that have newer forms on all architectures;
// here there are none.
func olderModeRefusals(uint32) []refusal { return nil }

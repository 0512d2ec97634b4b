package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// foreignCalls refuses system calls whose numbers no rule would match; there are none here.
func foreignCalls() []unix.SockFilter {
	return nil
}

// machineCalls change the machine and exist on this architecture.
func machineCalls() []uint32 {
	return []uint32{unix.SYS_KEXEC_FILE_LOAD}
}

// olderModeRefusals cover calls with newer forms on all architectures; there are none here.
func olderModeRefusals(uint32) []refusal { return nil }

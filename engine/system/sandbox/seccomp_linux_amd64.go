package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

// x32Bit marks calls of the x32 ABI, which has the same architecture.
const x32Bit = 0x40000000

// foreignCalls refuses system calls whose numbers no rule would match.
func foreignCalls() []unix.SockFilter {
	return []unix.SockFilter{
		loadWord(dataCall),
		{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: x32Bit, Jt: 0, Jf: 1},
		returnAction(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)),
	}
}

// machineCalls returns the system calls that change the machine and exist only on some
// architectures, including this one.
func machineCalls() []uint32 {
	return []uint32{unix.SYS_IOPERM, unix.SYS_IOPL, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_MODIFY_LDT}
}

// olderModeRefusals cover the older calls of this architecture that set modes. Other architectures
// have only their newer forms.
func olderModeRefusals(special uint32) []refusal {
	return []refusal{
		{unix.SYS_CHMOD, unix.EPERM, []condition{argHas(1, special)}},
		{unix.SYS_OPEN, unix.EPERM, []condition{argHas(1, createFlags), argHas(2, special)}},
		{unix.SYS_CREAT, unix.EPERM, []condition{argHas(1, special)}},
		{unix.SYS_MKNOD, unix.EPERM, []condition{argHas(1, special)}},
	}
}

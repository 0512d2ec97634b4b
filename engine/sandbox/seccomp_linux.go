//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"slices"

	"golang.org/x/sys/unix"
)

// A refusal makes a system call fail with an error when all conditions hold.
type refusal struct {
	call  uint32
	errno unix.Errno
	when  []condition
}

// A condition looks at the low 32 bits of an argument, which is all that the
// kernel uses of an int.
type condition struct {
	arg    int
	mask   uint32
	not    bool // the masked argument is none of values
	values []uint32
}

const allBits = ^uint32(0)

func argIs(arg int, values ...uint32) condition {
	return condition{arg: arg, mask: allBits, values: values}
}

func argIsNot(arg int, values ...uint32) condition {
	return condition{arg: arg, mask: allBits, not: true, values: values}
}

// socketTypeIsNot compares the second argument of socket(2) without its flags.
func socketTypeIsNot(values ...uint32) condition {
	return condition{arg: 1, mask: 0xf, not: true, values: values}
}

// tiocsti and tioclinux put characters into a terminal's input (tty_ioctl(4),
// ioctl_console(2)).
const (
	tiocsti   = 0x5412
	tioclinux = 0x541c
)

// ioprioProcess is IOPRIO_WHO_PROCESS of linux/ioprio.h.
const ioprioProcess = 1

// refusalsFor are the system calls that a process with a network has to do without.
// special are the bits that no file's mode may get.
func refusalsFor(network access, k kernel, special uint32) []refusal {
	all := append(baseRefusals(), modeRefusals(special)...)
	if !k.resolveUnix {
		all = append(all, unixRefusals()...)
	}
	switch network {
	case noNetwork:
		all = append(all,
			refusal{unix.SYS_SOCKET, unix.EACCES, []condition{argIsNot(0, unix.AF_UNIX, unix.AF_NETLINK)}})
	case proxyNetwork:
		all = append(all, proxyRefusals()...)
		if !k.resolveUnix {
			// A TCP socket that was not bound listens on any free port.
			all = append(all, refusal{call: unix.SYS_LISTEN, errno: unix.EACCES})
		}
	}
	if network != openNetwork {
		all = append(all, refusal{unix.SYS_SOCKET, unix.EACCES, []condition{argIs(0, unix.AF_NETLINK), argIsNot(2, unix.NETLINK_ROUTE)}})
	}
	return all
}

// namespaces are the flags of clone(2) and unshare(2) that make one. In a user
// namespace a process has all capabilities, and with them ways into parts of the
// kernel that nobody else reaches.
const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// argHas wants at least one of some bits.
func argHas(arg int, bits uint32) condition {
	return condition{arg: arg, mask: bits, not: true, values: []uint32{0}}
}

// baseRefusals are what no confined process may do: go around the filter, type
// into a terminal, make namespaces or leave its own, slow down other processes,
// change the machine. sched_setaffinity(2) is left: threads are pinned with it
// by their numbers, which no filter can know.
func baseRefusals() []refusal {
	all := []refusal{
		{unix.SYS_IOCTL, unix.EPERM, []condition{argIs(1, tiocsti, tioclinux)}},
		{unix.SYS_CLONE, unix.EPERM, []condition{argHas(0, namespaces)}},
		{unix.SYS_UNSHARE, unix.EPERM, []condition{argHas(0, namespaces|unix.CLONE_NEWTIME)}}, // to clone(2) that is part of a signal's number
		// Of another process; 0 is oneself.
		{unix.SYS_PRLIMIT64, unix.EPERM, []condition{argIsNot(0, 0)}},
		{unix.SYS_SCHED_SETATTR, unix.EPERM, []condition{argIsNot(0, 0)}},
		{unix.SYS_SCHED_SETPARAM, unix.EPERM, []condition{argIsNot(0, 0)}},
		{unix.SYS_SCHED_SETSCHEDULER, unix.EPERM, []condition{argIsNot(0, 0)}},
		// Of another process, a process group or a user.
		{unix.SYS_SETPRIORITY, unix.EPERM, []condition{argIsNot(0, unix.PRIO_PROCESS)}},
		{unix.SYS_SETPRIORITY, unix.EPERM, []condition{argIsNot(1, 0)}},
		{unix.SYS_IOPRIO_SET, unix.EPERM, []condition{argIsNot(0, ioprioProcess)}},
		{unix.SYS_IOPRIO_SET, unix.EPERM, []condition{argIsNot(1, 0)}},
	}
	// Programs have another way then. The flags of clone3(2) are in memory, where
	// no filter sees them.
	for _, call := range []uint32{unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER} {
		all = append(all, refusal{call: call, errno: unix.ENOSYS})
	}
	for _, call := range append([]uint32{
		unix.SYS_ACCT, unix.SYS_ADD_KEY, unix.SYS_BPF, unix.SYS_CLOCK_ADJTIME, unix.SYS_CLOCK_SETTIME, unix.SYS_DELETE_MODULE,
		unix.SYS_FINIT_MODULE, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSOPEN, unix.SYS_FSPICK, unix.SYS_INIT_MODULE,
		unix.SYS_KEXEC_LOAD, unix.SYS_KEYCTL, unix.SYS_MOUNT, unix.SYS_MOUNT_SETATTR, unix.SYS_MOVE_MOUNT,
		unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_PERF_EVENT_OPEN,
		unix.SYS_PIVOT_ROOT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_REBOOT, unix.SYS_REQUEST_KEY, unix.SYS_SETDOMAINNAME,
		unix.SYS_SETHOSTNAME, unix.SYS_SETNS, unix.SYS_SETTIMEOFDAY, unix.SYS_SWAPOFF, unix.SYS_SWAPON, unix.SYS_SYSLOG,
		unix.SYS_UMOUNT2, unix.SYS_USERFAULTFD, unix.SYS_VHANGUP,
	}, machineCalls()...) {
		all = append(all, refusal{call: call, errno: unix.EPERM})
	}
	return all
}

// specialModes returns the bits of a mode that no file may get. With S_ISUID a file
// runs as its owner, whoever starts it outside. S_ISGID does the same for its group,
// but is also how folders are shared (git init --shared), and the group of an
// ordinary user gives little away; root's groups give a lot.
func specialModes(root bool) uint32 {
	if root {
		return unix.S_ISUID | unix.S_ISGID
	}
	return unix.S_ISUID
}

// creating are the flags of open(2) with which the mode counts: O_CREAT, and
// O_TMPFILE without the O_DIRECTORY in it.
const creating = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY

// modeRefusals refuse every call that gives a file special bits. The kernel ignores
// these bits in mkdir(2), umask(2) and the mode of an existing file in open(2).
// The mode for openat2(2) is in memory, where no filter sees it; programs fall back
// to openat(2).
func modeRefusals(special uint32) []refusal {
	return append(olderModeRefusals(special),
		refusal{unix.SYS_FCHMOD, unix.EPERM, []condition{argHas(1, special)}},
		refusal{unix.SYS_FCHMODAT, unix.EPERM, []condition{argHas(2, special)}},
		refusal{unix.SYS_FCHMODAT2, unix.EPERM, []condition{argHas(2, special)}},
		refusal{unix.SYS_OPENAT, unix.EPERM, []condition{argHas(2, creating), argHas(3, special)}},
		refusal{unix.SYS_MKNODAT, unix.EPERM, []condition{argHas(2, special)}},
		refusal{call: unix.SYS_OPENAT2, errno: unix.ENOSYS},
	)
}

// unixRefusals keep Unix sockets inside where Landlock cannot: only pairs can
// be made, and no pair that can be sent elsewhere. An unconnected or datagram
// socket would reach every daemon that listens at a path.
func unixRefusals() []refusal {
	return []refusal{
		{unix.SYS_SOCKET, unix.EACCES, []condition{argIs(0, unix.AF_UNIX)}},
		{unix.SYS_SOCKETPAIR, unix.EACCES, []condition{socketTypeIsNot(unix.SOCK_STREAM, unix.SOCK_SEQPACKET)}},
	}
}

// proxyRefusals leave plain TCP: Landlock has no say over other protocols, nor
// in some kernels over a connection made by sending (MSG_FASTOPEN, tcp(7)).
func proxyRefusals() []refusal {
	inet := argIs(0, unix.AF_INET, unix.AF_INET6)
	fastOpen := func(call uint32, arg int) refusal {
		flag := condition{arg: arg, mask: unix.MSG_FASTOPEN, values: []uint32{unix.MSG_FASTOPEN}}
		return refusal{call, unix.EACCES, []condition{flag}}
	}
	return []refusal{
		{unix.SYS_SOCKET, unix.EACCES, []condition{argIsNot(0, unix.AF_UNIX, unix.AF_NETLINK, unix.AF_INET, unix.AF_INET6)}},
		{unix.SYS_SOCKET, unix.EACCES, []condition{inet, socketTypeIsNot(unix.SOCK_STREAM)}},
		{unix.SYS_SOCKET, unix.EACCES, []condition{inet, argIsNot(2, unix.IPPROTO_IP, unix.IPPROTO_TCP)}},
		fastOpen(unix.SYS_SENDTO, 3), fastOpen(unix.SYS_SENDMSG, 2), fastOpen(unix.SYS_SENDMMSG, 3),
	}
}

// Offsets in struct seccomp_data (linux/seccomp.h), little-endian.
const (
	dataCall = 0
	dataArch = 4
	dataArgs = 16
)

// compile makes the filter's program. A call of another architecture kills the
// process, because its numbers mean other calls.
//
// Refusals stand in blocks in the order of their numbers, and each block is
// jumped over by higher ones: the kernel goes through the program for every call that
// there is when the filter is installed, which is most of what that takes.
func compile(refusals []refusal) []unix.SockFilter {
	program := []unix.SockFilter{
		load(dataArch),
		jumpEqual(auditArch, 1, 0),
		verdict(unix.SECCOMP_RET_KILL_PROCESS),
	}
	program = append(program, foreignCalls()...)
	left := slices.Clone(refusals)
	slices.SortStableFunc(left, func(a, b refusal) int { return cmp.Compare(a.call, b.call) })
	for len(left) > 0 {
		n := blockSize(left)
		var block []unix.SockFilter
		for _, r := range left[:n] {
			block = append(block, r.compile()...)
		}
		block = append(block, verdict(unix.SECCOMP_RET_ALLOW))
		if left = left[n:]; len(left) > 0 {
			program = append(program, load(dataCall), unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: left[0].call, Jt: uint8(len(block))})
		}
		program = append(program, block...)
	}
	return append(program, verdict(unix.SECCOMP_RET_ALLOW))
}

// blockSize is how many refusals are the next block: some more than a few, all of
// the last one's call among them.
func blockSize(refusals []refusal) int {
	n := min(6, len(refusals))
	for n < len(refusals) && refusals[n].call == refusals[n-1].call {
		n++
	}
	return n
}

func (r refusal) compile() []unix.SockFilter {
	body := []unix.SockFilter{verdict(unix.SECCOMP_RET_ERRNO | uint32(r.errno))}
	for i := len(r.when) - 1; i >= 0; i-- {
		body = append(r.when[i].compile(uint8(len(body))), body...)
	}
	return append([]unix.SockFilter{load(dataCall), jumpEqual(r.call, 0, uint8(len(body)))}, body...)
}

// compile gives code that goes on behind itself if the condition holds and
// skips that many instructions more if it does not.
func (c condition) compile(skip uint8) []unix.SockFilter {
	code := []unix.SockFilter{load(dataArgs + 8*uint32(c.arg)), {Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: c.mask}}
	for i, value := range c.values {
		left := uint8(len(c.values) - 1 - i)
		last := left == 0
		switch {
		case c.not && last:
			code = append(code, jumpEqual(value, skip, 0))
		case c.not:
			code = append(code, jumpEqual(value, left+skip, 0))
		case last:
			code = append(code, jumpEqual(value, 0, skip))
		default:
			code = append(code, jumpEqual(value, left, 0))
		}
	}
	return code
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func jumpEqual(value uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jt: yes, Jf: no}
}

func verdict(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"slices"

	"golang.org/x/sys/unix"
)

// A refusal makes a system call fail with an error if all conditions hold.
type refusal struct {
	call  uint32
	errno unix.Errno
	when  []condition
}

// A condition compares the low 32 bits of an argument, all the kernel uses of an int.
type condition struct {
	arg    int
	mask   uint32
	not    bool // the masked argument equals none of values
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

// tiocsti and tioclinux insert characters into a terminal's input (tty_ioctl(4), ioctl_console(2)).
const (
	tiocsti   = 0x5412
	tioclinux = 0x541c
)

// ioprioProcess is IOPRIO_WHO_PROCESS in linux/ioprio.h.
const ioprioProcess = 1

// refusalsFor returns the system calls refused to a process with the given network. special are the
// mode bits no file may get.
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
			// An unbound TCP socket listens on any free port.
			all = append(all, refusal{call: unix.SYS_LISTEN, errno: unix.EACCES})
		}
	}
	if network != openNetwork {
		all = append(all, refusal{unix.SYS_SOCKET, unix.EACCES, []condition{argIs(0, unix.AF_NETLINK), argIsNot(2, unix.NETLINK_ROUTE)}})
	}
	return all
}

// namespaceFlags are the flags of clone(2) and unshare(2) that create a namespace. In a user
// namespace a process has all capabilities, and with them access to parts of the kernel closed to
// everybody else.
const namespaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// argHas requires at least one of some bits.
func argHas(arg int, bits uint32) condition {
	return condition{arg: arg, mask: bits, not: true, values: []uint32{0}}
}

// baseRefusals are refused to every confined process: bypassing the filter, typing into a terminal,
// creating or leaving namespaces, slowing down other processes, and changing the machine.
// sched_setaffinity(2) is allowed, because threads are pinned by thread ids no filter can know.
func baseRefusals() []refusal {
	all := []refusal{
		{unix.SYS_IOCTL, unix.EPERM, []condition{argIs(1, tiocsti, tioclinux)}},
		{unix.SYS_CLONE, unix.EPERM, []condition{argHas(0, namespaceFlags)}},
		{unix.SYS_UNSHARE, unix.EPERM, []condition{argHas(0, namespaceFlags|unix.CLONE_NEWTIME)}}, // for clone(2), that bit is part of a signal's number
		// For another process; 0 is the caller.
		{unix.SYS_PRLIMIT64, unix.EPERM, []condition{argIsNot(0, 0)}},
		{unix.SYS_SCHED_SETATTR, unix.EPERM, []condition{argIsNot(0, 0)}},
		{unix.SYS_SCHED_SETPARAM, unix.EPERM, []condition{argIsNot(0, 0)}},
		{unix.SYS_SCHED_SETSCHEDULER, unix.EPERM, []condition{argIsNot(0, 0)}},
		// For another process, a process group or a user.
		{unix.SYS_SETPRIORITY, unix.EPERM, []condition{argIsNot(0, unix.PRIO_PROCESS)}},
		{unix.SYS_SETPRIORITY, unix.EPERM, []condition{argIsNot(1, 0)}},
		{unix.SYS_IOPRIO_SET, unix.EPERM, []condition{argIsNot(0, ioprioProcess)}},
		{unix.SYS_IOPRIO_SET, unix.EPERM, []condition{argIsNot(1, 0)}},
	}
	// ENOSYS makes programs fall back to older calls. The flags of clone3(2) are in memory,
	// invisible to a filter.
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

// specialModes returns the mode bits no file may get. With S_ISUID a file runs as its owner,
// whoever starts it outside. S_ISGID does the same for its group, but is also used to share
// directories (git init --shared), and an ordinary user's group gives little away; root's groups
// give a lot.
func specialModes(root bool) uint32 {
	if root {
		return unix.S_ISUID | unix.S_ISGID
	}
	return unix.S_ISUID
}

// createFlags are the flags with which open(2) creates a file, and therefore uses its mode argument.
// O_TMPFILE includes O_DIRECTORY, which creates nothing by itself.
const createFlags = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY

// modeRefusals refuse every call giving a file special bits. The kernel ignores these bits in
// mkdir(2), umask(2) and the mode of an existing file in open(2). The mode for openat2(2) is in
// memory, invisible to a filter; programs fall back to openat(2).
func modeRefusals(special uint32) []refusal {
	return append(olderModeRefusals(special),
		refusal{unix.SYS_FCHMOD, unix.EPERM, []condition{argHas(1, special)}},
		refusal{unix.SYS_FCHMODAT, unix.EPERM, []condition{argHas(2, special)}},
		refusal{unix.SYS_FCHMODAT2, unix.EPERM, []condition{argHas(2, special)}},
		refusal{unix.SYS_OPENAT, unix.EPERM, []condition{argHas(2, createFlags), argHas(3, special)}},
		refusal{unix.SYS_MKNODAT, unix.EPERM, []condition{argHas(2, special)}},
		refusal{call: unix.SYS_OPENAT2, errno: unix.ENOSYS},
	)
}

// unixRefusals replace Landlock's control of Unix sockets on kernels without it. Only pairs can be
// created, and only of types that cannot be reconnected: an unconnected or datagram socket would
// reach every daemon listening at a path.
func unixRefusals() []refusal {
	return []refusal{
		{unix.SYS_SOCKET, unix.EACCES, []condition{argIs(0, unix.AF_UNIX)}},
		{unix.SYS_SOCKETPAIR, unix.EACCES, []condition{socketTypeIsNot(unix.SOCK_STREAM, unix.SOCK_SEQPACKET)}},
	}
}

// proxyRefusals leave plain TCP. Landlock does not control other protocols, nor on some kernels a
// connection made by sending (MSG_FASTOPEN, tcp(7)).
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

// compileFilter builds the filter's program. A call of another architecture kills the process,
// because its numbers mean other calls.
//
// Refusals are sorted by call number and grouped into blocks, and calls with higher numbers jump
// over a block. This keeps the program short for each call: when the filter is installed, the
// kernel runs it once for every system call, and that is most of the cost.
func compileFilter(refusals []refusal) []unix.SockFilter {
	program := []unix.SockFilter{
		loadWord(dataArch),
		jumpEqual(auditArch, 1, 0),
		returnAction(unix.SECCOMP_RET_KILL_PROCESS),
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
		block = append(block, returnAction(unix.SECCOMP_RET_ALLOW))
		if left = left[n:]; len(left) > 0 {
			program = append(program, loadWord(dataCall), unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: left[0].call, Jt: uint8(len(block))})
		}
		program = append(program, block...)
	}
	return append(program, returnAction(unix.SECCOMP_RET_ALLOW))
}

// blockSize returns the length of the next block: about six refusals, including all of the last
// one's call.
func blockSize(refusals []refusal) int {
	n := min(6, len(refusals))
	for n < len(refusals) && refusals[n].call == refusals[n-1].call {
		n++
	}
	return n
}

func (r refusal) compile() []unix.SockFilter {
	body := []unix.SockFilter{returnAction(unix.SECCOMP_RET_ERRNO | uint32(r.errno))}
	for i := len(r.when) - 1; i >= 0; i-- {
		body = append(r.when[i].compile(uint8(len(body))), body...)
	}
	return append([]unix.SockFilter{loadWord(dataCall), jumpEqual(r.call, 0, uint8(len(body)))}, body...)
}

// compile returns code that checks the condition. If the condition holds, execution continues after
// the code. Otherwise it jumps over as many further instructions as skip says.
func (c condition) compile(skip uint8) []unix.SockFilter {
	code := []unix.SockFilter{loadWord(dataArgs + 8*uint32(c.arg)), {Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: c.mask}}
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

func loadWord(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func jumpEqual(value uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jt: yes, Jf: no}
}

func returnAction(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

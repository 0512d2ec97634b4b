//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelVariable makes a launch run on another kernel: a version of Landlock, or the name of one of
// failures.
const kernelVariable = "TEST_KERNEL"

// failures are system calls that a kernel may lack or refuse.
var failures = map[string]refusal{
	"no Landlock":       {call: unix.SYS_LANDLOCK_CREATE_RULESET, errno: unix.ENOSYS},
	"disabled Landlock": {call: unix.SYS_LANDLOCK_CREATE_RULESET, errno: unix.EOPNOTSUPP},
	"no seccomp":        {call: unix.SYS_SECCOMP, errno: unix.EINVAL},
	"rule":              {call: unix.SYS_LANDLOCK_ADD_RULE, errno: unix.EINVAL},
	"restrict":          {call: unix.SYS_LANDLOCK_RESTRICT_SELF, errno: unix.E2BIG},
	"filter":            {unix.SYS_SECCOMP, unix.EINVAL, []condition{argIs(0, unix.SECCOMP_SET_MODE_FILTER)}},
	"privileges":        {unix.SYS_PRCTL, unix.EINVAL, []condition{argIs(0, unix.PR_SET_NO_NEW_PRIVS)}},
	"descriptors":       {call: unix.SYS_CLOSE_RANGE, errno: unix.ENOSYS},
}

// simulateKernel makes this thread, and the program it becomes, see another kernel: an older
// version of Landlock, or one of failures.
func simulateKernel(name string) error {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if failure, ok := failures[name]; ok {
		_, err := installFilter(compileFilter([]refusal{failure}), 0)
		return err
	}
	version, err := strconv.Atoi(name)
	if err != nil {
		return err
	}
	listener, err := installFilter([]unix.SockFilter{
		loadWord(dataCall),
		jumpEqual(unix.SYS_LANDLOCK_CREATE_RULESET, 1, 0),
		jumpEqual(unix.SYS_LANDLOCK_RESTRICT_SELF, 0, 1),
		returnAction(unix.SECCOMP_RET_USER_NOTIF),
		returnAction(unix.SECCOMP_RET_ALLOW),
	}, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	if err == nil {
		go answerCalls(listener, version)
	}
	return err
}

func installFilter(filter []unix.SockFilter, flags uintptr) (listener uintptr, err error) {
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	listener, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return 0, errno
	}
	return listener, nil
}

// answerCalls answers a thread's calls of Landlock as a kernel with an older version does, until
// the thread executes a program.
func answerCalls(listener uintptr, version int) {
	for {
		// struct seccomp_notif and seccomp_notif_resp in linux/seccomp.h
		var call struct {
			id         uint64
			pid, flags uint32
			number     int32
			arch       uint32
			pointer    uint64
			args       [6]uint64
		}
		var answer struct {
			id    uint64
			value int64
			errno int32
			flags uint32
		}
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, listener, unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&call))); errno != 0 {
			fmt.Fprintln(os.Stderr, "receive a call:", errno)
			os.Exit(1)
		}
		answer.id = call.id
		switch isRuleset := call.number == unix.SYS_LANDLOCK_CREATE_RULESET; {
		case isRuleset && call.args[2] == unix.LANDLOCK_CREATE_RULESET_VERSION:
			answer.value = int64(version)
		case isRuleset && !knowsRights(version, uintptr(call.args[0])), !isRuleset && call.args[1] != 0 && version < landlockLog:
			answer.errno = -int32(unix.EINVAL)
		default:
			answer.flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
		}
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, listener, unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&answer))); errno != 0 {
			fmt.Fprintln(os.Stderr, "answer a call:", errno)
			os.Exit(1)
		}
	}
}

// knowsRights reports whether a version of Landlock can handle the rights in this process's memory.
func knowsRights(version int, address uintptr) bool {
	var attr unix.LandlockRulesetAttr
	size := int(unsafe.Sizeof(attr))
	local := []unix.Iovec{{Base: (*byte)(unsafe.Pointer(&attr)), Len: uint64(size)}}
	n, err := unix.ProcessVMReadv(os.Getpid(), local, []unix.RemoteIovec{{Base: address, Len: size}}, 0)
	files := map[int]uint64{1: 1<<13 - 1, 2: 1<<14 - 1, 3: 1<<15 - 1, 4: 1<<15 - 1}[version]
	if version >= landlockIoctl {
		files = 1<<16 - 1
	}
	return err == nil && n == size && attr.Handled_access_fs&^files == 0 &&
		(version >= landlockTCP || attr.Handled_access_net == 0) &&
		(version >= landlockScopes || attr.Scoped == 0)
}

// onKernel returns the rig's launch on another kernel.
func (r *rig) onKernel(name string) *rig {
	other := *r
	other.own = append(other.own, kernelVariable+"="+name)
	return &other
}

func TestNothingStartsOnAKernelThatCannotConfine(t *testing.T) {
	r := newRig(t)
	for name, want := range map[string]string{
		"no Landlock": "this kernel has no Landlock", "disabled Landlock": "this kernel has no Landlock",
		"1": "Landlock must have version 3 (Linux 6.2); this kernel has version 1", "2": "this kernel has version 2",
		"no seccomp": "system calls cannot be filtered", "filter": "filter system calls",
		"rule": "allow reading", "restrict": "restrict with Landlock", "privileges": "no_new_privs", "descriptors": "close descriptors",
	} {
		r.onKernel(name).wantNoLaunch(want)
	}
	r.profile.Network = &Network{AllowedDomains: []string{"example.org"}}
	r.proxy = "http://u:p@127.0.0.1:1"
	r.onKernel("3").wantNoLaunch("to confine allowedDomains, Landlock must have version 4 (Linux 6.7)")
}

// A kernel that can enforce a profile must keep every promise except those it reports as broken.
func TestOlderKernelKeepsThePromisesItReports(t *testing.T) {
	r := newRig(t)
	victim := strconv.Itoa(r.victim())
	r.proxy = "http://u:p@127.0.0.1:1"
	files := []attack{
		{"read", []string{"read", r.at("secret/key")}, "EACCES", false},
		{"write", []string{"write", r.at("open/file")}, "EACCES", false},
		{"truncate", []string{"truncate", r.at("open/file")}, "EACCES", false},
		{"move out", []string{"rename", r.at("work/file"), r.at("open/moved")}, "EACCES EXDEV", false},
		{"trace", []string{"call", "ptrace-seize", victim}, "EPERM", false},
		{"abstract socket", []string{"abstract", "none"}, "EACCES", false},
		{"work", []string{"write", r.at("work/file")}, "written", false},
	}
	network := []attack{
		{"dial", []string{"dial", "tcp", "127.0.0.1:9"}, "EACCES", false},
		{"listen", []string{"bind", "127.0.0.1:0"}, "EACCES", false},
	}
	for version := landlockTruncate; version <= min(currentKernel().landlock, landlockLog); version++ {
		older := r.onKernel(strconv.Itoa(version))
		signal := attack{"signal", []string{"kill0", victim}, "EPERM", false}
		if slices.ContainsFunc(kernel{landlock: version}.promises(), func(p Promise) bool { return p.Name == "No signal reaches a process outside" && !p.Holds }) {
			signal.refused = "reached"
		}
		older.wantRefused(append(files, signal))
		older.profile.Network = &Network{}
		older.wantRefused(append(files, network...))
		if version >= landlockTCP {
			older.profile.Network = &Network{AllowedDomains: []string{"example.org"}}
			older.wantRefused(append(files, network...))
		}
	}
}

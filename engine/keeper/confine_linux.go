package keeper

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Apply holds the calling thread, and what it forks and executes from then on, to
// a confinement. files become the standard input, output and error. What was
// applied before an error stays.
func (c *Confinement) Apply(files [3]int) error {
	e, err := c.entry(files)
	if err != nil {
		return err
	}
	if at, errno := e.enter(); errno != 0 {
		return fmt.Errorf("%s: %w", at, errno)
	}
	return nil
}

// An entry is a confinement made ready, so that system calls are all that is left.
type entry struct {
	rulesets []int
	flags    uintptr
	keep     uint64
	header   unix.CapUserHeader
	caps     [2]unix.CapUserData // after it
	drop     bool                // there are any: most processes have none
	filter   []unix.SockFilter
	program  unix.SockFprog
}

// entry grants in the rulesets what is open, and makes the rest ready.
func (c *Confinement) entry(files [3]int) (*entry, error) {
	if len(c.Rulesets) == 0 {
		return nil, errors.New("no Landlock ruleset was given")
	}
	filter, err := parseFilter(c.Filter)
	if err != nil {
		return nil, err
	}
	e := &entry{
		rulesets: c.Rulesets, flags: uintptr(c.Flags), keep: c.Keep, header: unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3},
		filter: filter, program: unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]},
	}
	for _, set := range c.Rulesets {
		if err := c.allow(set, files); err != nil {
			return nil, err
		}
	}
	if err := unix.Capget(&e.header, &e.caps[0]); err != nil {
		return nil, fmt.Errorf("read capabilities: %w", err)
	}
	e.drop = e.caps[0].Permitted|e.caps[1].Permitted != 0
	for i := range e.caps {
		mask := uint32(c.Keep >> (32 * i))
		e.caps[i].Permitted &= mask
		e.caps[i].Effective &= mask
		e.caps[i].Inheritable = 0
	}
	return e, nil
}

// allow grants in a ruleset what standard files are open for already: some
// programs open them again by name.
func (c *Confinement) allow(ruleset int, files [3]int) error {
	for _, fd := range files {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil {
			continue
		}
		var access uint64
		if flags&unix.O_ACCMODE != unix.O_RDONLY {
			access = c.Write
		}
		if flags&unix.O_ACCMODE != unix.O_WRONLY {
			access |= c.Read
		}
		if access == 0 {
			continue
		}
		rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)}
		_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
		if errno != 0 && errno != unix.EBADFD { // pipes and what else has no path cannot have a rule, and need none
			return fmt.Errorf("allow opening of descriptor %d: %w", fd, errno)
		}
	}
	return nil
}

// parseFilter takes the program of a filter apart.
func parseFilter(program []byte) ([]unix.SockFilter, error) {
	const size, most = int(unsafe.Sizeof(unix.SockFilter{})), 4096 // BPF_MAXINSNS of linux/bpf_common.h
	n := len(program) / size
	if n == 0 || n > most || len(program)%size != 0 {
		return nil, fmt.Errorf("%d bytes are not a filter of system calls", len(program))
	}
	filter := make([]unix.SockFilter, n)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&filter[0])), len(program)), program)
	return filter, nil
}

// A step is what a child does before it becomes its program.
type step int

const (
	stepSession step = iota
	stepTerminal
	stepFolder
	stepFiles
	stepLimit
	stepCapabilities
	stepPrivileges
	stepLandlock
	stepFilter
	stepExecute
)

func (s step) String() string {
	return [...]string{
		"begin a session", "take the terminal", "change to the working directory", "arrange standard files", "restore the limit of open files",
		"drop capabilities", "set no_new_privs", "restrict with Landlock", "filter system calls", "execute",
	}[s]
}

// enter applies an entry to the calling thread; it tells which step has failed. It
// is called in a forked child too: see fork.
//
//go:norace
//go:nosplit
func (e *entry) enter() (step, syscall.Errno) {
	if e.drop {
		if errno := e.dropCapabilities(); errno != 0 {
			return stepCapabilities, errno
		}
	}
	if _, _, errno := syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		return stepPrivileges, errno
	}
	for _, set := range e.rulesets {
		if _, _, errno := syscall.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(set), e.flags, 0); errno != 0 {
			return stepLandlock, errno
		}
	}
	_, _, errno := syscall.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&e.program)))
	return stepFilter, errno
}

// dropCapabilities takes all but those to keep, also the ones that a program of
// root's would get back when executed.
//
//go:norace
//go:nosplit
func (e *entry) dropCapabilities() syscall.Errno {
	for capability := uintptr(0); capability < 64; capability++ {
		if e.keep&(1<<capability) != 0 {
			continue
		}
		_, _, errno := syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, capability, 0, 0, 0, 0)
		if errno == unix.EINVAL {
			break // the kernel has no more
		}
		// Without CAP_SETPCAP no_new_privs has to do: nothing is gained then
		// that is not held already.
		if errno != 0 && errno != unix.EPERM {
			return errno
		}
	}
	if _, _, errno := syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0, 0); errno != 0 {
		return errno
	}
	_, _, errno := syscall.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&e.header)), uintptr(unsafe.Pointer(&e.caps)), 0)
	return errno
}

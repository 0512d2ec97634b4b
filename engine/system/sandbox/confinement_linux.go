//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A confinement is the result of layers for one start. It must be closed.
type confinement struct {
	sets   []*ruleset
	flags  uintptr // of landlock_restrict_self(2)
	filter []unix.SockFilter
}

func (c *confinement) close() { closeAll(c.sets) }

// confinement prepares everything that confines a process about to start, except limits. It lists
// directories as they are now, so the result is for one start only. proxyURL is the URL of the
// process's proxy, unless the layers need none; guarded is as in Check.
func (l Layers) confinement(proxyURL string, guarded ...string) (*confinement, error) {
	k := currentKernel()
	if err := k.check(l); err != nil {
		return nil, err
	}
	port, err := proxyPort(l, proxyURL)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	sets, err := rulesFor(l, k, port, guarded)
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	filter := compileFilter(refusalsFor(l.network(), k, specialModes(os.Geteuid() == 0)))
	return &confinement{sets: sets, flags: logFlags(k), filter: filter}, nil
}

// logFlags makes the kernel log refusals of the program, on kernels that can.
func logFlags(k kernel) uintptr {
	if k.landlock < landlockLog {
		return 0
	}
	return unix.LANDLOCK_RESTRICT_SELF_LOG_NEW_EXEC_ON
}

func proxyPort(l Layers, proxyURL string) (uint16, error) {
	if !l.NeedsProxy() {
		return 0, nil
	}
	address, _, ok := splitURL(proxyURL)
	_, text, err := net.SplitHostPort(address)
	port, convErr := strconv.ParseUint(text, 10, 16)
	if !ok || err != nil || convErr != nil || port == 0 {
		return 0, errors.New("allowedDomains needs the engine's proxy, and its address was not given")
	}
	return uint16(port), nil
}

// apply confines the calling thread, and everything it forks or executes, permanently. After an
// error the thread is partly confined.
func (c *confinement) apply() error {
	for _, set := range c.sets {
		if err := set.allowStandardFiles(); err != nil {
			return err
		}
	}
	if err := dropCapabilities(keptCapabilities()); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	// Without privileges, Landlock and seccomp both demand no_new_privs.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	for _, set := range c.sets {
		if err := set.restrict(c.flags); err != nil {
			return err
		}
	}
	program := unix.SockFprog{Len: uint16(len(c.filter)), Filter: &c.filter[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return fmt.Errorf("filter system calls: %w", errno)
	}
	return nil
}

// allowStandardFiles grants the access standard input, output and error are open for, because some
// programs open them again by name.
func (r *ruleset) allowStandardFiles() error {
	for fd := range 3 {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil {
			continue
		}
		var access uint64
		if flags&unix.O_ACCMODE != unix.O_RDONLY {
			access = deviceWrite
		}
		if flags&unix.O_ACCMODE != unix.O_WRONLY {
			access |= unix.LANDLOCK_ACCESS_FS_READ_FILE
		}
		err = r.allowFD(fd, access)
		if err != nil && err != unix.EBADFD { // pipes and other files without a path need no rule
			return fmt.Errorf("allow reopening descriptor %d: %w", fd, err)
		}
	}
	return nil
}

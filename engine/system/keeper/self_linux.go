package keeper

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// detachProcess separates the process from its starter, which it outlives: descriptors, session and
// working directory.
func detachProcess(o Options, r *readiness) error {
	if err := closeInherited(r); err != nil {
		return err
	}
	if err := redirectOutput(filepath.Join(o.DataDir, "engine.log")); err != nil {
		return err
	}
	// Setsid fails for the leader of a process group, which its parent made on purpose.
	_, _ = unix.Setsid()
	// Started through /proc/self/exe, the process would be called exe.
	_ = os.WriteFile("/proc/self/comm", []byte("tandem-keeper"), 0)
	if err := os.Chdir("/"); err != nil {
		return fmt.Errorf("change to /: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	return nil
}

// closeInherited closes inherited descriptors other than the standard files and r: an inherited
// pipe kept open here would block its reader forever. Go opens files close-on-exec, so descriptors
// without that flag were inherited.
func closeInherited(r *readiness) error {
	if err := r.moveDescriptor(); err != nil {
		return err
	}
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("list own descriptors: %w", err)
	}
	for _, name := range names {
		fd, err := strconv.Atoi(name.Name())
		if err != nil || fd < 3 {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 {
			closeFD(fd)
		}
	}
	return nil
}

// moveDescriptor duplicates the readiness pipe to a close-on-exec descriptor.
func (r *readiness) moveDescriptor() error {
	f, ok := r.out.(*os.File)
	if !ok {
		return nil
	}
	fd, err := dupFD(int(f.Fd()))
	if err != nil {
		return fmt.Errorf("duplicate readiness pipe: %w", err)
	}
	if f.Fd() > 2 {
		_ = f.Close()
	}
	r.out = os.NewFile(uintptr(fd), f.Name())
	return nil
}

// redirectOutput sends the runtime's output on a crash to the log.
func redirectOutput(log string) error {
	null, err := openFD("/dev/null", unix.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("open /dev/null: %w", err)
	}
	defer closeFD(null)
	out, err := openFD(log, unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT, 0o600)
	if err != nil {
		return fmt.Errorf("open log: %s: %w", log, err)
	}
	defer closeFD(out)
	for fd, to := range []int{null, out, out} {
		if err := unix.Dup3(to, fd, 0); err != nil {
			return fmt.Errorf("redirect standard files: %w", err)
		}
	}
	return nil
}

// adoptSignals handles all signals this process ignores, so that children do not inherit that:
// Go's fork resets only handled signals.
func adoptSignals() (reap, stop chan os.Signal, err error) {
	ignored, err := ignoredSignals()
	if err != nil {
		return nil, nil, err
	}
	reap, stop = make(chan os.Signal, 1), make(chan os.Signal, 16)
	signal.Notify(reap, syscall.SIGCHLD)
	signal.Notify(stop, append(ignored, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)...)
	return reap, stop, nil
}

// withSignalsUnblocked runs f with no signal blocked, since a child inherits the mask of the forking thread.
// It then restores the thread's mask.
func withSignalsUnblocked(f func()) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var none, own unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &none, &own); err != nil {
		return fmt.Errorf("clear signal mask: %w", err)
	}
	f()
	return unix.PthreadSigmask(unix.SIG_SETMASK, &own, nil)
}

// ignoredSignals returns the signals this process was started to ignore.
func ignoredSignals() ([]os.Signal, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil, fmt.Errorf("read ignored signals: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		hex, ok := strings.CutPrefix(line, "SigIgn:")
		if !ok {
			continue
		}
		mask, err := strconv.ParseUint(strings.TrimSpace(hex), 16, 64)
		if err != nil {
			return nil, fmt.Errorf("read ignored signals: %w", err)
		}
		return signalsOf(mask), nil
	}
	return nil, nil
}

// signalsOf returns the signals in a mask, in the format of proc_pid_status(5).
func signalsOf(mask uint64) (list []os.Signal) {
	for ; mask != 0; mask &= mask - 1 {
		list = append(list, syscall.Signal(bits.TrailingZeros64(mask)+1))
	}
	return list
}

// limitMemory trades speed, which the keeper does not need, for memory.
func limitMemory() (restore func()) {
	percent := debug.SetGCPercent(50)
	limit := debug.SetMemoryLimit(32 << 20) // returns the memory of a large message to the system
	procs := runtime.GOMAXPROCS(1)          // more threads would cost more than they help
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
		runtime.GOMAXPROCS(procs)
	}
}

func releaseMemory() { debug.FreeOSMemory() }

// spareDescriptors is the number of descriptors reserved for exit files and for starting an
// engine.
const spareDescriptors = 48

// checkDescriptors returns an error if there are too few descriptors for another child, either here or in a
// later keeper that adopts all children: that needs a pidfd for each, and a master for each
// terminal.
func (k *keeper) checkDescriptors(spec *Spec) error {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return nil
	}
	need := spareDescriptors + descriptorsOf(spec.TTY)
	for _, c := range k.byPID {
		need += descriptorsOf(c.TTY)
	}
	if fd, err := dupFD(0); err == nil && uint64(fd)+spareDescriptors/2 < limit.Cur && uint64(need) <= limit.Cur {
		closeFD(fd)
		return nil
	} else if err == nil {
		closeFD(fd)
	}
	return fmt.Errorf("the keeper may have %d open files, and its %d sessions and processes need them all", limit.Cur, len(k.byPID))
}

func descriptorsOf(tty bool) int {
	if tty {
		return 2
	}
	return 1
}

// retryDescriptor calls open until it succeeds or fails for another reason than a lack of
// descriptors. Starting a process briefly needs extra descriptors, so a shortage usually passes.
// After about five seconds, retryDescriptor gives up and returns the last error.
func retryDescriptor(open func() error) error {
	const retryInterval, maxTries = 10 * time.Millisecond, 500
	for try := 0; ; try++ {
		err := open()
		scarce := errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE)
		if !scarce || try == maxTries {
			return err
		}
		time.Sleep(retryInterval)
	}
}

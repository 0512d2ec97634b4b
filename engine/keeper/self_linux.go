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

// detach cuts the process loose from whoever started it: descriptors, session,
// working directory. The keeper outlives them all.
func detach(o Options, r *readiness) error {
	if err := closeInherited(r); err != nil {
		return err
	}
	if err := redirect(filepath.Join(o.DataDir, "engine.log")); err != nil {
		return err
	}
	// Fails for the leader of a group, whom its parent has put there on purpose.
	_, _ = unix.Setsid()
	// Started through /proc/self/exe it would be called exe.
	_ = os.WriteFile("/proc/self/comm", []byte("tandem-keeper"), 0)
	if err := os.Chdir("/"); err != nil {
		return fmt.Errorf("change to /: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become subreaper: %w", err)
	}
	return nil
}

// closeInherited closes what this process got at its start besides the standard
// files and r: a pipe held open here would keep its reader waiting for ever. Go
// opens everything close-on-exec, so what is not so came from outside.
func closeInherited(r *readiness) error {
	if err := r.move(); err != nil {
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

// move takes the readiness pipe off an inherited descriptor.
func (r *readiness) move() error {
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

// redirect sends what the runtime may print on a crash to the log.
func redirect(log string) error {
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

// adoptSignals takes every signal that a child must not inherit as ignored: Go's
// fork resets those that are handled.
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

// unblocked runs f with no signal blocked, since a child inherits the mask of
// the thread that forks. The thread gets its own mask back.
func unblocked(f func()) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var none, own unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &none, &own); err != nil {
		return fmt.Errorf("clear signal mask: %w", err)
	}
	f()
	return unix.PthreadSigmask(unix.SIG_SETMASK, &own, nil)
}

// ignoredSignals reads which signals this process was started to ignore.
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

// signalsOf lists the signals of a mask, as proc_pid_status(5) prints them.
func signalsOf(mask uint64) (list []os.Signal) {
	for ; mask != 0; mask &= mask - 1 {
		list = append(list, syscall.Signal(bits.TrailingZeros64(mask)+1))
	}
	return list
}

// limitMemory trades a little speed, of which the keeper needs none, for a small
// process.
func limitMemory() (restore func()) {
	percent := debug.SetGCPercent(50)
	limit := debug.SetMemoryLimit(32 << 20) // returns what a large message took
	procs := runtime.GOMAXPROCS(1)          // what is woken to help costs more than it does
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
		runtime.GOMAXPROCS(procs)
	}
}

// releaseMemory gives back what the keeper does not need while it only waits.
func releaseMemory() { debug.FreeOSMemory() }

// spareDescriptors is how many no child takes: they are for exit files, for the
// engine and for starting another one.
const spareDescriptors = 48

// room says whether there are descriptors for another child, here and in a keeper
// that would have to adopt all of them: that needs a pidfd of each, and the master
// of each terminal.
func (k *keeper) room(spec *Spec) error {
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
	return fmt.Errorf("the keeper may have %d open files, which %d sessions and processes need", limit.Cur, len(k.byPID))
}

func descriptorsOf(tty bool) int {
	if tty {
		return 2
	}
	return 1
}

// retryDescriptor opens a file with a function, and tries again while there is no
// descriptor for it: starts need some only for a moment.
func retryDescriptor(open func() error) error {
	const pause, most = 10 * time.Millisecond, 500
	for try := 0; ; try++ {
		err := open()
		scarce := errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE)
		if !scarce || try == most {
			return err
		}
		time.Sleep(pause)
	}
}

package keeper

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Program is what ForkExec starts.
type Program struct {
	Path  string
	Argv  []string
	Env   []string
	Dir   int    // descriptor of its working directory
	Files [3]int // become standard input, output and error; none is below 3
	TTY   bool   // standard input is its terminal
	// Cgroup is a descriptor of the cgroup to begin in, if the kernel lets it; -1: as here.
	Cgroup int
	// OpenFiles is the soft limit of open files that it gets; 0: as here.
	OpenFiles uint64
	// Umask is the file mode creation mask that it gets; nil: as here.
	Umask *int
}

// ForkExec starts a program in a session of its own, confined unless c is nil, and gives
// its pid. The child confines itself between fork and exec, for which syscall.ForkExec
// leaves no room. Nobody else is ever held to what it is: to a thread here that
// was confined so that it could fork from it, the child could attach a debugger or
// send signals for as long as the thread lives, since Landlock lets that happen
// between those whom it holds to the same.
//
// Nothing was started if there is an error. It is a syscall.Errno if the program
// could not be executed.
func (c *Confinement) ForkExec(p Program) (pid int, err error) {
	what := "confine it"
	if c == nil {
		what = "prepare it"
	}
	f, err := c.prepareFork(p)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	syscall.ForkLock.Lock()
	id, errno := f.start()
	syscall.ForkLock.Unlock()
	if errno != 0 {
		return 0, fmt.Errorf("fork: %w", errno)
	}
	if f.errno == 0 {
		return id, nil
	}
	for err = unix.EINTR; err == unix.EINTR; {
		_, err = syscall.Wait4(id, nil, 0, nil)
	}
	if f.failed == stepExecute {
		return 0, f.errno
	}
	return 0, fmt.Errorf("%s: %s: %w", what, f.failed, f.errno)
}

// A forking is all that a child needs until it becomes its program.
type forking struct {
	path       *byte
	argv, envp []*byte
	dir        uintptr
	files      [3]uintptr
	tty        bool
	limit      unix.Rlimit
	setLimit   bool
	entry      *entry // nil: not confined
	umask      uintptr
	setUmask   bool
	clone      cloneArgs // 0: begins in the keeper's cgroup
	none       [32]byte  // struct sigaction of SIG_DFL, and an empty set of signals

	failed step // told by the child
	errno  syscall.Errno
}

// cloneArgs is struct clone_args of linux/sched.h, as of Linux 5.7.
type cloneArgs struct {
	flags, pidfd, childTID, parentTID, exitSignal, stack, stackSize, tls, setTID, setTIDSize, cgroup uint64
}

func (c *Confinement) prepareFork(p Program) (*forking, error) {
	f := &forking{dir: uintptr(p.Dir), tty: p.TTY}
	if f.setUmask = p.Umask != nil; f.setUmask {
		f.umask = uintptr(*p.Umask)
	}
	var err error
	if c != nil {
		if f.entry, err = c.entry(p.Files); err != nil {
			return nil, err
		}
	}
	if p.Cgroup >= 0 {
		f.clone = cloneArgs{flags: unix.CLONE_VM | unix.CLONE_VFORK | unix.CLONE_INTO_CGROUP, exitSignal: uint64(unix.SIGCHLD), cgroup: uint64(p.Cgroup)}
	}
	for i, fd := range p.Files {
		if fd < 3 {
			return nil, fmt.Errorf("descriptor %d cannot become a standard file", fd)
		}
		f.files[i] = uintptr(fd)
	}
	if f.path, err = syscall.BytePtrFromString(p.Path); err != nil {
		return nil, err
	}
	if f.argv, err = syscall.SlicePtrFromStrings(p.Argv); err != nil {
		return nil, err
	}
	if f.envp, err = syscall.SlicePtrFromStrings(p.Env); err != nil {
		return nil, err
	}
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &f.limit); err != nil {
		return nil, err
	}
	if p.OpenFiles != 0 && p.OpenFiles < f.limit.Cur {
		f.limit.Cur, f.setLimit = p.OpenFiles, true
	}
	return f, nil
}

// start forks with all signals blocked: Go's handlers must not run in the child.
func (f *forking) start() (pid int, errno syscall.Errno) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, own unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &own); err != nil {
		return 0, err.(syscall.Errno)
	}
	if f.clone.flags != 0 {
		pid, errno = f.fork(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&f.clone)), unsafe.Sizeof(f.clone))
	}
	if pid == 0 { // no cgroup, or the kernel does not let it begin there
		pid, errno = f.fork(unix.SYS_CLONE, unix.CLONE_VM|unix.CLONE_VFORK|uintptr(unix.SIGCHLD), 0)
	}
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &own, nil)
	return pid, errno
}

// vfork makes a child that has this process's memory for its own, and holds up this
// thread until the child has become its program or ended. call is clone(2) or
// clone3(2), with its first two arguments and no others. What it returns is
// returned twice.
//
//go:noescape
func vfork(call, first, second uintptr) (result uintptr)

// fork returns in the parent alone. In the child there is nothing of Go's runtime
// but this thread's stack: what it does must not allocate, grow the stack, store a
// pointer or be looked at by the race detector.
//
//go:norace
//go:noinline
//go:nocheckptr
func (f *forking) fork(call, first, second uintptr) (pid int, errno syscall.Errno) {
	result := vfork(call, first, second)
	if result != 0 {
		if result > ^uintptr(4095) {
			return 0, syscall.Errno(-result)
		}
		return int(result), 0
	}
	f.failed, f.errno = f.become()
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, 253, 0, 0)
	}
}

// become is what the child does. It returns only if something has failed.
//
//go:norace
//go:nosplit
//go:nocheckptr
func (f *forking) become() (step, syscall.Errno) {
	for signal := uintptr(1); signal <= 64; signal++ { // there is no handler any more when they are let in
		syscall.RawSyscall6(unix.SYS_RT_SIGACTION, signal, uintptr(unsafe.Pointer(&f.none)), 0, 8, 0, 0)
	}
	if _, _, errno := syscall.RawSyscall(unix.SYS_SETSID, 0, 0, 0); errno != 0 {
		return stepSession, errno
	}
	if f.tty {
		if _, _, errno := syscall.RawSyscall(unix.SYS_IOCTL, f.files[0], unix.TIOCSCTTY, 0); errno != 0 {
			return stepTerminal, errno
		}
	}
	if _, _, errno := syscall.RawSyscall(unix.SYS_FCHDIR, f.dir, 0, 0); errno != 0 {
		return stepFolder, errno
	}
	for i := range f.files {
		if _, _, errno := syscall.RawSyscall(unix.SYS_DUP3, f.files[i], uintptr(i), 0); errno != 0 {
			return stepFiles, errno
		}
	}
	if f.setLimit {
		if _, _, errno := syscall.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, uintptr(unsafe.Pointer(&f.limit)), 0, 0, 0); errno != 0 {
			return stepLimit, errno
		}
	}
	if f.setUmask {
		syscall.RawSyscall(unix.SYS_UMASK, f.umask, 0, 0)
	}
	if f.entry != nil {
		if at, errno := f.entry.enter(); errno != 0 {
			return at, errno
		}
	}
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&f.none)), 0, 8, 0, 0)
	_, _, errno := syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(f.path)), uintptr(unsafe.Pointer(&f.argv[0])), uintptr(unsafe.Pointer(&f.envp[0])))
	return stepExecute, errno
}

// readAll reads until the end, or until b is full.
func readAll(fd int, b []byte) (n int) {
	for n < len(b) {
		got, err := unix.Read(fd, b[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || got == 0 {
			break
		}
		n += got
	}
	return n
}

// softLimit asks a shell for the limit of open files that children get: Go's
// runtime has raised our own before anybody could look, and ForkExec of package
// syscall alone knows what it was. 0 is unknown, or none.
func softLimit() uint64 {
	null, err := openFD("/dev/null", unix.O_RDWR, 0)
	if err != nil {
		return 0
	}
	defer closeFD(null)
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return 0
	}
	defer closeFD(pipe[0])
	_, err = syscall.ForkExec("/bin/sh", []string{"sh", "-c", "ulimit -Sn"}, &syscall.ProcAttr{
		Files: []uintptr{uintptr(null), uintptr(pipe[1]), uintptr(null)}, // whoever reaps every child reaps it
	})
	closeFD(pipe[1])
	if err != nil {
		return 0
	}
	var answer [32]byte
	limit, _ := strconv.ParseUint(strings.TrimSpace(string(answer[:readAll(pipe[0], answer[:])])), 10, 64)
	return limit
}

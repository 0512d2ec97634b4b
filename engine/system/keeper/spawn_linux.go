package keeper

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// A launch contains everything for one fork, opened and checked beforehand, so that the fork does
// not wait for a disk.
type launch struct {
	path  string
	argv  []string
	env   []string
	dir   string
	files [3]int // become stdin, stdout and stderr of the child
	tty   bool
	group int   // cgroup to start in, or -1
	keep  []int // further descriptors to close
}

// prepare opens and checks everything named in a spec. It returns the PTY master, or -1.
func prepare(s Spec) (*launch, int, error) {
	l, master, err := prepareSpec(s)
	if err != nil {
		name := s.ID
		if len(s.Argv) > 0 {
			name = s.Argv[0]
		}
		return nil, -1, startError(name, err)
	}
	return l, master, nil
}

func prepareSpec(s Spec) (*launch, int, error) {
	if err := checkSpec(s); err != nil {
		return nil, -1, err
	}
	if s.CWD == "" {
		s.CWD = "/"
	}
	l := &launch{argv: s.Argv, env: s.Env, tty: s.TTY, files: [3]int{-1, -1, -1}, group: openGroup(s.Cgroup)}
	if l.group >= 0 {
		l.keep = append(l.keep, l.group)
	}
	master, err := l.open(s)
	if err != nil {
		l.close()
		return nil, -1, err
	}
	return l, master, nil
}

func checkSpec(s Spec) error {
	if s.ID == "" {
		return errors.New("no id given")
	}
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		return errors.New("no command given")
	}
	if s.Confinement != nil { // the engine did not check whether this keeper confines
		return errors.New("this keeper does not confine programs")
	}
	if !filepath.IsAbs(s.Dir) {
		return fmt.Errorf("folder %q is not an absolute path", s.Dir)
	}
	for _, a := range s.Argv {
		if strings.IndexByte(a, 0) >= 0 {
			return errors.New("argument holds a NUL byte")
		}
	}
	for _, e := range s.Env {
		if strings.IndexByte(e, 0) >= 0 {
			name, _, _ := strings.Cut(e, "=")
			return fmt.Errorf("environment variable %q holds a NUL byte", name)
		}
	}
	return nil
}

func (l *launch) open(s Spec) (master int, err error) {
	if err := l.openDir(s.CWD); err != nil {
		return -1, err
	}
	if l.path = s.Path; l.path == "" {
		if l.path, err = LookPath(s.Argv[0], s.CWD, s.Env); err != nil {
			return -1, err
		}
	}
	if s.TTY {
		return l.openTTY(s.Cols, s.Rows)
	}
	return -1, l.openFiles(s)
}

// openDir opens the working directory: a hanging mount blocks here, not in the fork.
func (l *launch) openDir(dir string) error {
	fd, err := openFD(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return fmt.Errorf("working directory %s: %w", dir, err)
	}
	l.keep = append(l.keep, fd)
	l.dir = fmt.Sprintf("/proc/self/fd/%d", fd)
	if err := unix.Access(l.dir, unix.X_OK); err != nil {
		return fmt.Errorf("working directory %s: %w", dir, err)
	}
	return nil
}

func (l *launch) openTTY(cols, rows uint16) (master int, err error) {
	if cols == 0 {
		cols = 80
	}
	if rows == 0 {
		rows = 24
	}
	ptmx, tty, err := pty.Open()
	if err != nil {
		return -1, fmt.Errorf("open terminal: %w", err)
	}
	defer ptmx.Close()
	defer tty.Close()
	size := pty.Winsize{Cols: cols, Rows: rows, X: 10 * cols, Y: 20 * rows} // the engine's default cell size
	if err := pty.Setsize(ptmx, &size); err != nil {
		return -1, fmt.Errorf("set size of terminal: %w", err)
	}
	// Fd makes the terminal blocking again, as programs expect.
	slave, err := dupFD(int(tty.Fd()))
	if err != nil {
		return -1, fmt.Errorf("open terminal: %w", err)
	}
	l.files = [3]int{slave, slave, slave}
	if master, err = dupFD(int(ptmx.Fd())); err != nil {
		return -1, fmt.Errorf("open terminal: %w", err)
	}
	return master, nil
}

func (l *launch) openFiles(s Spec) (err error) {
	if l.files[0], err = openInput(s.Stdin); err != nil {
		return fmt.Errorf("open input: %w", err)
	}
	for i, path := range []string{s.Stdout, s.Stderr} {
		if l.files[1+i], err = openOutput(path); err != nil {
			return fmt.Errorf("open output %s: %w", path, err)
		}
	}
	return nil
}

// openInput opens a FIFO for reading and writing: the child then sees no end of file when a writer
// closes it, and opening does not block.
func openInput(path string) (int, error) {
	if path == "" {
		return openFD("/dev/null", unix.O_RDONLY, 0)
	}
	return openFD(path, unix.O_RDWR|unix.O_NOCTTY, 0)
}

// openOutput opens a log for appending. If it is a FIFO, it does not wait for a reader.
func openOutput(path string) (int, error) {
	if path == "" {
		return openFD("/dev/null", unix.O_WRONLY, 0)
	}
	fd, err := openFD(path, unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT|unix.O_NOCTTY|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return -1, err
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		closeFD(fd)
		return -1, err
	}
	return fd, nil
}

// openGroup opens a cgroup. It returns -1 if that fails; the child then starts in the keeper's
// cgroup.
func openGroup(path string) int {
	if path == "" {
		return -1
	}
	fd, err := openFD(path, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return -1
	}
	return fd
}

func openFD(path string, flags int, mode uint32) (int, error) {
	for {
		fd, err := unix.Open(path, flags|unix.O_CLOEXEC, mode)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

func (l *launch) close() {
	closeFDs(l.keep)
	closeFD(l.files[0])
	if !l.tty {
		closeFD(l.files[1])
		closeFD(l.files[2])
	}
}

// fork starts the process and returns its pid. Go's ForkExec resets signals handled by the
// runtime; see adoptSignals for the others.
func (l *launch) fork() (pid int, err error) {
	if maskErr := withSignalsUnblocked(func() { pid, err = l.forkExec() }); err == nil && pid == 0 {
		err = maskErr
	}
	if err == nil {
		raiseOOMScore(pid)
	}
	return pid, err
}

// childOOMScore returns the oom_score_adj of children: 100 above this process's, and at most 1000. The
// kernel adds it, in thousandths of the machine's memory, to what a process uses, so that it kills
// a child rather than the keeper or the engine when memory runs out.
func childOOMScore() ([]byte, error) {
	own, err := os.ReadFile("/proc/self/oom_score_adj")
	if err != nil {
		return nil, err
	}
	score, err := strconv.Atoi(strings.TrimSpace(string(own)))
	return strconv.AppendInt(nil, int64(min(score+100, 1000)), 10), err
}

// raiseOOMScore sets a child's oom_score_adj right after execve(2): Go runs nothing between fork and
// execve. A program of another user keeps the keeper's.
func raiseOOMScore(pid int) {
	score, err := childOOMScore()
	if err != nil {
		return // the child keeps the keeper's
	}
	fd, err := openFD(fmt.Sprintf("/proc/%d/oom_score_adj", pid), unix.O_WRONLY, 0)
	if err != nil {
		return
	}
	_, _ = unix.Write(fd, score) // fails only if the child has exited
	closeFD(fd)
}

func (l *launch) forkExec() (int, error) {
	attr := &syscall.ProcAttr{
		Dir:   l.dir,
		Env:   l.env,
		Files: []uintptr{uintptr(l.files[0]), uintptr(l.files[1]), uintptr(l.files[2])},
		Sys:   &syscall.SysProcAttr{Setsid: true, Setctty: l.tty, Ctty: 0},
	}
	pid, err := 0, error(syscall.ENOSYS)
	if l.group >= 0 {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, l.group
		pid, err = syscall.ForkExec(l.path, l.argv, attr)
	}
	if err != nil && err != syscall.ENOEXEC { // the cgroup may be the reason
		attr.Sys.UseCgroupFD = false
		pid, err = syscall.ForkExec(l.path, l.argv, attr)
	}
	if err == syscall.ENOEXEC {
		pid, err = syscall.ForkExec("/bin/sh", shellArgs(l.path, l.argv), attr)
	}
	if err != nil {
		return 0, startError(l.argv[0], explainExecError(l.path, err))
	}
	return pid, nil
}

// shellArgs returns the arguments that make sh run a script without #!, as execvp(3) and shells
// do.
func shellArgs(path string, argv []string) []string {
	return append([]string{"/bin/sh", path}, argv[1:]...)
}

// explainExecError replaces errors of execve(2) by ones the user can act on.
func explainExecError(path string, err error) error {
	switch err {
	case syscall.ENOENT:
		return reasonError{fmt.Errorf("%s exists, but its interpreter does not", path), ProgramNotFound}
	case syscall.E2BIG:
		return errors.New("arguments and environment are too long")
	}
	return fmt.Errorf("%s: %w", path, err)
}

// LookPath finds a command as execvp(3) would in a child started in cwd with env: a name with a
// slash relative to cwd, any other in the PATH of env. It returns ProgramNotFound if there is none.
func LookPath(name, cwd string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		if filepath.IsAbs(name) {
			return name, checkExecutable(name)
		}
		// Not filepath.Join: it would resolve .. before a symbolic link.
		path := cwd + "/" + name
		if err := checkExecutable(path); err != nil {
			return path, fmt.Errorf("%s: %w", path, err)
		}
		return path, nil
	}
	denied := false
	for _, dir := range filepath.SplitList(pathOf(env)) {
		if !filepath.IsAbs(dir) {
			dir = cwd + "/" + dir
		}
		path := dir + "/" + name
		switch err := checkExecutable(path); {
		case err == nil:
			return path, nil
		case errors.Is(err, fs.ErrPermission):
			denied = true
		}
	}
	if denied {
		return "", errors.New("found in PATH, but not executable")
	}
	return "", reasonError{errors.New("executable not found in PATH"), ProgramNotFound}
}

// pathOf returns the first PATH in env, the one getenv(3) returns.
func pathOf(env []string) string {
	for _, e := range env {
		if path, ok := strings.CutPrefix(e, "PATH="); ok {
			return path
		}
	}
	return "/usr/local/bin:/usr/bin:/bin"
}

func checkExecutable(path string) error {
	var st unix.Stat_t
	switch err := unix.Stat(path, &st); err {
	case nil:
	case unix.ENOENT:
		return reasonError{err, ProgramNotFound}
	default:
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return unix.EISDIR
	}
	return unix.Access(path, unix.X_OK)
}

package keeper

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// An engineProgram is how to start an engine. The executable is held open, so
// that it can be started after its file was deleted or replaced.
type engineProgram struct {
	args     []string
	exe      int // descriptor of the executable
	previous int // the one before replace, until the new one has proved itself; else -1
	logPath  string
	logStart int64 // where the running engine's output begins
}

const maxLog = 1 << 20 // bytes of engine.log that a start still appends to

func newEngineProgram(o Options) (engineProgram, error) {
	exe, err := openFD("/proc/self/exe", unix.O_RDONLY, 0)
	if err != nil {
		return engineProgram{}, fmt.Errorf("open own executable: %w", err)
	}
	return engineProgram{
		args:     append([]string{os.Args[0]}, o.Engine...),
		exe:      exe,
		previous: -1,
		logPath:  filepath.Join(o.DataDir, "engine.log"),
	}, nil
}

func (p *engineProgram) close() {
	closeFD(p.exe)
	closeFD(p.previous)
}

// start forks an engine in a session of its own.
func (p *engineProgram) start() (int, error) {
	null, err := openFD("/dev/null", unix.O_RDWR, 0)
	if err != nil {
		return 0, fmt.Errorf("start engine: open /dev/null: %w", err)
	}
	defer closeFD(null)
	out := null
	if log, err := p.openLog(); err == nil {
		defer closeFD(log)
		out = log
	}
	pid, err := syscall.ForkExec(exePath(p.exe), p.args, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{uintptr(null), uintptr(out), uintptr(out)},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("start engine: %w", err)
	}
	return pid, nil
}

// exePath names the executable behind fd: by its own path if that still leads to
// it, so that the process is called as its file is, else through the descriptor.
func exePath(fd int) string {
	through := fmt.Sprintf("/proc/self/fd/%d", fd)
	path, err := os.Readlink(through)
	if err != nil {
		return through
	}
	var held, named unix.Stat_t
	if unix.Fstat(fd, &held) != nil || unix.Stat(path, &named) != nil || held.Dev != named.Dev || held.Ino != named.Ino {
		return through
	}
	return path
}

// openLog opens engine.log for appending, after a big one was put aside, and
// notes where it ends.
func (p *engineProgram) openLog() (int, error) {
	if st, err := os.Stat(p.logPath); err == nil && st.Size() > maxLog {
		// If that fails the log goes on growing, which is the lesser evil.
		_ = os.Rename(p.logPath, p.logPath+".old")
	}
	fd, err := openFD(p.logPath, unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT, 0o600)
	if err != nil {
		return -1, err
	}
	if p.logStart, err = unix.Seek(fd, 0, io.SeekEnd); err != nil {
		closeFD(fd)
		return -1, err
	}
	return fd, nil
}

// logf adds a line to engine.log. There is nobody to tell when that fails.
func (p *engineProgram) logf(format string, args ...any) {
	f, err := os.OpenFile(p.logPath, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintln(f, oneLine(fmt.Sprintf(format, args...)))
}

// lastWords gives the line of the engine's output that tells most: the first of a
// panic, else the last.
func (p *engineProgram) lastWords() string {
	f, err := os.Open(p.logPath)
	if err != nil {
		return ""
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || st.Size() <= p.logStart {
		return ""
	}
	const most = 64 << 10
	start := max(p.logStart, st.Size()-most)
	tail, err := io.ReadAll(io.NewSectionReader(f, start, most))
	if err != nil {
		return ""
	}
	return tellingLine(tail)
}

func tellingLine(out []byte) string {
	last := ""
	for line := range bytes.Lines(out) {
		s := oneLine(string(line))
		if strings.HasPrefix(s, "panic: ") || strings.HasPrefix(s, "fatal error: ") {
			return s
		}
		if s != "" {
			last = s
		}
	}
	return last
}

// oneLine makes s printable and puts it on one line of bounded length.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	const most = 1000
	return strings.TrimSpace(strings.ToValidUTF8(s[:min(len(s), most)], "?"))
}

// replace makes fd the executable, which it takes over if it returns nil.
func (p *engineProgram) replace(fd int) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&0o111 == 0 {
		return errors.New("the new program is not an executable file")
	}
	if p.previous < 0 {
		p.previous = p.exe
	} else {
		closeFD(p.exe) // it never became ready
	}
	p.exe = fd
	return nil
}

// rollBack goes back to the program before replace, if there is one.
func (p *engineProgram) rollBack() bool {
	if p.previous < 0 {
		return false
	}
	closeFD(p.exe)
	p.exe, p.previous = p.previous, -1
	return true
}

// keepNew lets go of the program before replace.
func (p *engineProgram) keepNew() {
	closeFD(p.previous)
	p.previous = -1
}

// kill signals the announced engine, through its pidfd unless its pid is safe
// because it is our child.
func (e *engine) kill(pid int, sig syscall.Signal) error {
	if e.pidfd >= 0 {
		return unix.PidfdSendSignal(e.pidfd, sig, nil, 0)
	}
	return syscall.Kill(pid, sig)
}

// dupOrOpen gives a pidfd of pid that the caller owns, from pidfd if that is one.
func dupOrOpen(pid, pidfd int) (int, error) {
	if pidfd >= 0 {
		return dupFD(pidfd)
	}
	return unix.PidfdOpen(pid, 0)
}

func ownPID() int { return os.Getpid() }

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

// An engineProgram describes how to start an engine. It holds the executable open, so that it can
// start it even after the file was deleted or replaced.
type engineProgram struct {
	args     []string
	exe      int // descriptor of the executable
	previous int // executable before replace, until the new one is ready; otherwise -1
	logPath  string
	logStart int64 // offset of the running engine's first output
}

const maxLog = 1 << 20 // bytes of engine.log at which a start renames it

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

// start starts an engine in a session of its own and returns its pid.
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

// exePath returns a path of the executable open at fd: its own if that still leads to it, so that
// the process gets the file's name, otherwise one in /proc.
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

// openLog renames a large engine.log, opens it for appending and records its end.
func (p *engineProgram) openLog() (int, error) {
	if st, err := os.Stat(p.logPath); err == nil && st.Size() > maxLog {
		// If this fails the log keeps growing, which is better than no log.
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

// logf appends a line to engine.log. It ignores errors.
func (p *engineProgram) logf(format string, args ...any) {
	f, err := os.OpenFile(p.logPath, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintln(f, oneLine(fmt.Sprintf(format, args...)))
}

// lastOutput returns the most informative line of the engine's output: the first of a panic,
// otherwise the last.
func (p *engineProgram) lastOutput() string {
	f, err := os.Open(p.logPath)
	if err != nil {
		return ""
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || st.Size() <= p.logStart {
		return ""
	}
	const maxTail = 64 << 10
	start := max(p.logStart, st.Size()-maxTail)
	tail, err := io.ReadAll(io.NewSectionReader(f, start, maxTail))
	if err != nil {
		return ""
	}
	return informativeLine(tail)
}

func informativeLine(out []byte) string {
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

// oneLine replaces control characters in s and bounds its length.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	const maxLine = 1000
	return strings.TrimSpace(strings.ToValidUTF8(s[:min(len(s), maxLine)], "?"))
}

// setExecutable makes fd the executable. If it returns nil, it owns fd.
func (p *engineProgram) setExecutable(fd int) error {
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

// rollBack restores the program used before the last setExecutable and reports whether there was
// one.
func (p *engineProgram) rollBack() bool {
	if p.previous < 0 {
		return false
	}
	closeFD(p.exe)
	p.exe, p.previous = p.previous, -1
	return true
}

// dropPrevious closes the program kept for rollBack.
func (p *engineProgram) dropPrevious() {
	closeFD(p.previous)
	p.previous = -1
}

// sendSignal sends sig to the announced engine: through its pidfd or, for our child, by its pid, which
// cannot be reused before we reap it.
func (e *engine) sendSignal(pid int, sig syscall.Signal) error {
	if e.pidfd >= 0 {
		return unix.PidfdSendSignal(e.pidfd, sig, nil, 0)
	}
	return syscall.Kill(pid, sig)
}

// dupOrOpen returns a new pidfd for pid: a duplicate of pidfd, unless that is -1.
func dupOrOpen(pid, pidfd int) (int, error) {
	if pidfd >= 0 {
		return dupFD(pidfd)
	}
	return unix.PidfdOpen(pid, 0)
}

func ownPID() int { return os.Getpid() }

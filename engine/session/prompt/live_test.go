package prompt

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	creack "github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tandem/engine/system/pty"
)

// A liveShell is a real shell on a PTY. It records what it receives and prints.
type liveShell struct {
	session *session
	master  *os.File
	cmd     *exec.Cmd
	over    chan struct{} // closed when the shell has exited and all output is shown
	host    string        // the machine's name, which is not recorded

	mu        sync.Mutex
	recording recording
	recorded  observation
}

func startOnPTY(t *testing.T, argv, env []string, dir string) *liveShell {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = env, dir
	opened, err := creack.StartWithSize(cmd, &creack.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.FcntlInt(opened.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	opened.Close()
	// So that closing it ends a read.
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	l := &liveShell{master: os.NewFile(uintptr(fd), "pty"), cmd: cmd, over: make(chan struct{})}
	l.host, _ = os.Hostname()
	t.Cleanup(func() {
		l.master.Close()                              // hangs up
		_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL) // hangups may be ignored
		<-l.over
	})
	return l
}

// follow shows what the shell prints, until it has exited.
func (l *liveShell) follow() {
	defer close(l.over)
	p := make([]byte, 64<<10)
	for {
		n, err := pty.ReadBurst(l.master, p)
		if n > 0 {
			l.note("out", strings.ReplaceAll(string(p[:n]), l.host, "machine"))
			l.session.print(string(p[:n]))
			if text := l.session.takeReplies(); text != "" {
				l.receive(text)
			}
		}
		if err != nil {
			break
		}
	}
	_ = l.cmd.Wait() // its status is in ProcessState
	var words []string
	var code *int
	if n := l.cmd.ProcessState.ExitCode(); n >= 0 {
		code, words = &n, []string{strconv.Itoa(n)}
	}
	l.mu.Lock()
	l.recording = append(l.recording, recorded{"exit", words})
	l.mu.Unlock()
	l.session.exit(code)
}

// receive types into the terminal.
func (l *liveShell) receive(text string) {
	l.noteObservation()
	l.note("type", text)
	if _, err := l.master.WriteString(text); err != nil {
		l.session.t.Error(err)
	}
}

// note records text.
func (l *liveShell) note(verb, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.recording) - 1; n >= 0 && l.recording[n].verb == verb {
		l.recording[n].words[0] += text
		return
	}
	l.recording = append(l.recording, recorded{verb, []string{text}})
}

func (l *liveShell) noteObservation() {
	o := l.observe()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recording = append(l.recording, o.lines(l.recorded)...)
	l.recorded = o
}

// observe returns what the system reports now.
func (l *liveShell) observe() (o observation) {
	pid, programs := l.cmd.Process.Pid, ptyPrograms{l.master}
	o.shell, o.marked = programs.arguments(pid), strings.Contains(programs.environ(pid), NonceVariable+"=")
	o.look, o.signals = programs.inspect(pid), pty.SendsSignal(l.master, []byte{3})
	other := programs.foreground()
	if o.look.Reads {
		other = o.look.PID
	}
	o.look.PID = shellPID
	if other != pid {
		o.look.PID, o.child = childPID, programs.arguments(other)
	}
	return o
}

// settle waits until the shell prints nothing and changes nothing. So the recording does not depend
// on the shell's speed.
func (l *liveShell) settle() {
	var before observation
	var end int64
	for quiet := 0; quiet < 5; quiet++ {
		now := l.observe()
		if len(now.lines(before)) > 0 || l.session.End() != end || end == 0 {
			quiet = 0
		}
		before, end = now, l.session.End()
		select {
		case <-l.over:
			return
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// finish records how the shell is left.
func (l *liveShell) finish(first recorded) recording {
	l.settle()
	select {
	case <-l.over:
	default:
		l.noteObservation()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Insert(l.recording, 0, first)
}

// kill kills the shell.
func (l *liveShell) kill() { _ = l.cmd.Process.Signal(syscall.SIGKILL) }

package hosts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"tandem/engine/base/panics"
	"tandem/engine/remote/hosts/transport"
)

// A personError is returned if only the user can establish a link, for example by entering a
// password.
type personError struct{ asked string }

func (e *personError) Error() string { return e.asked }

// A silentError is returned if a command runs but its bridge sends no greeting.
type silentError struct {
	timeout time.Duration
	shell   bool // the command runs the bridge in a login shell
}

func (e *silentError) Error() string {
	text := fmt.Sprintf("no answer within %v", e.timeout)
	if e.shell {
		text += "; a start-up file of the login shell there waits for input, or keeps printing"
	}
	return text
}

// maxOutput is the number of bytes kept of a program's stderr.
const maxOutput = 8 << 10

// dial starts the command that connects to a machine and waits for the greeting of its bridge. It
// kills a command that prompts the user, and returns a personError.
func (h *Hosts) dial(ctx context.Context, m transport.Machine) (transport.Pipes, transport.Hello, error) {
	c := &command{stderr: &outputTail{}, ending: &h.ending, grace: h.HangupGrace}
	if err := c.start(m.Command(m.Background(h.DataDir), h.environ()), &h.starter); err != nil {
		return transport.Pipes{}, transport.Hello{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, h.DialTimeout)
	defer cancel()
	type greeting struct {
		hello transport.Hello
		err   error
	}
	heard := make(chan greeting, 1)
	go func() {
		g := greeting{err: errors.New("its greeting could not be read")}
		panics.Log(h.Log, "greeting of a machine", func() { g.hello, g.err = transport.ReadHello(c.out, c.stderr) })
		heard <- g
	}()
	// Poll: a prompt is output followed by silence.
	tick := time.NewTicker(h.QuestionWait / 4)
	defer tick.Stop()
	for {
		select {
		case g := <-heard:
			if g.err == nil && g.hello.Error == "" {
				return transport.Pipes{Reader: c.out, Writer: c.in, Hangup: c.hangUp}, g.hello, nil
			}
			c.hangUp()
			if g.err == nil {
				return transport.Pipes{}, g.hello, errors.New("no engine there: " + g.hello.Error)
			}
			return transport.Pipes{}, g.hello, c.startError(g.err)
		case <-tick.C:
			if text, quiet := c.stderr.textAndSilence(); quiet > h.QuestionWait && transport.Asks(text) {
				c.hangUp()
				return transport.Pipes{}, transport.Hello{}, &personError{lastLines(text)}
			}
		case <-ctx.Done():
			c.hangUp()
			return transport.Pipes{}, transport.Hello{}, c.startError(&silentError{h.DialTimeout, m.SSH != ""})
		}
	}
}

// A command is a program that connects to a machine.
type command struct {
	cmd    *exec.Cmd
	in     *os.File
	out    *os.File
	stderr *outputTail

	grace  time.Duration   // see Hosts.HangupGrace
	ending *sync.WaitGroup // counts commands being stopped
	once   sync.Once
	exited chan struct{}
}

// start starts the command with its own pipes in a new session, so that it has no terminal for
// prompts. The kernel kills it if this engine dies.
func (c *command) start(cmd *exec.Cmd, by *starter) (err error) {
	var theirIn, theirOut *os.File
	if theirIn, c.in, err = os.Pipe(); err != nil {
		return err
	}
	defer theirIn.Close()
	if c.out, theirOut, err = os.Pipe(); err != nil {
		c.in.Close()
		return err
	}
	defer theirOut.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = theirIn, theirOut, c.stderr, "/"
	// A child of the command may keep its stderr open.
	cmd.WaitDelay = c.grace
	transport.Alone(cmd)
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if err := by.start(cmd); err != nil {
		c.in.Close()
		c.out.Close()
		return fmt.Errorf("start %s: %w", cmd.Args[0], err)
	}
	c.cmd, c.exited = cmd, make(chan struct{})
	go func() {
		defer close(c.exited)
		_ = cmd.Wait() // ProcessState has the result
	}()
	return nil
}

// A starter starts commands from a single thread. The kernel kills such a command when the thread
// that started it exits (PR_SET_PDEATHSIG), not the process, and Go may end threads early.
type starter struct {
	begin sync.Once
	work  chan func() // nil before the first command
}

func (s *starter) start(cmd *exec.Cmd) error {
	s.begin.Do(func() {
		s.work = make(chan func())
		go func() {
			runtime.LockOSThread()
			for do := range s.work {
				do()
			}
		}()
	})
	done := make(chan error, 1)
	s.work <- func() { done <- cmd.Start() }
	return <-done
}

// stop ends the thread. No command may be started afterwards.
func (s *starter) stop() {
	if s.work != nil {
		close(s.work)
	}
}

// hangUp stops the command: it closes its input, and after the grace period kills the command and
// its children.
func (c *command) hangUp() error {
	c.once.Do(func() {
		c.in.Close()
		c.out.Close()
		c.ending.Go(func() {
			select {
			case <-c.exited:
			case <-time.After(c.grace):
			}
			_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) // the session's process group, if it still exists
			<-c.exited
		})
	})
	return nil
}

// startError returns why no bridge sent a greeting, preferably in the program's own words.
func (c *command) startError(err error) error {
	select {
	case <-c.exited: // its stderr is complete
	case <-time.After(c.grace):
	}
	text, _ := c.stderr.textAndSilence()
	var silent *silentError
	switch {
	case transport.Missing(text):
		return errors.New("tandem is not installed there")
	case transport.NeedsPerson(text):
		return &personError{lastLines(text)}
	case text != "" && errors.As(err, &silent):
		return fmt.Errorf("%w: %s", err, lastLines(text))
	case text != "":
		return errors.New(lastLines(text))
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s exited without output: %v", c.cmd.Args[0], c.cmd.ProcessState)
	}
	return err
}

// outputTail is the end of a program's stderr.
type outputTail struct {
	mu   sync.Mutex
	text []byte
	at   time.Time
}

func (s *outputTail) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, p...)
	s.text = s.text[max(len(s.text)-maxOutput, 0):]
	s.at = time.Now()
	return len(p), nil
}

// textAndSilence returns the text, and how long ago it last grew.
func (s *outputTail) textAndSilence() (text string, quiet time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(string(s.text)), time.Since(s.at)
}

// lastLines returns the last lines of a text, joined on one line.
func lastLines(text string) string {
	const maxLines = 3
	var lines []string
	for line := range bytes.Lines([]byte(text)) {
		if t := strings.TrimSpace(string(line)); t != "" {
			lines = append(lines, t)
		}
	}
	return strings.Join(lines[max(len(lines)-maxLines, 0):], "; ")
}

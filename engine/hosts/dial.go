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

	"tandem/engine/hosts/transport"
	"tandem/engine/panics"
)

// A personError says that a link cannot be made without the person.
type personError struct{ asked string }

func (e *personError) Error() string { return e.asked }

// A silentError is a command that runs without its bridge saying hello.
type silentError struct {
	timeout time.Duration
	shell   bool // a login shell runs the bridge
}

func (e *silentError) Error() string {
	text := fmt.Sprintf("no answer within %v", e.timeout)
	if e.shell {
		text += "; a start-up file of the login shell there waits for input, or keeps printing"
	}
	return text
}

// mostSaid is how much is kept of what a program says.
const mostSaid = 8 << 10

// dial starts the command that reaches a machine and waits until its bridge says
// hello. What asks for a person instead is ended, and is a personError.
func (h *Hosts) dial(ctx context.Context, m transport.Machine) (transport.Pipes, transport.Hello, error) {
	c := &command{said: &said{}, ending: &h.ending, grace: h.HangupGrace}
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
		panics.Log(h.Log, "greeting of a machine", func() { g.hello, g.err = transport.ReadHello(c.out, c.said) })
		heard <- g
	}()
	tick := time.NewTicker(h.QuestionWait / 4)
	defer tick.Stop()
	for {
		select {
		case g := <-heard:
			if g.err == nil && g.hello.Error == "" {
				return transport.Pipes{Reader: c.out, Writer: c.in, Hangup: c.hangup}, g.hello, nil
			}
			c.hangup()
			if g.err == nil {
				return transport.Pipes{}, g.hello, errors.New("no engine there: " + g.hello.Error)
			}
			return transport.Pipes{}, g.hello, c.failure(g.err)
		case <-tick.C:
			if text, quiet := c.said.last(); quiet > h.QuestionWait && transport.Asks(text) {
				c.hangup()
				return transport.Pipes{}, transport.Hello{}, &personError{lastLines(text)}
			}
		case <-ctx.Done():
			c.hangup()
			return transport.Pipes{}, transport.Hello{}, c.failure(&silentError{h.DialTimeout, m.SSH != ""})
		}
	}
}

// A command is a program that reaches a machine.
type command struct {
	cmd  *exec.Cmd
	in   *os.File
	out  *os.File
	said *said

	grace  time.Duration   // see Hosts.HangupGrace
	ending *sync.WaitGroup // counts commands that are being ended
	once   sync.Once
	exited chan struct{}
}

// start starts it with pipes of its own, alone in a session: it is given no
// terminal where it could ask something. If this engine is killed, the kernel ends it.
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
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = theirIn, theirOut, c.said, "/"
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
		_ = cmd.Wait() // the state says it
	}()
	return nil
}

// A starter starts commands from one thread. The kernel ends such a command when the thread
// does that started it (PR_SET_PDEATHSIG), not the process, and Go's threads may end before.
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

// end ends the thread. No command may be started any more.
func (s *starter) end() {
	if s.work != nil {
		close(s.work)
	}
}

// hangup ends it: first by the end of its input, then with all that it started.
func (c *command) hangup() error {
	c.once.Do(func() {
		c.in.Close()
		c.out.Close()
		c.ending.Go(func() {
			select {
			case <-c.exited:
			case <-time.After(c.grace):
			}
			_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) // the session's group, if anything of it is left
			<-c.exited
		})
	})
	return nil
}

// failure is why no bridge has said hello, in the words of the program.
func (c *command) failure(err error) error {
	select {
	case <-c.exited: // it has said all
	case <-time.After(c.grace):
	}
	text, _ := c.said.last()
	var silent *silentError
	switch {
	case transport.Missing(text):
		return errors.New("there is no tandem on it")
	case transport.NeedsPerson(text):
		return &personError{lastLines(text)}
	case text != "" && errors.As(err, &silent):
		return fmt.Errorf("%w: %s", err, lastLines(text))
	case text != "":
		return errors.New(lastLines(text))
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%s ended without a word: %v", c.cmd.Args[0], c.cmd.ProcessState)
	}
	return err
}

// said is the end of what a program says besides the protocol.
type said struct {
	mu   sync.Mutex
	text []byte
	at   time.Time
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, p...)
	s.text = s.text[max(len(s.text)-mostSaid, 0):]
	s.at = time.Now()
	return len(p), nil
}

// last is what was said, and for how long nothing has been.
func (s *said) last() (text string, quiet time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimSpace(string(s.text)), time.Since(s.at)
}

// lastLines is the end of a text, on one line.
func lastLines(text string) string {
	const most = 3
	var lines []string
	for line := range bytes.Lines([]byte(text)) {
		if t := strings.TrimSpace(string(line)); t != "" {
			lines = append(lines, t)
		}
	}
	return strings.Join(lines[max(len(lines)-most, 0):], "; ")
}

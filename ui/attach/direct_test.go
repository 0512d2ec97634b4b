package attach

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/passthrough"
	"tandem/ui/predict"
)

// A program has a PTY whose master a stub gives out.
type program struct{ master, slave *os.File }

func newProgram(t *testing.T) program {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(int(master.Fd()), true); err != nil {
		t.Fatal(err)
	}
	raw, err := unix.IoctlGetTermios(int(slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	raw.Lflag &^= unix.ICANON | unix.ECHO
	raw.Iflag &^= unix.ICRNL
	if err := unix.IoctlSetTermios(int(slave.Fd()), unix.TCSETS, raw); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close(); slave.Close() })
	return program{master, slave}
}

// reads is what the program gets of its keyboard.
func (p program) reads(t *testing.T, n int) string {
	t.Helper()
	buffer := make([]byte, n)
	if _, err := io.ReadFull(p.slave, buffer); err != nil {
		t.Fatal(err)
	}
	return string(buffer)
}

// takeOver has the person's terminal handed over, as the engine does.
func takeOver(t testing.TB, v *server.Viewer, master *os.File) *os.File {
	if ok, err := v.Offer(master); !ok || err != nil {
		t.Errorf("the offer: %v, %v", ok, err)
		return nil
	}
	for {
		in, err := v.Receive()
		if err != nil {
			t.Errorf("no terminal comes: %v", err)
			return nil
		}
		if in.Hand != nil {
			break
		}
		if master != nil {
			master.Write(in.Bytes)
		}
	}
	tty := v.Passed()
	if err := v.Send(api.Output{Direct: &api.Direct{Keys: master != nil}}); err != nil {
		t.Error(err)
	}
	return tty
}

// untilBack receives until the terminal is wanted back, and gives what was told as typed
// and sent as input.
func untilBack(v *server.Viewer) (typed, sent string) {
	for {
		in, err := v.Receive()
		if err != nil || in.Hand != nil && in.Hand.Back {
			return typed, sent
		}
		typed += string(in.Typed)
		sent += string(in.Bytes)
	}
}

func TestKeysGoToThePTYAndAreToldAfterwards(t *testing.T) {
	program := newProgram(t)
	p := newPerson(t)
	p.watch()
	told := make(chan [2]string, 1)
	p.attach(newEngineStub(t, func(t testing.TB, v *server.Viewer) error {
		tty := takeOver(t, v, program.master)
		defer tty.Close()
		io.WriteString(tty, "ready>")
		typed, sent := untilBack(v)
		told <- [2]string{typed, sent}
		return nil
	}), nil)
	p.sees("ready>")
	p.types("ls -l\r")
	if got := program.reads(t, 6); got != "ls -l\r" {
		t.Errorf("the program reads %q", got)
	}
	p.types("\x02d")
	if got := p.leaves(); got.Reason != Detached || p.err != nil {
		t.Errorf("the outcome is %+v, %v", got, p.err)
	}
	if got := <-told; got != [2]string{"ls -l\r", ""} {
		t.Errorf("told as typed, and sent: %q", got)
	}
}

func TestWhatIsTypedBeforeTheTerminalIsHandedOverComesFirst(t *testing.T) {
	program := newProgram(t)
	p := newPerson(t)
	p.watch()
	p.attach(newEngineStub(t, func(t testing.TB, v *server.Viewer) error {
		if err := say(v, "early>"); err != nil {
			return err
		}
		in, err := v.Receive()
		for err == nil && in.Bytes == nil {
			in, err = v.Receive()
		}
		p.types("second")
		program.master.Write(in.Bytes)
		tty := takeOver(t, v, program.master)
		defer tty.Close()
		io.WriteString(tty, "ready>")
		untilBack(v)
		return nil
	}), nil)
	p.sees("early>")
	p.types("first ")
	p.sees("ready>")
	p.types(" third")
	if got := program.reads(t, len("first second third")); got != "first second third" {
		t.Errorf("the program reads %q", got)
	}
	p.types("\x02d")
	p.leaves()
}

func TestTheTerminalIsRestoredOnlyOnceTheEngineHasGivenItBack(t *testing.T) {
	p := newPerson(t)
	p.watch()
	p.attach(newEngineStub(t, func(t testing.TB, v *server.Viewer) error {
		tty := takeOver(t, v, nil)
		defer tty.Close()
		io.WriteString(tty, "ready>")
		untilBack(v)
		io.WriteString(tty, "the last output")
		return nil
	}), func(o *Options) { o.ReadOnly = true })
	p.sees("ready>")
	p.types("\x02d")
	if got := p.leaves(); got.Reason != Detached {
		t.Errorf("the outcome is %+v", got)
	}
	p.sees("the last output")
	p.sees(passthrough.LeaveAlt)
	if screen := p.screen(); strings.LastIndex(screen, "the last output") > strings.LastIndex(screen, passthrough.LeaveAlt) {
		t.Errorf("output comes after the terminal was restored: %q", screen)
	}
}

func TestAnEngineThatIsLostGetsTheTerminalAgainFromTheNext(t *testing.T) {
	program := newProgram(t)
	p := newPerson(t)
	p.watch()
	serve := func(prompt string) script {
		return func(t testing.TB, v *server.Viewer) error {
			tty := takeOver(t, v, program.master)
			defer tty.Close()
			io.WriteString(tty, prompt)
			for {
				in, err := v.Receive()
				if err != nil || in.Hand != nil || string(in.Typed) == "crash" {
					return err
				}
			}
		}
	}
	p.attach(newEngineStub(t, serve("one>"), serve("two>")), nil)
	p.sees("one>")
	p.types("crash")
	p.sees("two>")
	p.types("on")
	if got := program.reads(t, 7); got != "crashon" {
		t.Errorf("the program reads %q", got)
	}
	p.types("\x02d")
	p.leaves()
}

func TestWhatThePTYDoesNotTakeGoesThroughTheEngineInOrder(t *testing.T) {
	program := newProgram(t)
	p := newPerson(t)
	p.watch()
	sent := make(chan string, 1)
	p.attach(newEngineStub(t, func(t testing.TB, v *server.Viewer) error {
		tty := takeOver(t, v, program.master)
		defer tty.Close()
		io.WriteString(tty, "ready>")
		typed, rest := untilBack(v)
		sent <- typed + rest
		return nil
	}), nil)
	p.sees("ready>")
	text := strings.Repeat("0123456789abcdef", 32<<10) // more than a PTY keeps for its program
	go io.WriteString(p.keyboard, text+"\x02d")
	if got := p.leaves(); got.Reason != Detached {
		t.Errorf("the outcome is %+v", got)
	}
	if got := <-sent; got != text {
		t.Errorf("%d bytes of %d arrive, or in another order", len(got), len(text))
	}
}

func TestATerminalIsNotHandedOverWhereSomethingIsDrawnOverIt(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"zoom":       func(o *Options) { o.Handoff = true },
		"prediction": func(o *Options) { o.Predict = predict.Always },
	} {
		p := newPerson(t)
		p.watch()
		e := newEngineStub(t, greetAndEcho("ready>"))
		p.attach(e, change)
		p.sees("ready>")
		e.mu.Lock()
		if e.options[0].Direct {
			t.Errorf("%s: it is", name)
		}
		e.mu.Unlock()
		p.keyboard.Close()
		<-p.outcome
	}
}

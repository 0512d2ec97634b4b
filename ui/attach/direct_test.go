package attach

import (
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/passthrough"
	"tandem/keys"
	"tandem/panes/kit/predict"
)

// A program has a PTY; the stub engine hands out its master.
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

// readInput returns n bytes of the program's input.
func (p program) readInput(t *testing.T, n int) string {
	t.Helper()
	buffer := make([]byte, n)
	if _, err := io.ReadFull(p.slave, buffer); err != nil {
		t.Fatal(err)
	}
	return string(buffer)
}

// takeTerminal takes over the user's terminal, as the engine does.
func takeTerminal(t testing.TB, v *server.Viewer, master *os.File) *os.File {
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

// receiveUntilBack receives until the terminal is requested back. It returns the keys
// reported as typed, and the input sent.
func receiveUntilBack(v *server.Viewer) (typed, sent string) {
	for {
		in, err := v.Receive()
		if err != nil || in.Hand != nil && in.Hand.Back {
			return typed, sent
		}
		typed += string(in.Typed)
		sent += string(in.Bytes)
	}
}

func TestKeysGoToPTYAndAreReportedAfterwards(t *testing.T) {
	program := newProgram(t)
	p := newPerson(t)
	p.watchScreen()
	told := make(chan [2]string, 1)
	p.attach(newEngineStub(t, func(t testing.TB, v *server.Viewer) error {
		tty := takeTerminal(t, v, program.master)
		defer tty.Close()
		io.WriteString(tty, "ready>")
		typed, sent := receiveUntilBack(v)
		told <- [2]string{typed, sent}
		return nil
	}), nil)
	p.waitOutput("ready>")
	p.sendText("ls -l\r")
	if got := program.readInput(t, 6); got != "ls -l\r" {
		t.Errorf("the program reads %q", got)
	}
	p.sendText("\x02d")
	if got := p.waitExit(); got.Reason != Detached || p.err != nil {
		t.Errorf("the outcome is %+v, %v", got, p.err)
	}
	if got := <-told; got != [2]string{"ls -l\r", ""} {
		t.Errorf("told as typed, and sent: %q", got)
	}
}

func TestInputBeforeHandoverArrivesFirst(t *testing.T) {
	program := newProgram(t)
	p := newPerson(t)
	p.watchScreen()
	p.attach(newEngineStub(t, func(t testing.TB, v *server.Viewer) error {
		if err := sendText(v, "early>"); err != nil {
			return err
		}
		in, err := v.Receive()
		for err == nil && in.Bytes == nil {
			in, err = v.Receive()
		}
		p.sendText("second")
		program.master.Write(in.Bytes)
		tty := takeTerminal(t, v, program.master)
		defer tty.Close()
		io.WriteString(tty, "ready>")
		receiveUntilBack(v)
		return nil
	}), nil)
	p.waitOutput("early>")
	p.sendText("first ")
	p.waitOutput("ready>")
	p.sendText(" third")
	if got := program.readInput(t, len("first second third")); got != "first second third" {
		t.Errorf("the program reads %q", got)
	}
	p.sendText("\x02d")
	p.waitExit()
}

func TestTerminalIsRestoredOnlyAfterEngineReturnsIt(t *testing.T) {
	p := newPerson(t)
	p.watchScreen()
	p.attach(newEngineStub(t, func(t testing.TB, v *server.Viewer) error {
		tty := takeTerminal(t, v, nil)
		defer tty.Close()
		io.WriteString(tty, "ready>")
		receiveUntilBack(v)
		io.WriteString(tty, "the last output")
		return nil
	}), func(o *Options) { o.ReadOnly = true })
	p.waitOutput("ready>")
	p.sendText("\x02d")
	if got := p.waitExit(); got.Reason != Detached {
		t.Errorf("the outcome is %+v", got)
	}
	p.waitOutput("the last output")
	p.waitOutput(passthrough.LeaveAlt)
	if screen := p.screenText(); strings.LastIndex(screen, "the last output") > strings.LastIndex(screen, passthrough.LeaveAlt) {
		t.Errorf("output comes after the terminal was restored: %q", screen)
	}
}

func TestTerminalIsHandedOverAgainAfterEngineRestart(t *testing.T) {
	program := newProgram(t)
	p := newPerson(t)
	p.watchScreen()
	serve := func(prompt string) script {
		return func(t testing.TB, v *server.Viewer) error {
			tty := takeTerminal(t, v, program.master)
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
	p.waitOutput("one>")
	p.sendText("crash")
	p.waitOutput("two>")
	p.sendText("on")
	if got := program.readInput(t, 7); got != "crashon" {
		t.Errorf("the program reads %q", got)
	}
	p.sendText("\x02d")
	p.waitExit()
}

func TestInputExceedingPTYBufferGoesThroughEngineInOrder(t *testing.T) {
	program := newProgram(t)
	p := newPerson(t)
	p.watchScreen()
	sent := make(chan string, 1)
	p.attach(newEngineStub(t, func(t testing.TB, v *server.Viewer) error {
		tty := takeTerminal(t, v, program.master)
		defer tty.Close()
		io.WriteString(tty, "ready>")
		typed, rest := receiveUntilBack(v)
		sent <- typed + rest
		return nil
	}), nil)
	p.waitOutput("ready>")
	text := strings.Repeat("0123456789abcdef", 32<<10) // exceeds the buffer of a PTY
	go io.WriteString(p.keyboard, text+"\x02d")
	if got := p.waitExit(); got.Reason != Detached {
		t.Errorf("the outcome is %+v", got)
	}
	if got := <-sent; got != text {
		t.Errorf("%d bytes of %d arrive, or in another order", len(got), len(text))
	}
}

func TestTerminalWithOverlayIsNotHandedOver(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"prediction": func(o *Options) { o.Predict = predict.Always },
	} {
		p := newPerson(t)
		p.watchScreen()
		e := newEngineStub(t, greetAndEcho("ready>"))
		p.attach(e, change)
		p.waitOutput("ready>")
		e.mu.Lock()
		if e.options[0].Direct {
			t.Errorf("%s: it is", name)
		}
		e.mu.Unlock()
		p.keyboard.Close()
		<-p.outcome
	}
}

func TestKeysFollowMouseEventsOfZoomInOrder(t *testing.T) {
	program := newProgram(t)
	p := newPerson(t)
	p.watchScreen()
	e := newEngineStub(t, func(t testing.TB, v *server.Viewer) error {
		tty := takeTerminal(t, v, program.master)
		defer tty.Close()
		io.WriteString(tty, "handed over>")
		err := v.Send(api.Output{Direct: &api.Direct{Mouse: true}})
		for err == nil {
			var in api.Input
			switch in, err = v.Receive(); {
			case err != nil || in.Hand != nil:
				return err
			case in.Mouse != nil && in.Mouse.Kind == keys.MouseUp:
				io.WriteString(tty, "ready>")
			case in.Mouse != nil:
				program.master.WriteString("mouse ")
			case in.Bytes != nil:
				program.master.Write(in.Bytes)
			case in.Lines != nil:
				err = v.Send(api.Output{Lines: []api.NumberedLine{}})
			case in.Typed != nil:
				io.WriteString(tty, "typed>")
			}
		}
		return err
	})
	p.attach(e, func(o *Options) { o.Handoff = true })
	p.waitOutput("handed over>")
	// Before the run knows that the program wants the mouse, it drops the event.
	for !strings.Contains(p.screenText(), "ready>") {
		p.sendText("\x1b[<0;5;5m")
		runtime.Gosched()
	}
	p.sendText("\x1b[<0;5;5Mkey ")
	if got := program.readInput(t, 10); got != "mouse key " {
		t.Errorf("the program reads %q", got)
	}
	// Once the engine has confirmed the events, keys are typed directly again.
	for !strings.Contains(p.screenText(), "typed>") {
		p.sendText("x")
		program.readInput(t, 1)
	}
	p.sendText("\x02")
	if got := p.waitExit(); got.Reason != HandedBack || string(got.Rest) != "\x02" {
		t.Errorf("the outcome is %+v", got)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if o := e.options[0]; !o.Direct || !o.Pointer {
		t.Errorf("it attaches with %+v", o)
	}
}

package attach

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/screen/passthrough"
	"tandem/panes/kit/predict"
)

// A program is a fake program on a PTY, whose master the stub engine lends out.
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
func (p program) readInput(t testing.TB, n int) string {
	t.Helper()
	buffer := make([]byte, n)
	if _, err := io.ReadFull(p.slave, buffer); err != nil {
		t.Fatal(err)
	}
	return string(buffer)
}

// takeTerminal takes over the user's terminal, as the engine does.
func takeTerminal(t testing.TB, v *server.Viewer, master *os.File) *os.File {
	if ok, err := v.Offer(nil); !ok || err != nil {
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
	err := v.Send(api.Output{Direct: &api.Direct{}})
	if err == nil && master != nil {
		err = v.Send(api.Output{Master: &api.Master{}})
	}
	if err != nil {
		t.Error(err)
	}
	return tty
}

// serveInput passes input on to the program and lends its master, until the terminal is
// requested back. It returns the keys reported as typed, and the input sent.
func serveInput(v *server.Viewer, master *os.File, tty *os.File) (typed, sent string) {
	for {
		in, err := v.Receive()
		switch {
		case err != nil || in.Hand != nil && in.Hand.Back:
			return typed, sent
		case in.Bytes != nil:
			sent += string(in.Bytes)
			master.Write(in.Bytes)
		case in.Master:
			v.Send(api.Output{Master: &api.Master{Lent: true, File: master}})
		case in.Typed != nil:
			typed += string(in.Typed)
			io.WriteString(tty, "typed>")
		}
	}
}

// typeDirectly types x until the engine reports that one was written to the program's PTY. It
// returns how many it has typed.
func (p *person) typeDirectly(program program) (n int) {
	p.t.Helper()
	for ; !strings.Contains(p.screenText(), "typed>"); n++ {
		p.sendText("x")
		program.readInput(p.t, 1)
	}
	return n
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
		typed, sent := serveInput(v, program.master, tty)
		told <- [2]string{typed, sent}
		return nil
	}), nil)
	p.waitOutput("ready>")
	n := p.typeDirectly(program)
	p.sendText("ls -la")
	if got := program.readInput(t, 6); got != "ls -la" {
		t.Errorf("the program reads %q", got)
	}
	p.sendText("\x02d")
	if got := p.waitExit(); got.Reason != Detached || p.err != nil {
		t.Errorf("the outcome is %+v, %v", got, p.err)
	}
	got := <-told
	if all := strings.Repeat("x", n) + "ls -la"; got[1]+got[0] != all || !strings.HasSuffix(got[0], "ls -la") {
		t.Errorf("of %q, %q is told as typed, and %q sent", all, got[0], got[1])
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
		serveInput(v, program.master, tty)
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
		serveInput(v, nil, tty)
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

// A connection that just ends would leave the terminal with the engine for a moment.
func TestEngineReturnsTheTerminalBeforeANewAttachment(t *testing.T) {
	reasons := make(chan error, 1)
	e := newEngineStub(t, func(t testing.TB, v *server.Viewer) error {
		for {
			in, err := v.Receive()
			if err == nil && in.Hand == nil {
				continue
			}
			if err == nil && !in.Hand.Back {
				err = errors.New("another handover")
			}
			reasons <- err
			return err
		}
	})
	a, err := e.client.Attach(t.Context(), api.AttachOptions{ID: "work", Raw: true, Direct: true})
	if err != nil {
		t.Fatal(err)
	}
	l := newLink(func() {})
	l.useAttachment(a)
	if !l.startHandover() {
		t.Fatal("the terminal cannot be handed over")
	}
	l.forceReattach()
	if err := <-reasons; err != nil {
		t.Errorf("the attachment ends without the terminal's return: %v", err)
	}
	l.closeAttachment()
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
				switch {
				case err != nil || in.Hand != nil:
					return err
				case in.Bytes != nil:
					program.master.Write(in.Bytes)
				case in.Master:
					v.Send(api.Output{Master: &api.Master{Lent: true, File: program.master}})
				case in.Typed != nil && prompt == "one>":
					return err // the engine crashes
				case in.Typed != nil:
					io.WriteString(tty, "typed>")
				}
			}
		}
	}
	p.attach(newEngineStub(t, serve("one>"), serve("two>")), nil)
	p.waitOutput("one>")
	for !strings.Contains(p.screenText(), "two>") {
		p.sendText("x")
		program.readInput(t, 1)
	}
	p.typeDirectly(program)
	p.sendText("on")
	if got := program.readInput(t, 2); got != "on" {
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
		var typed, rest string
		for {
			in, err := v.Receive()
			switch {
			case err != nil || in.Hand != nil:
				sent <- typed + rest
				return nil
			case in.Typed != nil:
				typed += string(in.Typed)
				io.WriteString(tty, "typed>")
			case in.Master && typed == "":
				v.Send(api.Output{Master: &api.Master{Lent: true, File: program.master}})
			case typed == "":
				program.master.Write(in.Bytes)
			default:
				rest += string(in.Bytes)
			}
		}
	}), nil)
	p.waitOutput("ready>")
	p.typeDirectly(program)
	text := strings.Repeat("0123456789abcdef", 32<<10) // exceeds the buffer of a PTY
	go io.WriteString(p.keyboard, text+"\x02d")
	if got := p.waitExit(); got.Reason != Detached {
		t.Errorf("the outcome is %+v", got)
	}
	if got := strings.TrimLeft(<-sent, "x"); got != text {
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

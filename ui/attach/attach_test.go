package attach

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/engine/api/sockets"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/server"
	"tandem/engine/screen/passthrough"
	"tandem/panes/kit/predict"
	"tandem/tests/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// An engineStub serves one session. Each attachment runs the next of scripts; further ones
// repeat the last.
type engineStub struct {
	client  *client.Client
	scripts chan script
	mu      sync.Mutex
	options []api.AttachOptions
}

type script func(t testing.TB, v *server.Viewer) error

func newEngineStub(t testing.TB, scripts ...script) *engineStub {
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		t.Fatal(err)
	}
	e := &engineStub{scripts: make(chan script, len(scripts))}
	for _, s := range scripts {
		e.scripts <- s
	}
	mux := server.NewMux(nil)
	server.Handle(mux, api.EngineInfo, func(context.Context, api.Empty) (api.Info, error) {
		return api.Info{Version: "1.0.0", Protocol: api.Protocol}, nil
	})
	server.Handle(mux, api.SessionGet, func(_ context.Context, in api.IDInput) (api.Process, error) {
		if in.ID == "nobody" {
			return api.Process{}, api.Errorf(api.CodeNotFound, "find session %q: there is none", in.ID)
		}
		p := api.Process{ID: "0123456789ab", Name: in.ID, State: api.StateRunning}
		if in.ID == "over" {
			p.State = api.StateExited
		}
		return p, nil
	})
	mux.HandleAttach(func(_ context.Context, o api.AttachOptions, v *server.Viewer) error {
		e.mu.Lock()
		e.options = append(e.options, o)
		e.mu.Unlock()
		select {
		case s := <-e.scripts:
			return s(t, v)
		default:
			return api.Errorf(api.CodeEnded, "attach to session: it has exited")
		}
	})
	socket, _ := sockets.Paths(dir)
	listener, err := server.Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- mux.Serve(ctx, listener) }()
	e.client, err = client.Connect(t.Context(), client.Options{DataDir: dir, Version: "1.0.0", Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		e.client.Close()
		stop()
		<-served
		os.RemoveAll(filepath.Dir(socket))
	})
	return e
}

// A person is a user at a terminal.
type person struct {
	t        testing.TB
	keyboard *os.File // the terminal's other side
	slave    *os.File
	before   *unix.Termios
	read     chan struct{} // closed when the screen is gone
	outcome  chan Outcome
	err      error

	mu   sync.Mutex
	seen bytes.Buffer
	more chan struct{}
}

func newPerson(t testing.TB) *person {
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(slave, &pty.Winsize{Cols: 80, Rows: 24}); err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, keyboard: reopenMaster(t, master), slave: slave, more: make(chan struct{}, 1),
		read: make(chan struct{}), outcome: make(chan Outcome, 1)}
	p.before = p.termios()
	t.Cleanup(func() {
		slave.Close()
		p.keyboard.Close()
	})
	return p
}

// reopenMaster wraps a PTY master so that Close interrupts a blocked Read.
func reopenMaster(t testing.TB, f *os.File) *os.File {
	defer f.Close()
	fd, err := unix.Dup(int(f.Fd()))
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), f.Name())
}

func (p *person) termios() *unix.Termios {
	state, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		p.t.Fatal(err)
	}
	return state
}

// watchScreen collects the terminal's output.
func (p *person) watchScreen() {
	go func() {
		defer close(p.read)
		buffer := make([]byte, 4096)
		for {
			n, err := p.keyboard.Read(buffer)
			p.mu.Lock()
			p.seen.Write(buffer[:n])
			p.mu.Unlock()
			select {
			case p.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	p.t.Cleanup(func() {
		p.slave.Close()
		<-p.read
	})
}

func (p *person) screenText() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen.String()
}

// echoPattern returns a regular expression for the echo of text. The program may read text in
// several pieces, even if it was typed at once, and echoes each piece in angle brackets.
func echoPattern(text string) *regexp.Regexp {
	typed, isEcho := strings.CutPrefix(text, "<")
	typed, closed := strings.CutSuffix(typed, ">")
	if !isEcho || !closed {
		return regexp.MustCompile(regexp.QuoteMeta(text))
	}
	var pieces []string
	for _, r := range strings.ReplaceAll(typed, "^[", "\x1b") {
		piece := regexp.QuoteMeta(string(r))
		if r == '\x1b' { // an escape alone is echoed as it is
			piece = `(?:\^\[|\x1b)`
		}
		pieces = append(pieces, piece)
	}
	return regexp.MustCompile("<" + strings.Join(pieces, "(?:><)?") + ">")
}

// waitOutput waits until the output contains text.
func (p *person) waitOutput(text string) {
	p.t.Helper()
	limit := time.After(time.Minute)
	for want := echoPattern(text); !want.MatchString(p.screenText()); {
		select {
		case <-p.more:
		case <-limit:
			p.t.Fatalf("the terminal does not show %q but %q", text, p.screenText())
		}
	}
}

// waitFull waits until the terminal takes no more output.
func (p *person) waitFull() {
	for {
		fds := []unix.PollFd{{Fd: int32(p.slave.Fd()), Events: unix.POLLOUT}}
		if n, err := unix.Poll(fds, 0); err != nil || n == 0 {
			return
		}
		runtime.Gosched()
	}
}

func (p *person) sendText(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.keyboard, text); err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) attach(e *engineStub, change func(*Options)) {
	o := Options{Client: e.client, ID: "work", In: p.slave, Out: p.slave, AnswerLimit: time.Millisecond}
	if change != nil {
		change(&o)
	}
	go func() {
		outcome, err := Run(context.Background(), o)
		p.err = err
		p.outcome <- outcome
	}()
}

// waitExit waits for the run to end and checks that the terminal is restored.
func (p *person) waitExit() Outcome {
	p.t.Helper()
	select {
	case outcome := <-p.outcome:
		if diff := cmp.Diff(p.before, p.termios()); diff != "" {
			p.t.Errorf("the terminal's settings are not as before: %s", diff)
		}
		return outcome
	case <-time.After(time.Minute):
		p.t.Fatalf("the run does not end; the terminal shows %q", p.screenText())
		return Outcome{}
	}
}

func sendText(v *server.Viewer, text string) error { return v.Send(api.Output{Bytes: []byte(text)}) }

// echoInput answers each piece of input with "<piece>" until the viewer leaves. It writes
// an escape inside a piece as ^[.
func echoInput(v *server.Viewer) error {
	for {
		in, err := v.Receive()
		if err != nil {
			return err
		}
		switch {
		case in.Lines != nil:
			err = v.Send(api.Output{Lines: []api.NumberedLine{}})
		case in.Bytes != nil:
			text := strings.NewReplacer("\x02", "^B", "\x03", "^C").Replace(string(in.Bytes)) // no terminal must receive these
			if len(text) > 1 {
				text = strings.ReplaceAll(text, "\x1b", "^[")
			}
			err = sendText(v, "<"+text+">")
		}
		if err != nil {
			return err
		}
	}
}

func greetAndEcho(text string) script {
	return func(_ testing.TB, v *server.Viewer) error {
		if err := sendText(v, text); err != nil {
			return err
		}
		return echoInput(v)
	}
}

func TestBytesPassBothWaysAndDetachRestoresTerminal(t *testing.T) {
	p := newPerson(t)
	p.watchScreen()
	p.attach(newEngineStub(t, greetAndEcho("ready>")), nil)
	p.waitOutput("ready>")
	p.sendText("ls\r\x03")
	p.waitOutput("<ls\r^C>")
	p.sendText("\x02")
	p.sendText("d")
	if got := p.waitExit(); got.Reason != Detached || p.err != nil {
		t.Fatalf("the outcome is %+v, %v", got, p.err)
	}
	p.waitOutput(passthrough.LeaveAlt)
	for _, mode := range []string{"\x1b[?1000l", "\x1b[?2004l", "\x1b[?25h", "\x1b[<99u", "\x1b[>4m"} {
		if !strings.Contains(p.screenText()[strings.Index(p.screenText(), "ready>"):], mode) {
			t.Errorf("leaving does not send %q", mode)
		}
	}
}

func TestPrefixTwiceSendsItOnce(t *testing.T) {
	p := newPerson(t)
	p.watchScreen()
	p.attach(newEngineStub(t, greetAndEcho("ready>")), nil)
	p.waitOutput("ready>")
	p.sendText("a\x02\x02b")
	p.waitOutput("<a^Bb>")
	p.sendText("\x02d")
	p.waitExit()
}

func TestPrefixIsRecognizedInEveryEncodingAndInPieces(t *testing.T) {
	for _, prefix := range []string{"\x1b[98;5u", "\x1b[27;5;98~", "\x1b[98;5:1u", "\x02"} {
		p := newPerson(t)
		p.watchScreen()
		p.attach(newEngineStub(t, greetAndEcho("\x1b[>1uready>")), nil)
		p.waitOutput("ready>")
		p.sendText("x")
		p.waitOutput("<x>")
		half := len(prefix) / 2
		p.sendText(prefix[:half])
		p.sendText(prefix[half:])
		p.sendText("\x1b[98;5:3u")
		p.sendText("d")
		if got := p.waitExit(); got.Reason != Detached {
			t.Errorf("%q and d: %+v", prefix, got)
		}
		if strings.Contains(p.screenText(), "98") {
			t.Errorf("%q: some of it reached the session: %q", prefix, p.screenText())
		}
	}
}

func TestPrefixInPasteIsText(t *testing.T) {
	p := newPerson(t)
	p.watchScreen()
	p.attach(newEngineStub(t, greetAndEcho("ready>")), nil)
	p.waitOutput("ready>")
	p.sendText("\x1b[200~a\x02d\x1b[201~")
	p.waitOutput("<^[[200~a^Bd^[[201~>")
	p.sendText("\x02d")
	p.waitExit()
}

func TestLoneEscapeReachesSession(t *testing.T) {
	for _, greeting := range []string{"ready>", "\x1b[>1uready>"} {
		p := newPerson(t)
		p.watchScreen()
		p.attach(newEngineStub(t, greetAndEcho(greeting)), nil)
		p.waitOutput("ready>")
		p.sendText("\x1b")
		p.waitOutput("<\x1b>")
		p.sendText("x")
		p.waitOutput("x>")
		p.sendText("\x02d")
		p.waitExit()
	}
}

func TestKeysEncodedForThePreviousProgramAreConverted(t *testing.T) {
	for typed, arrives := range map[string]string{
		"a\x1b[99;5ub": "a^Cb", "\x1b[27;5;99~": "\x03", "\x1b[27u": "\x1b", "\x1b[97;3ux": "^[ax", "x\x1b[99;5:3uy": "xy", "\x1b[5~\x1b[u": "^[[5~^[[u",
	} {
		p := newPerson(t)
		p.watchScreen()
		p.attach(newEngineStub(t, greetAndEcho("\x1b[>4m\x1b[=0uready>")), nil)
		p.waitOutput("ready>")
		p.sendText(typed + "END")
		p.waitOutput("END>")
		shown := p.screenText()
		shown = strings.NewReplacer("><", "", "\x03", "^C", "\x1b", "^[").Replace(shown[strings.Index(shown, "ready>"):])
		if want := strings.NewReplacer("\x03", "^C", "\x1b", "^[").Replace(arrives); !strings.Contains(shown, "ready"+want+"END>") {
			t.Errorf("%q arrives as %q", typed, shown)
		}
		p.sendText("\x02d")
		p.waitExit()
	}
}

func TestReadOnlySendsNothing(t *testing.T) {
	p := newPerson(t)
	p.watchScreen()
	e := newEngineStub(t, greetAndEcho("ready>"))
	p.attach(e, func(o *Options) { o.ReadOnly = true })
	p.waitOutput("ready>")
	p.sendText("x\x02d")
	p.waitExit()
	if strings.Contains(p.screenText(), "<x") {
		t.Errorf("something was typed: %q", p.screenText())
	}
	if !e.options[0].ReadOnly || !e.options[0].Raw || e.options[0].Cols != 80 || e.options[0].Rows != 24 {
		t.Errorf("attached with %+v", e.options[0])
	}
}

func TestUnsupportedKeysInAttachAreExplained(t *testing.T) {
	program := newProgram(t)
	for name, greet := range map[string]script{
		"through the engine": greetAndEcho("ready>"),
		"terminal handed over": func(t testing.TB, v *server.Viewer) error {
			tty := takeTerminal(t, v, program.master)
			defer tty.Close()
			io.WriteString(tty, "ready>")
			serveInput(v, program.master, tty)
			return nil
		},
	} {
		for _, c := range []struct {
			typed, note string
			readOnly    bool
		}{
			{typed: "\x02?", note: "ctrl+b d detaches, ctrl+b ctrl+b sends it"},
			{typed: "\x02[", note: "no scrollback in attach"},
			{typed: "\x02q", note: "ctrl+b q does nothing here"},
			{typed: "x", note: "read-only", readOnly: true},
			{typed: "\x1b[200~x\x1b[201~", note: "read-only", readOnly: true},
		} {
			t.Run(name+" "+c.note, func(t *testing.T) {
				p := newPerson(t)
				p.watchScreen()
				p.attach(newEngineStub(t, greet, greetAndEcho("first repaint>"), greetAndEcho("next repaint>")), func(o *Options) { o.ReadOnly = c.readOnly })
				p.waitOutput("ready>")
				p.sendText(c.typed)
				p.waitOutput(c.note)
				if !c.readOnly {
					p.sendText("z") // the next key ends the note and reaches the session
					p.waitOutput("<z>")
					if screen := p.screenText(); strings.LastIndex(screen, c.note) > strings.LastIndex(screen, "repaint>") {
						t.Errorf("the screen is not repainted after the note: %q", screen)
					}
				}
				p.sendText("\x02d")
				if got := p.waitExit(); got.Reason != Detached {
					t.Errorf("the outcome is %+v", got)
				}
			})
		}
	}
}

func TestNoteShowsRoundTripMeasuredAfterItsKey(t *testing.T) {
	p := newPerson(t)
	p.watchScreen()
	answer := make(chan struct{})
	p.attach(newEngineStub(t, func(_ testing.TB, v *server.Viewer) error {
		if err := sendText(v, "ready>"); err != nil {
			return err
		}
		<-answer
		for {
			in, err := v.Receive()
			if err != nil {
				return err
			}
			if in.Mark != nil {
				_ = v.Send(api.Output{Mark: &api.Mark{N: *in.Mark}})
			}
		}
	}), func(o *Options) { o.Predict = predict.Always })
	p.waitOutput("ready>")
	p.sendText("\x02?")
	p.waitOutput("round trip unknown, prediction always; ctrl+b d detaches")
	close(answer)
	p.waitOutput("ms, prediction always")
	p.sendText("\x02d")
	p.waitExit()
}

// acceptsNone greets, and accepts no text until the viewer leaves, or text arrives after
// next is closed. It echoes ctrl+c and the end of a paste.
func acceptsNone(text string, next <-chan struct{}) script {
	return func(_ testing.TB, v *server.Viewer) error {
		v.Resume(api.InputState{Counts: true})
		if err := sendText(v, text); err != nil {
			return err
		}
		for {
			in, err := v.Receive()
			if err != nil {
				return err
			}
			select {
			case <-next:
				if len(in.Bytes) > 0 { // a size or an answer of the terminal may come at any time
					return api.Errorf(api.CodeUnavailable, "the engine stops")
				}
			default:
			}
			switch {
			case string(in.Bytes) == "\x03":
				_ = sendText(v, "<interrupted>")
			case bytes.HasSuffix(in.Bytes, []byte("\x1b[201~")):
				_ = sendText(v, "<end of paste>")
			}
		}
	}
}

func TestCtrlCOvertakesUnreadText(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"plain":      nil,
		"prediction": func(o *Options) { o.Predict = predict.Always },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t)
			p.watchScreen()
			p.attach(newEngineStub(t, acceptsNone("ready>", nil), greetAndEcho("again>")), change)
			p.waitOutput("ready>")
			p.sendText(strings.Repeat("a line of text\r", 100<<10))
			p.sendText("\x03")
			p.waitOutput("kB of unsent text; ")
			if change != nil { // without an overlay, output waits for the note
				p.waitOutput("<interrupted>")
			}
			p.sendText("\x02d")
			p.waitExit()
		})
	}
}

func TestCtrlCAfterPasteKeepsEndOfPaste(t *testing.T) {
	p := newPerson(t)
	p.watchScreen()
	p.attach(newEngineStub(t, acceptsNone("ready>", nil)), func(o *Options) { o.Predict = predict.Always })
	p.waitOutput("ready>")
	p.sendText("\x1b[200~" + strings.Repeat("a line of text\r", 100<<10))
	p.sendText("the last line\x1b[201~\x03")
	p.waitOutput("<end of paste>")
	p.waitOutput("<interrupted>")
	p.sendText("\x02d")
	p.waitExit()
}

func TestPossiblyLostTextIsReported(t *testing.T) {
	stop := make(chan struct{})
	p := newPerson(t)
	p.watchScreen()
	p.attach(newEngineStub(t, acceptsNone("ready>", stop), greetAndEcho("again>"), greetAndEcho("and again>")), nil)
	p.waitOutput("ready>")
	close(stop)
	p.sendText("12345")
	p.waitOutput("the connection was lost: up to 5 keys may be missing")
	p.sendText("z")
	p.waitOutput("<z>")
	p.sendText("\x02d")
	p.waitExit()
}

func TestExitOfSessionEndsRun(t *testing.T) {
	code := 3
	p := newPerson(t)
	p.watchScreen()
	p.attach(newEngineStub(t, func(_ testing.TB, v *server.Viewer) error {
		if err := sendText(v, "bye"); err != nil {
			return err
		}
		return v.Send(api.Output{Ended: &api.Process{Name: "work", State: api.StateExited, ExitCode: &code}})
	}), nil)
	got := p.waitExit()
	if got.Reason != Ended || got.Process == nil || *got.Process.ExitCode != 3 {
		t.Errorf("the outcome is %+v", got)
	}
	p.waitOutput("bye")
}

func TestRunResumesAfterEngineRestart(t *testing.T) {
	p := newPerson(t)
	p.watchScreen()
	lost := make(chan struct{})
	p.attach(newEngineStub(t,
		func(_ testing.TB, v *server.Viewer) error {
			sendText(v, "first>")
			<-lost
			return api.Errorf(api.CodeUnavailable, "the engine stops")
		},
		func(testing.TB, *server.Viewer) error {
			return api.Errorf(api.CodeUnavailable, "the engine starts")
		},
		greetAndEcho("second>")), nil)
	p.waitOutput("first>")
	close(lost)
	p.sendText("typed")
	p.waitOutput("second>")
	p.sendText("\r")
	p.waitOutput("\r>")
	p.sendText("\x02d")
	if got := p.waitExit(); got.Reason != Detached {
		t.Errorf("the outcome is %+v", got)
	}
}

func TestLeavingAlternateScreenFetchesScreenBelow(t *testing.T) {
	p := newPerson(t)
	p.watchScreen()
	typed := make(chan string, 100)
	take := func(v *server.Viewer) error {
		for {
			in, err := v.Receive()
			switch {
			case err != nil:
				return err
			case in.Bytes != nil:
				typed <- string(in.Bytes)
			case in.Lines != nil:
				v.Send(api.Output{Lines: []api.NumberedLine{}})
			}
		}
	}
	p.attach(newEngineStub(t,
		func(t testing.TB, v *server.Viewer) error {
			sendText(v, "\x1b[?1049hvim")
			in, err := v.Receive()
			for err == nil && in.Bytes == nil { // sizes come first
				in, err = v.Receive()
			}
			typed <- string(in.Bytes)
			sendText(v, "\x1b[?1049lstale")
			return take(v)
		},
		func(_ testing.TB, v *server.Viewer) error {
			sendText(v, "below>")
			return take(v)
		}), nil)
	p.waitOutput("vim")
	p.sendText(":q")
	p.sendText("ahead")
	p.waitOutput("below>")
	p.sendText("x")
	for got := ""; got != ":qaheadx"; {
		got += <-typed
		if !strings.HasPrefix(":qaheadx", got) {
			t.Fatalf("the session was sent %q", got)
		}
	}
	p.sendText("\x02d")
	p.waitExit()
	p.waitOutput(passthrough.LeaveAlt)
	if screen := p.screenText(); strings.Contains(screen, "stale") || strings.Count(screen, "?1049") != 2 {
		t.Errorf("the terminal was sent %q", screen)
	}
}

func TestSignalRestoresTerminal(t *testing.T) {
	p := newPerson(t)
	p.watchScreen()
	p.attach(newEngineStub(t, greetAndEcho("ready>")), nil)
	p.waitOutput("ready>")
	if err := unix.Kill(os.Getpid(), unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := p.waitExit(); got.Reason != Interrupted || got.Signal != unix.SIGTERM {
		t.Errorf("the outcome is %+v", got)
	}
	p.waitOutput(passthrough.LeaveAlt)
}

func TestSizeFollowsTerminal(t *testing.T) {
	p := newPerson(t)
	p.watchScreen()
	p.attach(newEngineStub(t, func(_ testing.TB, v *server.Viewer) error {
		sendText(v, "ready>")
		for {
			in, err := v.Receive()
			if err != nil {
				return err
			}
			if in.Resize != nil && in.Resize.Cols == 100 {
				sendText(v, "wide")
			}
		}
	}), nil)
	p.waitOutput("ready>")
	if err := pty.Setsize(p.slave, &pty.Winsize{Cols: 100, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	// The signal reaches only the terminal's foreground process group.
	if err := unix.Kill(os.Getpid(), unix.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	p.waitOutput("wide")
	p.sendText("\x02d")
	p.waitExit()
}

func TestUserCanDetachFromStalledTerminal(t *testing.T) {
	p := newPerson(t) // its output is not read, so the terminal fills up
	p.attach(newEngineStub(t, func(_ testing.TB, v *server.Viewer) error {
		for {
			if err := sendText(v, strings.Repeat("flood ", 10_000)); err != nil {
				return err
			}
		}
	}), nil)
	p.waitFull()
	p.sendText("\x02d")
	got := <-p.outcome
	if got.Reason != Detached {
		t.Errorf("the outcome is %+v", got)
	}
	p.watchScreen()
	p.waitOutput(passthrough.LeaveAlt)
}

func TestClosedTerminalEndsRun(t *testing.T) {
	p := newPerson(t)
	p.watchScreen()
	p.attach(newEngineStub(t, greetAndEcho("ready>")), nil)
	p.waitOutput("ready>")
	p.keyboard.Close()
	if got := <-p.outcome; got.Reason != HungUp || p.err != nil {
		t.Errorf("the outcome is %+v, %v", got, p.err)
	}
}

func TestFailedRunDoesNotTouchTerminal(t *testing.T) {
	p := newPerson(t)
	e := newEngineStub(t)
	pipe, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	defer write.Close()
	for name, change := range map[string]func(*Options){
		"no session":  func(o *Options) { o.ID = "nobody" },
		"no terminal": func(o *Options) { o.In = pipe },
		"ended":       func(o *Options) { o.ID = "over" },
		"just ended":  func(o *Options) {},
	} {
		o := Options{Client: e.client, ID: "work", In: p.slave, Out: p.slave, AnswerLimit: time.Millisecond}
		change(&o)
		if outcome, err := Run(context.Background(), o); err == nil {
			t.Errorf("%s: %+v, want an error", name, outcome)
		}
	}
	if diff := cmp.Diff(p.before, p.termios()); diff != "" {
		t.Error(diff)
	}
}

func TestCancelledContextEndsRun(t *testing.T) {
	p := newPerson(t)
	p.watchScreen()
	e := newEngineStub(t, greetAndEcho("ready>"))
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		outcome, err := Run(ctx, Options{Client: e.client, ID: "work", In: p.slave, Out: p.slave, AnswerLimit: time.Millisecond})
		p.err = err
		p.outcome <- outcome
	}()
	p.waitOutput("ready>")
	cancel()
	if got := p.waitExit(); got.Reason != Interrupted {
		t.Errorf("the outcome is %+v", got)
	}
}

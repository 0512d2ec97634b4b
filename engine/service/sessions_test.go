package service

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/session/terminal"
	"tandem/engine/session/terminal/terminaltest"
	"tandem/persist/store"
)

// startTerminal starts a session with a PTY, and returns the program's side of it in raw mode.
func (r *rig) startTerminal(in api.SessionStartInput) (api.Process, *os.File) {
	r.t.Helper()
	m, slave, err := pty.Open()
	if err != nil {
		r.t.Fatal(err)
	}
	defer m.Close()
	if _, err := term.MakeRaw(slave.Fd()); err != nil {
		r.t.Fatal(err)
	}
	fd, err := unix.FcntlInt(m.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	master := os.NewFile(uintptr(fd), "pty")
	r.t.Cleanup(func() {
		master.Close()
		slave.Close()
	})
	r.executor.open = func(rec store.Record) *terminal.Session {
		return terminal.Start(terminal.Options{
			ID: rec.ID, Master: master, Cols: rec.Cols, Rows: rec.Rows, Actor: rec.Actor,
			Host: terminaltest.Host{
				Log:     r.store.LogPath(rec),
				Read:    func() { r.control.ReportDrained(rec.ID) },
				Changed: func() { r.control.PublishView(rec.ID) },
				Told:    func(text string) { r.t.Error(text) },
			},
			Journal:  r.store,
			Displays: &terminal.Displays{},
			Replays:  make(chan struct{}, 1),
			Chunks:   terminal.NewChunks(),
			Log:      slog.New(slog.DiscardHandler),
		}, func() {})
	}
	if in.CWD = r.work; in.Command == nil {
		in.Command = []string{"program"}
	}
	p := call(r.t, r, api.SessionStart, in)
	r.executor.open = nil
	return p, slave
}

// readInput reads n bytes of a program's input.
func readInput(t *testing.T, slave *os.File, n int) string {
	t.Helper()
	got := make([]byte, n)
	for at := 0; at < n; {
		more, err := slave.Read(got[at:])
		if err != nil {
			t.Fatal(err)
		}
		at += more
	}
	return string(got)
}

func TestWriteTypesTextThenKeysThenPaste(t *testing.T) {
	r := newRig(t)
	p, slave := r.startTerminal(api.SessionStartInput{})
	for _, c := range []struct {
		in   api.SessionWriteInput
		want string
	}{
		{api.SessionWriteInput{Text: "ls\r"}, "ls\r"},
		{api.SessionWriteInput{Text: "ä\x00\x1b"}, "ä\x00\x1b"},
		{api.SessionWriteInput{Keys: []string{"ctrl+c", "up", "enter"}}, "\x03\x1b[A\r"},
		{api.SessionWriteInput{Text: "x", Keys: []string{"enter"}, Paste: "a\nb"}, "x\ra\rb"},
		{api.SessionWriteInput{Text: strings.Repeat("y", 3000)}, strings.Repeat("y", 3000)},
	} {
		c.in.ID = p.ID
		out := call(t, r, api.SessionWrite, c.in)
		if got := readInput(t, slave, len(c.want)); got != c.want || out.Written != len(c.want) || out.Dropped != 0 {
			t.Errorf("%+v: the program reads %q, answered %+v", c.in, got, out)
		}
	}
	if out := call(t, r, api.SessionWrite, api.SessionWriteInput{ID: p.ID}); out.Written != 0 {
		t.Errorf("nothing: %+v", out)
	}
	for _, key := range []string{"", "ctrl+", "nokey", "\x1b[A", strings.Repeat("shift+", 1000)} {
		wantError(t, r, api.SessionWrite, api.SessionWriteInput{ID: p.ID, Text: "x", Keys: []string{"enter", key}}, api.CodeInvalid, "type key")
	}
	// The modes set by the program decide how keys and pastes are encoded.
	if _, err := slave.WriteString("\x1b[?1h\x1b[?2004hready"); err != nil {
		t.Fatal(err)
	}
	call(t, r, api.SessionWait, api.SessionWaitInput{ID: p.ID, Screen: "ready"})
	call(t, r, api.SessionWrite, api.SessionWriteInput{ID: p.ID, Keys: []string{"up"}, Paste: "a\nb\x1b[201~c"})
	want := "\x1bOA\x1b[200~"
	if got := readInput(t, slave, len(want)); got != want {
		t.Errorf("the program reads %q, want %q", got, want)
	}
}

func TestInsertDoesNotRunTheCommand(t *testing.T) {
	r := newRig(t)
	p, slave := r.startTerminal(api.SessionStartInput{})
	insert := func(text string, lines bool, want string) {
		t.Helper()
		call(t, r, api.SessionInsert, api.SessionInsertInput{ID: p.ID, Text: text, Lines: lines})
		if got := readInput(t, slave, len(want)); got != want {
			t.Errorf("%q: the program reads %q, want %q", text, got, want)
		}
	}
	print := func(text, shown string) {
		t.Helper()
		if _, err := slave.WriteString(text + shown); err != nil {
			t.Fatal(err)
		}
		call(t, r, api.SessionWait, api.SessionWaitInput{ID: p.ID, Screen: shown})
	}
	// While nobody has typed yet, insert waits for the prompt of a new shell.
	insert("git status\n", false, "git status")
	insert("a\x1b[201~\x03\r b\tc", false, "a[201~ b c")
	for _, text := range []string{"touch x\ngit status", "\nls", "a\r\nb"} {
		wantError(t, r, api.SessionInsert, api.SessionInsertInput{ID: p.ID, Text: text}, api.CodeConflict, "may run each line")
		if err := callError(t, r, api.SessionInsert, api.SessionInsertInput{ID: p.ID, Text: text}); !errors.Is(err, api.ReasonRunsLines) {
			t.Errorf("%q: %v", text, err)
		}
	}
	insert("one\ntwo\n", true, "one\rtwo")

	print("\x1b[?2004h", "pastes")
	insert("one\n\ttwo\x1b[201~\n", false, "\x1b[200~one\n\ttwo[201~\x1b[201~")
	// A shell turns it off before it runs a command.
	print("\x1b[?2004l", "runs")
	wantError(t, r, api.SessionInsert, api.SessionInsertInput{ID: p.ID, Text: "one\ntwo"}, api.CodeConflict, "insert 2 lines")

	agent := r.agent()
	call(t, r, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.ID, Take: true})
	if err := callError(t, agent, api.SessionInsert, api.SessionInsertInput{ID: p.ID, Text: "x"}); !errors.Is(err, api.CodeLocked) {
		t.Errorf("an agent inserts into a locked session: %v", err)
	}
}

func TestInvalidSessionChangesAreRejected(t *testing.T) {
	r := newRig(t)
	p, _ := r.startTerminal(api.SessionStartInput{Name: "shell"})
	for _, size := range [][2]int{{0, 24}, {80, 0}, {-1, -1}, {terminal.MaxSide + 1, 24}, {80, 1 << 40}} {
		wantError(t, r, api.SessionResize, api.SessionResizeInput{ID: p.ID, Cols: size[0], Rows: size[1]}, api.CodeInvalid, "both sides must be 1 to")
		if size[0] != 0 && size[1] != 0 {
			wantError(t, r, api.SessionStart, api.SessionStartInput{Cols: size[0], Rows: size[1], CWD: r.work}, api.CodeInvalid, "both sides must be 1 to")
		}
	}
	call(t, r, api.SessionResize, api.SessionResizeInput{ID: p.ID, Cols: terminal.MaxSide, Rows: 1})
	if now := call(t, r, api.SessionGet, api.IDInput{ID: p.ID}).Terminal; now.Cols != terminal.MaxSide || now.Rows != 1 {
		t.Errorf("%+v", now)
	}
	other := r.start(api.ProcessStartInput{Name: "web"})
	for _, name := range []string{"", " ", "a\x1b", "0123456789ab", strings.Repeat("ä", 65), "`a`", "$a", "a(b)", "box/a", " a", "a ", "-a", "a\u3164"} {
		wantError(t, r, api.SessionRename, api.SessionRenameInput{ID: p.ID, Name: name}, api.CodeInvalid, "name")
	}
	wantError(t, r, api.SessionRename, api.SessionRenameInput{ID: p.ID, Name: "web"}, api.CodeConflict, "web")
	renamed := call(t, r, api.SessionRename, api.SessionRenameInput{ID: "shell", Name: strings.Repeat("ä", 64)})
	if now := call(t, r, api.SessionGet, api.IDInput{ID: renamed.Name}); now.ID != p.ID {
		t.Errorf("found %+v", now)
	}
	wantError(t, r, api.SessionGet, api.IDInput{ID: "shell"}, api.CodeNotFound, "shell")
	wantError(t, r, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.ID, Take: true, Open: true}, api.CodeInvalid, "give take or open, not both")
	wantError(t, r, api.SessionKeyboard, api.SessionKeyboardInput{ID: other.ID, Take: true}, api.CodeNotFound, "")
	wantError(t, r, api.SessionExec, api.SessionExecInput{ID: p.ID, Command: " \n"}, api.CodeInvalid, "the command is empty")
	negative, zero := int64(-1), int64(0)
	wantError(t, r, api.SessionRecord, api.SessionRecordInput{ID: p.ID, Until: negative}, api.CodeInvalid, "until cannot be negative")
	wantError(t, r, api.SessionRecord, api.SessionRecordInput{ID: p.ID, Since: &zero, Max: -1}, api.CodeInvalid, "cannot be negative")
	wantError(t, r, api.SessionRecord, api.SessionRecordInput{ID: p.ID, Since: &zero, WaitMS: -1}, api.CodeInvalid, "cannot be negative")
}

func TestEndedSessionRejectsChanges(t *testing.T) {
	r := newRig(t)
	p, slave := r.startTerminal(api.SessionStartInput{Name: "shell"})
	slave.Close()
	killed := call(t, r, api.SessionKill, api.IDInput{ID: p.ID})
	if killed.State != api.StateStopped {
		t.Errorf("%+v", killed)
	}
	wantError(t, r, api.SessionKill, api.IDInput{ID: p.ID}, api.CodeEnded, "")
	wantError(t, r, api.SessionResize, api.SessionResizeInput{ID: p.ID, Cols: 10, Rows: 10}, api.CodeEnded, "it has exited")
	wantError(t, r, api.SessionWrite, api.SessionWriteInput{ID: p.ID, Text: "x"}, api.CodeEnded, "it has exited")
	wantError(t, r, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.ID, Take: true}, api.CodeEnded, "it has exited")
	if all := call(t, r, api.SessionList, api.Empty{}).Sessions; len(all) != 1 || all[0].ID != p.ID {
		t.Errorf("listed %+v", all)
	}
}

func TestAgentsAreHeldToTheKeyboardLockAndTheSandbox(t *testing.T) {
	r := newRig(t)
	p, slave := r.startTerminal(api.SessionStartInput{Name: "shell"})
	agent, confined := r.agent(), r.agent()
	confined.bounds = &api.Bounds{Sandbox: &api.Sandbox{}}
	// An unusable name does not become the holder.
	r.name = "\x1b[31m"
	if taken := call(t, r, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.ID, Take: true}); taken.Terminal.Keyboard != api.Person {
		t.Errorf("held by %q", taken.Terminal.Keyboard)
	}
	for name, change := range map[string]func(c client) error{
		"type": func(c client) error { return typeText(t, c, p.ID, "x") },
		"run": func(c client) error {
			return callError(t, c, api.SessionExec, api.SessionExecInput{ID: p.ID, Command: "ls"})
		},
		"resize": func(c client) error {
			return callError(t, c, api.SessionResize, api.SessionResizeInput{ID: p.ID, Cols: 9, Rows: 9})
		},
		"rename": func(c client) error {
			return callError(t, c, api.SessionRename, api.SessionRenameInput{ID: p.ID, Name: "x"})
		},
		"kill": func(c client) error { return callError(t, c, api.SessionKill, api.IDInput{ID: p.ID}) },
		"signal": func(c client) error {
			return callError(t, c, api.ProcessSignal, api.ProcessSignalInput{ID: p.ID, Signal: "KILL"})
		},
		"stop":   func(c client) error { return callError(t, c, api.ProcessStop, api.ProcessStopInput{ID: p.ID}) },
		"remove": func(c client) error { return callError(t, c, api.ProcessRemove, api.IDInput{ID: p.ID}) },
		"restart": func(c client) error {
			return callError(t, c, api.ProcessRestart, api.ProcessRestartInput{ID: p.ID})
		},
		"update": func(c client) error {
			return callError(t, c, api.ProcessUpdate, api.ProcessUpdateInput{ID: p.ID, Name: new(string)})
		},
	} {
		if e := api.AsError(change(agent)); e == nil || name != "update" && e.Code != api.CodeLocked {
			t.Errorf("%s: %v", name, e)
		}
	}
	if err := typeText(t, r.client, p.ID, "u"); err != nil || readInput(t, slave, 1) != "u" {
		t.Errorf("the user types: %v", err)
	}
	call(t, r, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.ID})
	if err := typeText(t, agent, p.ID, "a"); err != nil || readInput(t, slave, 1) != "a" {
		t.Errorf("unlocked: %v", err)
	}
	for name, e := range map[string]error{
		"type":    typeText(t, confined, p.ID, "c"),
		"restart": callError(t, confined, api.ProcessRestart, api.ProcessRestartInput{ID: "shell"}),
		"policy":  callError(t, confined, api.ProcessUpdate, api.ProcessUpdateInput{ID: "shell", KeepAlive: new(bool)}),
	} {
		if e := api.AsError(e); e == nil || e.Code != api.CodeForbidden || !strings.Contains(e.Message, "outside the agents' sandbox") {
			t.Errorf("%s out of a sandbox: %v", name, e)
		}
	}
	call(t, r, api.SessionKeyboard, api.SessionKeyboardInput{ID: p.ID, Open: true})
	if err := typeText(t, confined, p.ID, "c"); err != nil || readInput(t, slave, 1) != "c" {
		t.Errorf("opened by the user: %v", err)
	}
}

// callError returns the error of a call.
func callError[In, Out any](t *testing.T, c api.Engine, op api.Operation[In, Out], in In) error {
	_, err := op.Call(t.Context(), c, in)
	return err
}

func typeText(t *testing.T, c api.Engine, id, text string) error {
	return callError(t, c, api.SessionWrite, api.SessionWriteInput{ID: id, Text: text})
}

// A terminal accepts only a limited amount of input that its program has not read.
func TestInputThatIsNotReadIsDropped(t *testing.T) {
	r := newRig(t)
	p, _ := r.startTerminal(api.SessionStartInput{})
	session, _, err := r.control.OpenSession(t.Context(), p.ID)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(r.makeContext(t), time.Millisecond)
	defer cancel()
	text := []byte(strings.Repeat("x", 1<<20))
	out, err := typePieces(ctx, session, nil, piece{bytes: text}, piece{bytes: []byte("more")})
	if err != nil || out.Dropped == 0 || out.Written+out.Dropped != len(text)+len("more") {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestSessionStartsInCWDIfFolderOfOtherSessionIsUnknown(t *testing.T) {
	r := newRig(t)
	p, _ := r.startTerminal(api.SessionStartInput{}) // its process does not exist
	for _, of := range []string{p.ID, "nobody", "\x00"} {
		if got := call(t, r, api.SessionStart, api.SessionStartInput{Command: []string{"x"}, CWDOf: of, CWD: r.work}); got.CWD != r.work {
			t.Errorf("beside %q: in %s", of, got.CWD)
		}
	}
}

func TestRecordReturnsAPartOfTheLog(t *testing.T) {
	r := newRig(t)
	p, slave := r.startTerminal(api.SessionStartInput{Cols: 40, Rows: 10})
	if _, err := slave.WriteString("one\xff\r\ntwo\r\n"); err != nil {
		t.Fatal(err)
	}
	call(t, r, api.SessionWait, api.SessionWaitInput{ID: p.ID, Screen: "two"})
	since := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		in   api.SessionRecordInput
		data string
		next int64
	}{
		{api.SessionRecordInput{Since: since(0)}, "one\xff\r\ntwo\r\n", 11},
		{api.SessionRecordInput{Since: since(0), Until: 4}, "one\xff", 4},
		{api.SessionRecordInput{Since: since(0), Max: 5}, "one\xff\r", 5},
		{api.SessionRecordInput{Since: since(6), Max: 2, Until: 7}, "t", 7},
		{api.SessionRecordInput{Since: since(-5)}, "two\r\n", 11},
		{api.SessionRecordInput{Since: since(-5), Until: 8}, "tw", 8},
		{api.SessionRecordInput{Since: since(-5), Until: 2}, "", 6},
		{api.SessionRecordInput{Since: since(4), Until: 2}, "", 4},
		{api.SessionRecordInput{Since: since(0), Max: 1 << 40}, "one\xff\r\ntwo\r\n", 11},
	} {
		c.in.ID = p.ID
		out := call(t, r, api.SessionRecord, c.in)
		if string(out.Data) != c.data || out.NextCursor != c.next || out.State != api.StateRunning {
			t.Errorf("since %d until %d max %d: %q, next %d", *c.in.Since, c.in.Until, c.in.Max, out.Data, out.NextCursor)
		}
	}
	now := call(t, r, api.SessionRecord, api.SessionRecordInput{ID: p.ID})
	if !strings.Contains(string(now.Repaint), "two") || now.Start != 11 || now.End != 11 || !slices.Equal(now.Sizes, []api.LogSize{{Offset: 11, Cols: 40, Rows: 10}}) {
		t.Errorf("from now on: %+v", now)
	}
}

func TestScreenAndOutputOfASessionAreRead(t *testing.T) {
	r := newRig(t)
	p, slave := r.startTerminal(api.SessionStartInput{Cols: 40, Rows: 5})
	if _, err := slave.WriteString("one\r\n\x1b[1mtwo\x1b[m ä\r\nthree"); err != nil {
		t.Fatal(err)
	}
	call(t, r, api.SessionWait, api.SessionWaitInput{ID: p.ID, Screen: "three"})
	screen := call(t, r, api.SessionScreen, api.SessionScreenInput{ID: p.ID})
	if screen.State != api.StateRunning || !slices.Equal(screen.Lines, []string{"one", "two ä", "three", "", ""}) {
		t.Errorf("the screen is %+v", screen)
	}
	if out := call(t, r, api.SessionRead, api.SessionReadInput{ID: p.ID, Since: 5}); !strings.Contains(out.Data, "two") || strings.Contains(out.Data, "one") || out.State != api.StateRunning {
		t.Errorf("read %+v", out)
	}
	for _, id := range []string{"none", "\x1b[31m", ""} {
		wantError(t, r, api.SessionScreen, api.SessionScreenInput{ID: id}, api.CodeNotFound, "")
		wantError(t, r, api.SessionRead, api.SessionReadInput{ID: id}, api.CodeNotFound, "")
		wantError(t, r, api.SessionForeground, api.IDInput{ID: id}, api.CodeNotFound, "")
		wantError(t, r, api.SessionText, api.SessionTextInput{ID: id}, api.CodeNotFound, "")
		wantError(t, r, api.SessionRecord, api.SessionRecordInput{ID: id}, api.CodeNotFound, "")
	}
}

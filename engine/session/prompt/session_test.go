package prompt

import (
	"context"
	"flag"
	"image"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"time"

	"tandem/engine/api"
	"tandem/engine/system/pty"
	"tandem/tests/needs"
	"tandem/tests/places"
	"tandem/tests/wait"
)

var record = flag.Bool("record", false, "run the shells and rewrite their recordings in testdata")

// recordingDir is the directory of shells that are recorded, because recordings contain its name.
const recordingDir = "/tmp/recorded-shell"

// A session is a shell in a terminal without an engine. The shell is a recording, or a real one on
// a PTY.
type session struct {
	*screen
	t       *testing.T
	home    string
	nonce   string
	live    *liveShell // nil if a recording is replayed
	player  *player    // nil if the shell is real
	gone    chan struct{}
	stopped bool // its exit is that of a stop
}

// replayShell runs a test with the recording of a shell. With -record, it runs the test with the
// shell itself, and records it.
func replayShell(t *testing.T, c shellCase, test func(s *session)) {
	t.Helper()
	cryptotest.SetGlobalRandom(t, 1) // one-time nonces
	kind := KindOf(c.argv)
	if *record {
		if err := os.Mkdir(recordingDir, 0o700); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(recordingDir)
		s := startShell(t, c, recordingDir, "n")
		test(s)
		if !t.Failed() {
			s.live.finish(scriptsOf(t, kind)).write(t)
		}
		return
	}
	replay(t, kind, test)
}

// startLive starts a shell that is neither recorded nor replayed.
func startLive(t *testing.T, c shellCase) *session {
	t.Helper()
	return startShell(t, c, t.TempDir(), "00112233445566778899aabbccddeeff")
}

// startShell starts a shell with its files in dir.
func startShell(t *testing.T, c shellCase, dir, nonce string) *session {
	t.Helper()
	needs.Program(t, c.argv[0], c.argv[0])
	places.Take(t)
	if signal.Ignored(os.Interrupt) { // by a shell that runs the tests in the background; children inherit it
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	scripts := filepath.Join(dir, ".marks")
	if err := Install(scripts); err != nil {
		t.Fatal(err)
	}
	for name, text := range c.files {
		writeFile(t, filepath.Join(dir, name), text)
	}
	// Without these directories (of fish 3 and 4), fish reads all manual pages in the background.
	writeFile(t, filepath.Join(dir, ".local/fish/generated_completions/none"), "")
	writeFile(t, filepath.Join(dir, ".cache/fish/generated_completions/none"), "")
	env := map[string]string{
		"HOME": dir, "PWD": dir, "ENV": dir + "/.shrc", "XDG_CONFIG_HOME": dir + "/.config", "XDG_DATA_HOME": dir + "/.local",
		"LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "TERM_PROGRAM": "tandem", "COLORTERM": "truecolor", "PATH": "/usr/local/bin:/usr/bin:/bin",
	}
	if _, ok := c.files["own.py"]; ok {
		env["PYTHONSTARTUP"] = dir + "/own.py"
	}
	s := &session{t: t, home: dir, gone: make(chan struct{})}
	argv := c.argv
	if start, ok := Inject(argv, func(name string) (string, bool) { v, ok := env[name]; return v, ok }, scripts, nonce, false); ok {
		argv, s.nonce = start.Argv, nonce
		for name, value := range start.Env {
			env[name] = value
		}
	}
	var pairs []string
	for name, value := range env {
		pairs = append(pairs, name+"="+value)
	}
	s.live = startOnPTY(t, argv, pairs, dir)
	s.live.session = s
	s.screen = makeScreen(t, Options{PID: s.live.cmd.Process.Pid, Nonce: s.nonce, Kind: KindOf(c.argv)}, ptyPrograms{s.live.master})
	s.connect()
	go s.live.follow()
	return s
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// connect passes the screen's input on to the shell.
func (s *session) connect() {
	s.answer = s.receive
	s.signals = func(typed []byte) bool { return strings.Contains(string(typed), "\x03") && s.sendsSignal() }
}

func (s *session) receive(typed string) {
	if s.live != nil {
		s.live.receive(typed)
		return
	}
	s.player.inputs <- recorded{"type", []string{typed}}
}

func (s *session) sendsSignal() bool {
	if s.live != nil {
		return s.live.observe().signals
	}
	s.player.programs.mu.Lock()
	defer s.player.programs.mu.Unlock()
	return s.player.programs.signals
}

// do does something outside the terminal that the shell reacts to.
func (s *session) do(what string, f func()) {
	s.settle()
	if s.live == nil {
		s.player.inputs <- recorded{"do", []string{what}}
		return
	}
	s.live.noteObservation()
	s.live.note("do", what)
	f()
}

// settle waits until the shell has handled earlier input, so that a recording does not depend on
// the speed of the shell.
func (s *session) settle() {
	switch {
	case s.live == nil:
		s.player.settle()
	case *record:
		s.live.settle()
	}
}

// resize resizes the terminal.
func (s *session) resize(cols, rows int) {
	s.settle()
	s.mu.Lock()
	s.cols, s.rows = cols, rows
	s.vt.Resize(cols, rows)
	s.mu.Unlock()
	s.do("resize", func() {
		if err := pty.SetSize(s.live.master, cols, rows, image.Point{}); err != nil {
			s.t.Error(err)
		}
	})
}

// exit ends the session.
func (s *session) exit(code *int) {
	s.code = code
	close(s.over)
	cols, rows := s.Size()
	s.shell.NoteExit(Spot{Offset: s.End(), Cols: cols, Rows: rows}, code, s.stopped)
	close(s.gone)
}

// replaceEngine follows the shell like an engine that has replaced another: from the log alone.
func (s *session) replaceEngine() {
	s.settle()
	old := s.screen
	o := old.shell.o
	s.screen = makeScreen(s.t, Options{PID: o.PID, Nonce: o.Nonce, Kind: o.Kind}, old.shell.programs)
	s.ran = old.commandsSoFar()
	s.connect()
	s.vt.SetReplies(false)
	s.print(string(old.log))
	s.vt.SetReplies(true)
	s.shell.NoteReplay(false)
}

// exec runs session.exec.
func (s *session) exec(in api.SessionExecInput) (api.SessionExecOutput, error) {
	s.settle()
	if err := CheckExec(&in, true); err != nil {
		return api.SessionExecOutput{}, err
	}
	return s.shell.Exec(s.t.Context(), in, "web")
}

// sh runs a command that must be accepted.
func (s *session) sh(command string) api.SessionExecOutput {
	s.t.Helper()
	out, err := s.exec(api.SessionExecInput{Command: command})
	if err != nil {
		s.t.Errorf("%s: %v\nlog %q", command, err, s.logEnd())
	}
	return out
}

// wantRun runs a command and compares its output and status.
func (s *session) wantRun(command, output string, code int) api.SessionExecOutput {
	s.t.Helper()
	out := s.sh(command)
	if out.Output != output || out.ExitCode == nil || *out.ExitCode != code || out.TimedOut {
		s.t.Errorf("%s: %+v, want %q and %d\nlog %q", command, out, output, code, s.logEnd())
	}
	return out
}

// write types text.
func (s *session) write(text string) {
	s.settle()
	s.TypeInto(s.t.Context(), []byte(text))
}

// wait runs session.wait, by default for a minute.
func (s *session) wait(in api.SessionWaitInput) api.SessionWaitOutput {
	s.t.Helper()
	w, err := NewConditions(in, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	timeout := time.Minute
	if in.TimeoutMS > 0 {
		timeout = time.Duration(in.TimeoutMS) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), timeout)
	defer cancel()
	out, err := s.shell.Await(ctx, w)
	if err != nil {
		s.t.Error(err)
	}
	return out
}

// awaitPrompt waits for the prompt.
func (s *session) awaitPrompt() {
	s.t.Helper()
	if w := s.wait(api.SessionWaitInput{Prompt: true}); w.Met != "prompt" {
		s.t.Errorf("wait for the prompt: %+v\nlog %q", w, s.logEnd())
	}
}

func (s *session) awaitScreen(text string) {
	s.t.Helper()
	if w := s.wait(api.SessionWaitInput{Screen: text}); w.Met != "screen" {
		s.t.Errorf("%q is not on the screen\nlog %q", text, s.logEnd())
	}
}

// awaitExit waits until the shell has exited.
func (s *session) awaitExit() {
	s.t.Helper()
	wait.Receive(s.t, "the exit of the shell", s.gone)
}

// commands waits until a number of commands have run, without "true", and returns all of them.
func (s *session) commands(n int) (all []Command) {
	s.t.Helper()
	for {
		all = slices.DeleteFunc(s.commandsSoFar(), func(c Command) bool { return strings.HasPrefix(c.Line, "true") })
		if len(all) >= n {
			return all
		}
		wait.Receive(s.t, "the end of a command", s.ended)
	}
}

// logEnd returns the last part of the log.
func (s *session) logEnd() string {
	text := s.logText()
	return text[max(0, len(text)-1500):]
}

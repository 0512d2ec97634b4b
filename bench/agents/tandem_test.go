package agents

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"tandem/tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// A program is a tandem with its own data folder.
type program struct {
	path string
	env  []string
}

// newProgram returns tandem, played by the test binary, with an empty data folder. Everything it
// starts is stopped with the test. TANDEM names a build to measure instead.
func newProgram(t testing.TB) program {
	t.Helper()
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := program{path: cmp.Or(os.Getenv("TANDEM"), self)}
	if err := os.Mkdir(filepath.Join(dir, "home"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.env = append(os.Environ(), harness.AsProgram+"=1", "TANDEM_DATA_DIR="+filepath.Join(dir, "d"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"),
		"HOME="+filepath.Join(dir, "home"), "SHELL=/bin/bash", "TERM=xterm-256color", "LANG=C.UTF-8", "TMUX=", "PS1=$ ")
	t.Cleanup(func() {
		p.command("shutdown", "--all", "--yes").Run()
		os.RemoveAll(dir)
	})
	return p
}

func (p program) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.path, args...)
	cmd.Env = p.env
	return cmd
}

// A tandemDriver uses Tandem's own tools.
type tandemDriver struct{ *server }

func (p program) newDriver(dir, client string) driver {
	cmd := p.command("--serve")
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	return tandemDriver{startServer(cmd, client)}
}

func (h tandemDriver) cost() tally { return h.tally }

// call calls a tool, and repeats the call if the answer says to.
func (h tandemDriver) call(tool string, args map[string]any) answer {
	a := h.server.call(tool, args)
	for again := 0; again < 3 && a.failed && strings.Contains(a.text, "try again"); again++ {
		a = h.server.call(tool, args)
	}
	return a
}

var (
	exitLine  = regexp.MustCompile(`(?i)exit(?:ed,)? code:? (\d+)`)
	signalled = regexp.MustCompile(`Signal: |ended by `)
	waitsLine = regexp.MustCompile(`\[waits for (?:input|secret)|Met: input`)
	// endedLine matches the last line of session_write's or session_wait's answer about an exited
	// program.
	endedLine = regexp.MustCompile(`(?m)^\[(?:exit code|ended by) .*\]\z|^Met: exit`)
	hexID     = regexp.MustCompile(`\b[0-9a-f]{12}\b`)
)

// stillRuns reports whether an answer describes a command that is still running.
func stillRuns(a answer) bool {
	return contains(a.text, "continues as") || contains(a.text, "[still running")
}

// exitCode returns the exit status in an answer, or -1. A successful command may be answered with
// its output alone.
func exitCode(a answer) int {
	for _, name := range []string{"exitCode", "exit_code"} {
		if n, ok := a.facts[name].(float64); ok {
			return int(n)
		}
	}
	if all := exitLine.FindAllStringSubmatch(a.text, -1); all != nil {
		n, _ := strconv.Atoi(all[len(all)-1][1])
		return n
	}
	if a.failed || stillRuns(a) || waitsLine.MatchString(a.text) || signalled.MatchString(a.text) {
		return -1
	}
	return 0
}

// idOf returns the id of the started program in an answer.
func idOf(a answer) string {
	if id, ok := a.facts["id"].(string); ok {
		return id
	}
	return hexID.FindString(a.text)
}

func (h tandemDriver) run(command string) reply {
	p, r := h.parseExec(h.call("exec", map[string]any{"command": command}))
	if !p.exited {
		return h.awaitEnd(p)
	}
	return r
}

// parseExec reads the answer of exec.
func (h tandemDriver) parseExec(a answer) (handle, reply) {
	p := handle{&handleState{exited: !stillRuns(a)}}
	if named, ok := a.facts["id"].(string); ok || !p.exited {
		p.id = named
	}
	if p.id == "" && !p.exited {
		p.id = idOf(a)
	}
	return p, reply{text: a.text, code: exitCode(a)}
}

func (h tandemDriver) runFor(command string, wait time.Duration) (handle, reply) {
	args := map[string]any{"command": command}
	if wait != 30*time.Second {
		args["timeoutMs"] = wait.Milliseconds()
	}
	return h.parseExec(h.call("exec", args))
}

// awaitEnd takes the remaining output from process_wait's answer, or else from process_log.
func (h tandemDriver) awaitEnd(p handle) reply {
	a := h.call("process_wait", map[string]any{"id": p.id})
	p.exited = true
	_, text, _ := strings.Cut(a.text, "\n")
	if text == "" {
		text = h.readNew(p)
	}
	return reply{text: text, code: exitCode(a)}
}

func (h tandemDriver) runWithTimeout(command string, timeout time.Duration) reply {
	_, r := h.parseExec(h.call("exec", map[string]any{"command": command, "timeoutMs": timeout.Milliseconds(), "kill": true}))
	return r
}

func (h tandemDriver) openTerminal(program string) handle {
	args := map[string]any{}
	if program != "" {
		args["command"] = program
	}
	a := h.call("session_start", args)
	if a.failed {
		giveUp("session_start: %s", a.text)
	}
	return handle{&handleState{id: idOf(a), atPrompt: true, repl: program != "", lastAnswer: a.text}}
}

// updateState notes a session's state from an answer.
func (h tandemDriver) updateState(p handle, a answer) {
	p.lastAnswer = a.text
	p.exited = contains(a.text, "has ended")
	p.atPrompt = !p.exited && (p.repl || !stillRuns(a) && !waitsLine.MatchString(a.text))
}

// settle waits until a program wants input, is back at the shell or has exited.
func (h tandemDriver) settle(p handle) answer {
	a := h.call("session_wait", map[string]any{"id": p.id})
	h.updateState(p, a)
	p.exited = endedLine.MatchString(a.text)
	return a
}

func (h tandemDriver) typeLine(p handle, text string) reply {
	if !p.atPrompt {
		return h.answer(p, text)
	}
	args := map[string]any{"id": p.id, "command": text}
	a := h.call("session_exec", args)
	if a.failed && contains(a.text, "session_wait") { // following the error's hint
		h.settle(p)
		a = h.call("session_exec", args)
	}
	h.updateState(p, a)
	return reply{a.text, exitCode(a), waitsLine.MatchString(a.text)}
}

// answer types a line into a program that asks for input. Its result is in the answer or, if it
// still runs, in that of session_wait.
func (h tandemDriver) answer(p handle, text string) reply {
	args := map[string]any{"id": p.id, "enter": true}
	if text != "" {
		args["text"] = text
	}
	a := h.call("session_write", args)
	h.updateState(p, a)
	p.exited = endedLine.MatchString(a.text)
	if !stillRuns(a) {
		return reply{a.text, exitCode(a), waitsLine.MatchString(a.text)}
	}
	waited := h.settle(p)
	return reply{waited.text, exitCode(waited), !p.exited && waitsLine.MatchString(waited.text)}
}

func (h tandemDriver) pressKeys(p handle, text string, keys ...string) {
	args := map[string]any{"id": p.id}
	if text != "" {
		args["text"] = text
	}
	if len(keys) == 1 && keys[0] == "enter" {
		args["enter"] = true
	} else if len(keys) > 0 {
		args["keys"] = keys
	}
	a := h.call("session_write", args)
	h.updateState(p, a)
	p.exited = endedLine.MatchString(a.text)
}

func (h tandemDriver) awaitScreen(p handle, pattern string) {
	shown := regexp.MustCompile(pattern).MatchString
	if shown(p.lastAnswer) {
		return
	}
	a := h.call("session_wait", map[string]any{"id": p.id, "screen": pattern})
	if p.lastAnswer = a.text; !shown(a.text) {
		p.lastAnswer = h.call("session_screen", map[string]any{"id": p.id}).text
	}
	wantMatch(p.lastAnswer, pattern)
}

func (h tandemDriver) awaitExit(p handle) {
	if p.exited {
		return
	}
	p.lastAnswer = h.call("session_wait", map[string]any{"id": p.id, "exit": true}).text
	if p.exited = endedLine.MatchString(p.lastAnswer); !p.exited {
		giveUp("the program has not exited: %s", p.lastAnswer)
	}
}

func (h tandemDriver) floodTerminal(p handle, text string) {
	h.call("session_exec", map[string]any{"id": p.id, "command": text, "timeout_ms": 1000, "max_output": 500})
	h.call("session_write", map[string]any{"id": p.id, "keys": []string{"ctrl+c"}})
}

func (h tandemDriver) startBackground(command string) handle {
	a := h.call("process_start", map[string]any{"command": command})
	if a.failed {
		giveUp("process_start: %s", a.text)
	}
	return handle{&handleState{id: idOf(a)}}
}

func (h tandemDriver) startService(command string, port int) (handle, bool) {
	a := h.call("process_start", map[string]any{"command": command, "wait": map[string]any{"port": port}})
	if a.failed {
		giveUp("process_start: %s", a.text)
	}
	p, up := handle{&handleState{id: idOf(a)}}, isMet(a, "port")
	if !up {
		_, p.output, _ = strings.Cut(a.text, "\n")
	}
	return p, up
}

// isMet reports whether a wait's condition was met.
func isMet(a answer, condition string) bool {
	return a.facts["met"] == condition || contains(a.text, "Met: "+condition)
}

func (h tandemDriver) awaitOutput(p handle, pattern string) string {
	a := h.call("process_wait", map[string]any{"id": p.id, "log": pattern})
	if !isMet(a, "log") {
		giveUp("process_wait: %s", a.text)
	}
	return a.text
}

// readNew returns the output in the last wait's answer, or else in the log.
func (h tandemDriver) readNew(p handle) string {
	if text := p.takeUnread(); text != "" {
		return text
	}
	return h.call("process_log", map[string]any{"id": p.id}).text
}

func (h tandemDriver) grepOutput(p handle, command, pattern string) string {
	if p.id == "" {
		return h.run("(" + command + ") | grep -n " + strconv.Quote(pattern)).text
	}
	return h.call("process_log", map[string]any{"id": p.id, "grep": pattern}).text
}

func (h tandemDriver) stop(p handle) {
	if strings.Contains(h.call("process_stop", map[string]any{"id": p.id}).text, "Unknown") {
		giveUp("process_stop: unknown process %s", p.id)
	}
}

func (h tandemDriver) readFile(path string, from, lines int) string {
	args := map[string]any{"path": path}
	if from > 1 {
		args["offset"] = from
	}
	if lines > 0 {
		args["limit"] = lines
	}
	return h.call("read", args).text
}

func (h tandemDriver) editFile(path, old, text string) {
	a := h.call("edit", map[string]any{"path": path, "edits": []map[string]string{{"search": old, "replace": text}}})
	if a.failed {
		giveUp("edit: %s", a.text)
	}
}

func (h tandemDriver) writeFile(path, text string) {
	if a := h.call("write", map[string]any{"path": path, "content": text}); a.failed {
		giveUp("write: %s", a.text)
	}
}

func (h tandemDriver) grepFiles(pattern, glob string) string {
	return h.call("grep", map[string]any{"pattern": pattern, "glob": glob}).text
}

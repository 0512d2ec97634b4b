package agents

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A program is a tandem with a data folder of its own.
type program struct {
	path string
	env  []string
}

// build compiles tandem and gives it an empty data folder; what it started is
// ended with the test. TANDEM names another one to measure.
func build(t testing.TB) program {
	t.Helper()
	dir, err := os.MkdirTemp("", "td")
	if err != nil {
		t.Fatal(err)
	}
	p := program{path: os.Getenv("TANDEM")}
	if p.path == "" {
		p.path = filepath.Join(dir, "tandem")
		if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", p.path, "tandem").CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "home"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.env = append(os.Environ(), "TANDEM_DATA_DIR="+filepath.Join(dir, "d"), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"),
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

// tandemHands are an agent's with Tandem's own tools.
type tandemHands struct{ *server }

func (p program) hands(dir, client string) hands {
	cmd := p.command("--serve")
	cmd.Dir = dir
	cmd.Stderr = os.Stderr
	return tandemHands{startServer(cmd, client)}
}

func (h tandemHands) cost() tally { return h.tally }

// call calls a tool, and again where the answer says so.
func (h tandemHands) call(tool string, args map[string]any) answer {
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
	// endedLine ends an answer of session_write or session_wait about what has ended.
	endedLine = regexp.MustCompile(`(?m)^\[(?:exit code|ended by) .*\]\z|^Met: exit`)
	hexID     = regexp.MustCompile(`\b[0-9a-f]{12}\b`)
)

// stillRuns reports whether an answer says that a command goes on.
func stillRuns(a answer) bool {
	return has(a.text, "continues as") || has(a.text, "[still running")
}

// code is the exit status that an answer tells, -1 if none. What succeeds may
// answer with its output alone.
func code(a answer) int {
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

// id is what an answer calls what was started.
func id(a answer) string {
	if id, ok := a.facts["id"].(string); ok {
		return id
	}
	return hexID.FindString(a.text)
}

func (h tandemHands) run(command string) reply {
	p, r := h.ran(h.call("exec", map[string]any{"command": command}))
	if !p.over {
		return h.rest(p)
	}
	return r
}

// ran reads the answer of exec.
func (h tandemHands) ran(a answer) (place, reply) {
	p := place{&spot{over: !stillRuns(a)}}
	if named, ok := a.facts["id"].(string); ok || !p.over {
		p.id = named
	}
	if p.id == "" && !p.over {
		p.id = id(a)
	}
	return p, reply{text: a.text, code: code(a)}
}

func (h tandemHands) first(command string, wait time.Duration) (place, reply) {
	args := map[string]any{"command": command}
	if wait != 30*time.Second {
		args["timeoutMs"] = wait.Milliseconds()
	}
	return h.ran(h.call("exec", args))
}

// rest waits: the answer has what was printed since, or process_log tells it.
func (h tandemHands) rest(p place) reply {
	a := h.call("process_wait", map[string]any{"id": p.id})
	p.over = true
	_, text, _ := strings.Cut(a.text, "\n")
	if text == "" {
		text = h.news(p)
	}
	return reply{text: text, code: code(a)}
}

func (h tandemHands) limit(command string, most time.Duration) reply {
	_, r := h.ran(h.call("exec", map[string]any{"command": command, "timeoutMs": most.Milliseconds(), "kill": true}))
	return r
}

func (h tandemHands) open(program string) place {
	args := map[string]any{}
	if program != "" {
		args["command"] = program
	}
	a := h.call("session_start", args)
	if a.failed {
		giveUp("session_start: %s", a.text)
	}
	return place{&spot{id: id(a), takes: true, repl: program != "", last: a.text}}
}

// became notes what an answer says of a session.
func (h tandemHands) became(p place, a answer) {
	p.last = a.text
	p.over = has(a.text, "has ended")
	p.takes = !p.over && (p.repl || !stillRuns(a) && !waitsLine.MatchString(a.text))
}

// settle waits until a program wants input, is back at the shell or has ended.
func (h tandemHands) settle(p place) answer {
	a := h.call("session_wait", map[string]any{"id": p.id})
	h.became(p, a)
	p.over = endedLine.MatchString(a.text)
	return a
}

func (h tandemHands) line(p place, text string) reply {
	if !p.takes {
		return h.answer(p, text)
	}
	args := map[string]any{"id": p.id, "command": text}
	a := h.call("session_exec", args)
	if a.failed && has(a.text, "session_wait") { // as its hint says
		h.settle(p)
		a = h.call("session_exec", args)
	}
	h.became(p, a)
	return reply{a.text, code(a), waitsLine.MatchString(a.text)}
}

// answer types a line for a program that asks. The answer has what came of it,
// or session_wait does.
func (h tandemHands) answer(p place, text string) reply {
	args := map[string]any{"id": p.id, "enter": true}
	if text != "" {
		args["text"] = text
	}
	a := h.call("session_write", args)
	h.became(p, a)
	p.over = endedLine.MatchString(a.text)
	if !stillRuns(a) {
		return reply{a.text, code(a), waitsLine.MatchString(a.text)}
	}
	waited := h.settle(p)
	return reply{waited.text, code(waited), !p.over && waitsLine.MatchString(waited.text)}
}

func (h tandemHands) press(p place, text string, keys ...string) {
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
	h.became(p, a)
	p.over = endedLine.MatchString(a.text)
}

func (h tandemHands) shows(p place, pattern string) {
	shown := regexp.MustCompile(pattern).MatchString
	if shown(p.last) {
		return
	}
	a := h.call("session_wait", map[string]any{"id": p.id, "screen": pattern})
	if p.last = a.text; !shown(a.text) {
		p.last = h.call("session_screen", map[string]any{"id": p.id}).text
	}
	want(p.last, pattern)
}

func (h tandemHands) gone(p place) {
	if p.over {
		return
	}
	p.last = h.call("session_wait", map[string]any{"id": p.id, "exit": true}).text
	if p.over = endedLine.MatchString(p.last); !p.over {
		giveUp("it has not ended: %s", p.last)
	}
}

func (h tandemHands) flood(p place, text string) {
	h.call("session_exec", map[string]any{"id": p.id, "command": text, "timeout_ms": 1000, "max_output": 500})
	h.call("session_write", map[string]any{"id": p.id, "keys": []string{"ctrl+c"}})
}

func (h tandemHands) begin(command string) place {
	a := h.call("process_start", map[string]any{"command": command})
	if a.failed {
		giveUp("process_start: %s", a.text)
	}
	return place{&spot{id: id(a)}}
}

func (h tandemHands) serve(command string, port int) (place, bool) {
	a := h.call("process_start", map[string]any{"command": command, "wait": map[string]any{"port": port}})
	if a.failed {
		giveUp("process_start: %s", a.text)
	}
	p, up := place{&spot{id: id(a)}}, met(a, "port")
	if !up {
		_, p.seen, _ = strings.Cut(a.text, "\n")
	}
	return p, up
}

// met reports whether a wait has come to what was waited for.
func met(a answer, what string) bool { return a.facts["met"] == what || has(a.text, "Met: "+what) }

func (h tandemHands) await(p place, pattern string) string {
	a := h.call("process_wait", map[string]any{"id": p.id, "log": pattern})
	if !met(a, "log") {
		giveUp("process_wait: %s", a.text)
	}
	return a.text
}

// news is what a wait has told already, or what the log has.
func (h tandemHands) news(p place) string {
	if text := p.unlooked(); text != "" {
		return text
	}
	return h.call("process_log", map[string]any{"id": p.id}).text
}

func (h tandemHands) hits(p place, command, pattern string) string {
	if p.id == "" {
		return h.run("(" + command + ") | grep -n " + strconv.Quote(pattern)).text
	}
	return h.call("process_log", map[string]any{"id": p.id, "grep": pattern}).text
}

func (h tandemHands) stop(p place) {
	if strings.Contains(h.call("process_stop", map[string]any{"id": p.id}).text, "Unknown") {
		giveUp("process_stop does not know %s", p.id)
	}
}

func (h tandemHands) read(path string, from, lines int) string {
	args := map[string]any{"path": path}
	if from > 1 {
		args["offset"] = from
	}
	if lines > 0 {
		args["limit"] = lines
	}
	return h.call("read", args).text
}

func (h tandemHands) edit(path, old, text string) {
	a := h.call("edit", map[string]any{"path": path, "edits": []map[string]string{{"search": old, "replace": text}}})
	if a.failed {
		giveUp("edit: %s", a.text)
	}
}

func (h tandemHands) write(path, text string) {
	if a := h.call("write", map[string]any{"path": path, "content": text}); a.failed {
		giveUp("write: %s", a.text)
	}
}

func (h tandemHands) grep(pattern, glob string) string {
	return h.call("grep", map[string]any{"pattern": pattern, "glob": glob}).text
}

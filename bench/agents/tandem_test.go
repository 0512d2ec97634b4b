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
		if out, err := exec.Command("go", "build", "-o", p.path, "tandem").CombinedOutput(); err != nil {
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
	waitsLine = regexp.MustCompile(`(?i)\bwaits for|waiting for (input|a )|asks for|Met: input`)
	goesOn    = regexp.MustCompile(`(?i)(?:as process|process|id:?) ([0-9a-f]{12})\b`)
	session   = regexp.MustCompile(`session ([0-9a-f]{12})\b`)
	cursorAt  = regexp.MustCompile(`since (\d+)`)
)

// code is the exit status that an answer tells, -1 if none.
func code(a answer) int {
	for _, name := range []string{"exitCode", "exit_code"} {
		if n, ok := a.fact(name); ok {
			return n
		}
	}
	all := exitLine.FindAllStringSubmatch(a.text, -1)
	if all == nil {
		return -1
	}
	n, _ := strconv.Atoi(all[len(all)-1][1])
	return n
}

func (h tandemHands) run(command string) reply {
	p, r := h.ran(h.call("exec", map[string]any{"command": command}))
	if p.spot != nil && !p.over {
		return h.rest(p)
	}
	return r
}

// ran reads the answer of exec.
func (h tandemHands) ran(a answer) (place, reply) {
	r := reply{text: a.text, code: code(a)}
	p := place{&spot{over: r.code >= 0 || strings.Contains(a.text, "Signal: ")}}
	if id, ok := a.facts["id"].(string); ok {
		p.id = id
	} else if m := goesOn.FindStringSubmatch(a.text); m != nil {
		p.id = m[1]
	}
	p.cursor = -1
	if n, ok := a.fact("nextCursor"); ok {
		p.cursor = n
	} else if n, ok := a.fact("next_cursor"); ok {
		p.cursor = n
	} else if m := cursorAt.FindStringSubmatch(a.text); m != nil {
		p.cursor, _ = strconv.Atoi(m[1])
	}
	return p, r
}

func (h tandemHands) first(command string, wait time.Duration) (place, reply) {
	return h.ran(h.call("exec", map[string]any{"command": command, "timeoutMs": wait.Milliseconds()}))
}

func (h tandemHands) rest(p place) reply {
	a := h.call("process_wait", map[string]any{"id": p.id})
	r := reply{text: h.news(p), code: code(a)}
	p.over = true
	return r
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
	m := session.FindStringSubmatch(a.text)
	if m == nil {
		giveUp("session_start: %s", a.text)
	}
	p := place{&spot{id: m[1], shell: program == ""}}
	if program != "" && !waitsLine.MatchString(a.text) {
		h.settle(p)
	}
	return p
}

// settle waits until a program wants input, is back at the shell or has ended.
func (h tandemHands) settle(p place) answer {
	a := h.call("session_wait", map[string]any{"id": p.id})
	h.became(p, a)
	return a
}

// became notes what an answer says of a session.
func (h tandemHands) became(p place, a answer) {
	p.last = a.text
	switch {
	case strings.Contains(a.text, "is exited") || strings.Contains(a.text, "has ended"):
		p.over = true
	case strings.Contains(a.text, "Met: prompt") || strings.Contains(a.text, "[exit code"):
		p.shell = true
	default:
		p.shell = false
	}
}

func (h tandemHands) line(p place, text string) reply {
	if p.shell {
		a := h.call("session_exec", map[string]any{"id": p.id, "command": text})
		h.became(p, a)
		return reply{a.text, code(a), waitsLine.MatchString(a.text)}
	}
	return h.answer(p, text)
}

// answer types a line for a program that is no shell at its prompt.
func (h tandemHands) answer(p place, text string) reply {
	a := h.call("session_write", map[string]any{"id": p.id, "text": text, "enter": true})
	if a.text != "Typed." {
		h.became(p, a)
		return reply{a.text, code(a), waitsLine.MatchString(a.text)}
	}
	waited := h.settle(p)
	if p.over {
		return reply{waited.text, code(waited), false}
	}
	a = h.call("session_read", map[string]any{"id": p.id})
	return reply{a.text, code(waited), waitsLine.MatchString(waited.text)}
}

// ask types a line to a shell of which it is known that it will ask: until
// session_exec tells, it is typed.
func (h tandemHands) ask(p place, text string) reply {
	r := h.answer(p, text)
	if p.shell { // the wait was over before the shell had taken the line
		r.asks = strings.Contains(h.settle(p).text, "Met: input")
		r.text += h.call("session_read", map[string]any{"id": p.id}).text
	}
	return r
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
	h.became(p, h.call("session_write", args))
}

func (h tandemHands) shows(p place, pattern string) {
	if regexp.MustCompile(pattern).MatchString(p.last) {
		return
	}
	a := h.call("session_wait", map[string]any{"id": p.id, "screen": pattern})
	if !strings.Contains(a.text, "Met: screen") && a.facts["met"] != "screen" {
		giveUp("session_wait: %s", a.text)
	}
	p.last = h.call("session_screen", map[string]any{"id": p.id}).text
	want(p.last, pattern)
}

func (h tandemHands) gone(p place) {
	if p.over {
		return
	}
	if a := h.call("session_wait", map[string]any{"id": p.id, "exit": true}); !strings.Contains(a.text, "is exited") {
		giveUp("it has not ended: %s", a.text)
	}
	p.over = true
}

func (h tandemHands) flood(p place, text string) {
	h.call("session_exec", map[string]any{"id": p.id, "command": text, "timeout_ms": 1000, "max_output": 500})
	h.call("session_write", map[string]any{"id": p.id, "keys": []string{"ctrl+c"}})
	p.shell = true
}

func (h tandemHands) begin(command string) place {
	a := h.call("process_start", map[string]any{"command": command})
	id, ok := a.facts["id"].(string)
	if m := goesOn.FindStringSubmatch(a.text); !ok && m != nil {
		id = m[1]
	}
	if id == "" {
		giveUp("process_start: %s", a.text)
	}
	return place{&spot{id: id, cursor: -1}}
}

func (h tandemHands) serve(command string, port int) (place, bool) {
	p := h.begin(command)
	a := h.call("process_wait", map[string]any{"id": p.id, "port": port, "timeout_ms": 15000})
	if a.facts["met"] == "port" || strings.Contains(a.text, "Met: port") {
		return p, true
	}
	p.over = true
	return p, false
}

func (h tandemHands) await(p place, pattern string) string {
	a := h.call("process_wait", map[string]any{"id": p.id, "log": pattern})
	if !strings.Contains(a.text, "Met: log") && a.facts["met"] != "log" {
		giveUp("process_wait: %s", a.text)
	}
	return a.text
}

func (h tandemHands) news(p place) string {
	args := map[string]any{"id": p.id}
	if p.cursor >= 0 {
		args["since"] = p.cursor
	}
	a := h.call("process_log", args)
	if n, ok := a.fact("next_cursor"); ok {
		p.cursor = n
	}
	return a.text
}

func (h tandemHands) hits(p place, command, pattern string) string {
	if p.spot == nil || p.id == "" {
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

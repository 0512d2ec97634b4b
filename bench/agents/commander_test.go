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

// commanderServers start DesktopCommander: the program that COMMANDER names, or
// the one in PATH; ok is false if there is none.
func commanderServers(t testing.TB) (s servers, ok bool) {
	program, err := exec.LookPath(os.Getenv("COMMANDER"))
	if err != nil {
		program, err = exec.LookPath("desktop-commander")
	}
	if err != nil {
		return servers{}, false
	}
	home := t.TempDir()
	settings := filepath.Join(home, ".claude-server-commander")
	if err := os.MkdirAll(settings, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(settings, "config.json"), []byte(`{"telemetryEnabled":false,"allowedDirectories":[],"blockedCommands":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func(dir string) hands {
		cmd := exec.Command(program, "--no-onboarding")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+home, "SHELL=/bin/bash", "LANG=C.UTF-8", "TERM=xterm-256color")
		return commanderHands{startServer(cmd, "agent"), dir}
	}
	return servers{name: "DesktopCommander", start: start}, true
}

// commanderHands are an agent's with DesktopCommander's tools. Its programs have
// pipes; where a terminal is needed, the agent starts them in script(1).
type commanderHands struct {
	*server
	dir string
}

var (
	commanderPID  = regexp.MustCompile(`PID (-?\d+)`)
	commanderExit = regexp.MustCompile(`exit=(\d+)`)
	commanderOver = regexp.MustCompile(`Process completed with exit code (\d+)|No session found|may have exited`)
)

func (h commanderHands) cost() tally { return h.tally }

func (h commanderHands) start(command string, wait time.Duration) (place, string) {
	a := h.call("start_process", map[string]any{"command": command, "timeout_ms": wait.Milliseconds()})
	m := commanderPID.FindStringSubmatch(a.text)
	if m == nil {
		giveUp("start_process: %s", a.text)
	}
	return place{&spot{id: m[1], last: a.text, seen: a.text}}, a.text
}

func (h commanderHands) pid(p place) int {
	n, _ := strconv.Atoi(p.id)
	return n
}

// counted is a command that tells its exit code, which start_process does not.
func counted(command string) string { return "(" + command + "); echo exit=$?" }

func (h commanderHands) told(p place, text string) reply {
	if m := commanderExit.FindStringSubmatch(text); m != nil {
		p.over = true
		n, _ := strconv.Atoi(m[1])
		return reply{text: text, code: n}
	}
	p.over = commanderOver.MatchString(text)
	return reply{text: text, code: -1, asks: strings.Contains(text, "waiting for input")}
}

func (h commanderHands) run(command string) reply {
	p, r := h.first(command, 30*time.Second)
	if !p.over {
		more := h.rest(p)
		more.text = r.text + more.text
		return more
	}
	return r
}

func (h commanderHands) first(command string, wait time.Duration) (place, reply) {
	p, text := h.start(counted(command), wait)
	return p, h.told(p, text)
}

// more reads what is new, until it has a match or the program has ended.
func (h commanderHands) more(p place, pattern string) string {
	var all string
	for range 6 {
		text := h.call("read_process_output", map[string]any{"pid": h.pid(p), "timeout_ms": 5000}).text
		all += text
		p.seen += text
		if h.told(p, text); p.over || matches(all, pattern) {
			break
		}
	}
	p.last = all
	return all
}

func (h commanderHands) rest(p place) reply {
	if r := h.told(p, p.last); p.over { // its end came with the last answer
		return r
	}
	return h.told(p, h.more(p, `exit=\d`))
}

func (h commanderHands) limit(command string, most time.Duration) reply {
	p, text := h.start(command, most)
	h.stop(p)
	return reply{text: text, code: -1}
}

func (h commanderHands) open(program string) place {
	switch name, _, _ := strings.Cut(program, " "); name {
	case "python3", "node":
		program += " -i"
	case "":
		program = "script -qfc bash /dev/null"
	default:
		program = "script -qfc '" + program + "' /dev/null"
	}
	p, _ := h.start(program, 5*time.Second)
	return p
}

func (h commanderHands) line(p place, text string) reply {
	if strings.HasSuffix(text, "\n") {
		text += "\n" // a newline is added to what does not end with one
	}
	a := h.call("interact_with_process", map[string]any{"pid": h.pid(p), "input": text})
	p.last = a.text
	return h.told(p, a.text)
}

func (h commanderHands) press(p place, text string, keys ...string) {
	for _, k := range keys {
		if k != "enter" { // which it adds by itself
			text += keyBytes[k]
		}
	}
	h.line(p, text)
}

func (h commanderHands) shows(p place, pattern string) {
	if !matches(p.last, pattern) {
		want(h.more(p, pattern), pattern)
	}
}

func (h commanderHands) gone(p place) {
	if !p.over {
		h.more(p, "Process completed")
	}
	if !p.over {
		giveUp("it has not ended: %s", p.last)
	}
}

func (h commanderHands) flood(p place, text string) {
	h.call("interact_with_process", map[string]any{"pid": h.pid(p), "input": text, "timeout_ms": 1000})
	h.call("interact_with_process", map[string]any{"pid": h.pid(p), "input": keyBytes["ctrl+c"], "timeout_ms": 1000})
}

func (h commanderHands) begin(command string) place {
	p, _ := h.start(command, 500*time.Millisecond)
	return p
}

// serve waits with a loop in a shell: there is no tool that waits for a port.
func (h commanderHands) serve(command string, port int) (place, bool) {
	p, _ := h.start(command, time.Second)
	p.unlooked()
	waiting, text := h.start("timeout 15 bash -c 'until echo > /dev/tcp/127.0.0.1/"+strconv.Itoa(port)+"; do sleep 0.1; done' 2>/dev/null", 20*time.Second)
	if !has(text, "exit code") { // which only reading tells
		text = h.more(waiting, "exit code")
	}
	return p, has(text, "exit code 0")
}

func (h commanderHands) await(p place, pattern string) string {
	if !matches(p.seen, pattern) {
		h.more(p, pattern)
	}
	want(p.seen, pattern)
	return p.seen
}

// news is what await has read, or what there is.
func (h commanderHands) news(p place) string {
	if text := p.unlooked(); text != "" {
		return text
	}
	text := h.call("read_process_output", map[string]any{"pid": h.pid(p), "timeout_ms": 1000}).text
	p.seen += text
	return p.unlooked()
}

func (h commanderHands) hits(p place, command, pattern string) string {
	return h.run("(" + command + ") | grep -n " + strconv.Quote(pattern)).text
}

func (h commanderHands) stop(p place) {
	h.call("force_terminate", map[string]any{"pid": h.pid(p)})
}

func (h commanderHands) path(name string) string { return filepath.Join(h.dir, name) }

func (h commanderHands) read(path string, from, lines int) string {
	args := map[string]any{"path": h.path(path)}
	if from > 1 {
		args["offset"] = from - 1
	}
	if lines > 0 {
		args["length"] = lines
	}
	return h.call("read_file", args).text
}

func (h commanderHands) edit(path, old, text string) {
	a := h.call("edit_block", map[string]any{"file_path": h.path(path), "old_string": old, "new_string": text})
	if a.failed {
		giveUp("edit_block: %s", a.text)
	}
}

func (h commanderHands) write(path, text string) {
	if a := h.call("write_file", map[string]any{"path": h.path(path), "content": text, "mode": "rewrite"}); a.failed {
		giveUp("write_file: %s", a.text)
	}
}

func (h commanderHands) grep(pattern, glob string) string {
	a := h.call("start_search", map[string]any{"path": h.dir, "pattern": pattern, "searchType": "content", "filePattern": glob})
	m := regexp.MustCompile(`session: (\S+)`).FindStringSubmatch(a.text)
	for range 5 {
		if m == nil || regexp.MustCompile("(?i)status: completed").MatchString(a.text) {
			break
		}
		a = h.call("get_more_search_results", map[string]any{"sessionId": m[1]})
	}
	return a.text
}

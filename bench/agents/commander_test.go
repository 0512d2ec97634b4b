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

// commanderServer starts DesktopCommander: the program named by COMMANDER, or the one in PATH. ok
// is false if there is none.
func commanderServer(t testing.TB) (s serverKind, ok bool) {
	program, err := exec.LookPath(os.Getenv("COMMANDER"))
	if err != nil {
		program, err = exec.LookPath("desktop-commander")
	}
	if err != nil {
		return serverKind{}, false
	}
	home := t.TempDir()
	settings := filepath.Join(home, ".claude-server-commander")
	if err := os.MkdirAll(settings, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(settings, "config.json"), []byte(`{"telemetryEnabled":false,"allowedDirectories":[],"blockedCommands":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func(dir string) driver {
		cmd := exec.Command(program, "--no-onboarding")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "HOME="+home, "SHELL=/bin/bash", "LANG=C.UTF-8", "TERM=xterm-256color")
		return commanderDriver{startServer(cmd, "agent"), dir}
	}
	return serverKind{name: "DesktopCommander", start: start}, true
}

// A commanderDriver uses DesktopCommander's tools. They run programs on pipes, so a program that
// needs a terminal is started in script(1).
type commanderDriver struct {
	*server
	dir string
}

var (
	commanderPID  = regexp.MustCompile(`PID (-?\d+)`)
	commanderExit = regexp.MustCompile(`exit=(\d+)`)
	commanderOver = regexp.MustCompile(`Process completed with exit code (\d+)|No session found|may have exited`)
)

func (h commanderDriver) cost() tally { return h.tally }

func (h commanderDriver) start(command string, wait time.Duration) (handle, string) {
	a := h.call("start_process", map[string]any{"command": command, "timeout_ms": wait.Milliseconds()})
	m := commanderPID.FindStringSubmatch(a.text)
	if m == nil {
		giveUp("start_process: %s", a.text)
	}
	return handle{&handleState{id: m[1], lastAnswer: a.text, output: a.text}}, a.text
}

func (h commanderDriver) pid(p handle) int {
	n, _ := strconv.Atoi(p.id)
	return n
}

// withExitCode makes a command print its exit code, because start_process does not report it.
func withExitCode(command string) string { return "(" + command + "); echo exit=$?" }

func (h commanderDriver) parseOutput(p handle, text string) reply {
	if m := commanderExit.FindStringSubmatch(text); m != nil {
		p.exited = true
		n, _ := strconv.Atoi(m[1])
		return reply{text: text, code: n}
	}
	p.exited = commanderOver.MatchString(text)
	return reply{text: text, code: -1, asks: strings.Contains(text, "waiting for input")}
}

func (h commanderDriver) run(command string) reply {
	p, r := h.runFor(command, 30*time.Second)
	if !p.exited {
		more := h.awaitEnd(p)
		more.text = r.text + more.text
		return more
	}
	return r
}

func (h commanderDriver) runFor(command string, wait time.Duration) (handle, reply) {
	p, text := h.start(withExitCode(command), wait)
	return p, h.parseOutput(p, text)
}

// readMore reads new output until it has a match or the program has exited.
func (h commanderDriver) readMore(p handle, pattern string) string {
	var all string
	for range 6 {
		text := h.call("read_process_output", map[string]any{"pid": h.pid(p), "timeout_ms": 5000}).text
		all += text
		p.output += text
		if h.parseOutput(p, text); p.exited || matches(all, pattern) {
			break
		}
	}
	p.lastAnswer = all
	return all
}

func (h commanderDriver) awaitEnd(p handle) reply {
	if r := h.parseOutput(p, p.lastAnswer); p.exited { // the last answer reported the exit
		return r
	}
	return h.parseOutput(p, h.readMore(p, `exit=\d`))
}

func (h commanderDriver) runWithTimeout(command string, timeout time.Duration) reply {
	p, text := h.start(command, timeout)
	h.stop(p)
	return reply{text: text, code: -1}
}

func (h commanderDriver) openTerminal(program string) handle {
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

func (h commanderDriver) typeLine(p handle, text string) reply {
	if strings.HasSuffix(text, "\n") {
		text += "\n" // a newline is added unless the text ends with one
	}
	a := h.call("interact_with_process", map[string]any{"pid": h.pid(p), "input": text})
	p.lastAnswer = a.text
	return h.parseOutput(p, a.text)
}

func (h commanderDriver) pressKeys(p handle, text string, keys ...string) {
	for _, k := range keys {
		if k != "enter" { // enter is added by the tool
			text += keyBytes[k]
		}
	}
	h.typeLine(p, text)
}

func (h commanderDriver) awaitScreen(p handle, pattern string) {
	if !matches(p.lastAnswer, pattern) {
		wantMatch(h.readMore(p, pattern), pattern)
	}
}

func (h commanderDriver) awaitExit(p handle) {
	if !p.exited {
		h.readMore(p, "Process completed")
	}
	if !p.exited {
		giveUp("the program has not exited: %s", p.lastAnswer)
	}
}

func (h commanderDriver) floodTerminal(p handle, text string) {
	h.call("interact_with_process", map[string]any{"pid": h.pid(p), "input": text, "timeout_ms": 1000})
	h.call("interact_with_process", map[string]any{"pid": h.pid(p), "input": keyBytes["ctrl+c"], "timeout_ms": 1000})
}

func (h commanderDriver) startBackground(command string) handle {
	p, _ := h.start(command, 500*time.Millisecond)
	return p
}

// startService waits with a shell loop, because no tool waits for a port.
func (h commanderDriver) startService(command string, port int) (handle, bool) {
	p, _ := h.start(command, time.Second)
	p.takeUnread()
	waiting, text := h.start("timeout 15 bash -c 'until echo > /dev/tcp/127.0.0.1/"+strconv.Itoa(port)+"; do sleep 0.1; done' 2>/dev/null", 20*time.Second)
	if !contains(text, "exit code") { // only a read reports the exit code
		text = h.readMore(waiting, "exit code")
	}
	return p, contains(text, "exit code 0")
}

func (h commanderDriver) awaitOutput(p handle, pattern string) string {
	if !matches(p.output, pattern) {
		h.readMore(p, pattern)
	}
	wantMatch(p.output, pattern)
	return p.output
}

// readNew returns the output read by awaitOutput, or reads more.
func (h commanderDriver) readNew(p handle) string {
	if text := p.takeUnread(); text != "" {
		return text
	}
	text := h.call("read_process_output", map[string]any{"pid": h.pid(p), "timeout_ms": 1000}).text
	p.output += text
	return p.takeUnread()
}

func (h commanderDriver) grepOutput(p handle, command, pattern string) string {
	return h.run("(" + command + ") | grep -n " + strconv.Quote(pattern)).text
}

func (h commanderDriver) stop(p handle) {
	h.call("force_terminate", map[string]any{"pid": h.pid(p)})
}

func (h commanderDriver) path(name string) string { return filepath.Join(h.dir, name) }

func (h commanderDriver) readFile(path string, from, lines int) string {
	args := map[string]any{"path": h.path(path)}
	if from > 1 {
		args["offset"] = from - 1
	}
	if lines > 0 {
		args["length"] = lines
	}
	return h.call("read_file", args).text
}

func (h commanderDriver) editFile(path, old, text string) {
	a := h.call("edit_block", map[string]any{"file_path": h.path(path), "old_string": old, "new_string": text})
	if a.failed {
		giveUp("edit_block: %s", a.text)
	}
}

func (h commanderDriver) writeFile(path, text string) {
	if a := h.call("write_file", map[string]any{"path": h.path(path), "content": text, "mode": "rewrite"}); a.failed {
		giveUp("write_file: %s", a.text)
	}
}

func (h commanderDriver) grepFiles(pattern, glob string) string {
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

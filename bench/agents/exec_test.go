package agents

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// A unified is an exec tool like the unified exec documented for Codex: the two calls
// exec_command and write_stdin return when the command has exited or after yield_time_ms.
// apply_patch changes files.
type unified struct {
	tally
	dir      string
	sessions map[int]*runningCommand
}

// A runningCommand is a command with its output since the last call.
type runningCommand struct {
	cmd    *exec.Cmd
	stdin  *os.File // nil without a terminal
	mu     sync.Mutex
	unread []byte
	exited chan struct{}
}

func (r *runningCommand) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unread = append(r.unread, b...)
	return len(b), nil
}

// unifiedServer starts the exec tool, which is part of this test.
func unifiedServer() serverKind {
	return serverKind{name: "unified exec", start: func(dir string) driver {
		return unifiedDriver{&unified{dir: dir, sessions: map[int]*runningCommand{}}}
	}}
}

// end kills all running commands.
func (u *unified) end() {
	for _, r := range u.sessions {
		syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
		<-r.exited
	}
}

// execCommand starts a command, in a terminal if tty is set.
func (u *unified) execCommand(command string, tty bool, yield time.Duration) string {
	args := map[string]any{"cmd": command, "yield_time_ms": yield.Milliseconds()}
	if tty {
		args["tty"] = true
	}
	r := &runningCommand{cmd: exec.Command("bash", "-c", command), exited: make(chan struct{})}
	r.cmd.Dir = u.dir
	r.cmd.Env = append(os.Environ(), "TERM=dumb", "NO_COLOR=1", "LANG=C.UTF-8", "PAGER=cat", "GIT_PAGER=cat", "PS1=$ ")
	if err := r.start(tty); err != nil {
		giveUp("exec_command: %v", err)
	}
	id := len(u.sessions) + 1000
	u.sessions[id] = r
	return u.awaitAnswer(args, id, r, yield)
}

func (r *runningCommand) start(tty bool) (err error) {
	if !tty {
		r.cmd.Stdout, r.cmd.Stderr = r, r
		r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		r.cmd.WaitDelay = time.Second
		if err = r.cmd.Start(); err == nil {
			go func() { r.cmd.Wait(); close(r.exited) }()
		}
		return err
	}
	if r.stdin, err = pty.StartWithSize(r.cmd, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		return err
	}
	go func() {
		buf := make([]byte, 32<<10)
		for {
			n, err := r.stdin.Read(buf)
			r.Write(buf[:n])
			if err != nil {
				break
			}
		}
		r.cmd.Wait()
		close(r.exited)
	}()
	return nil
}

// writeStdin types chars. If they are empty, it only waits.
func (u *unified) writeStdin(id int, chars string, yield time.Duration) string {
	r := u.sessions[id]
	if chars == "" {
		yield = max(yield, 5*time.Second) // as Codex does
	}
	args := map[string]any{"session_id": id, "chars": chars, "yield_time_ms": yield.Milliseconds()}
	if chars != "" {
		r.stdin.WriteString(chars)
	}
	return u.awaitAnswer(args, id, r, yield)
}

// awaitAnswer waits for the command to exit, at most for yield, and returns its state and new
// output.
func (u *unified) awaitAnswer(args map[string]any, id int, r *runningCommand, yield time.Duration) string {
	began := time.Now()
	state := fmt.Sprintf("Process running with session ID %d", id)
	select {
	case <-r.exited:
		code := r.cmd.ProcessState.ExitCode()
		if status, ok := r.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			code = 128 + int(status.Signal())
		}
		state = fmt.Sprintf("Process exited with code %d", code)
	case <-time.After(yield):
	}
	took := time.Since(began)
	r.mu.Lock()
	out := strings.ToValidUTF8(string(r.unread), "\ufffd")
	r.unread = nil
	r.mu.Unlock()
	text := fmt.Sprintf("Chunk ID: %06x\nWall time: %.4f seconds\n%s\nOriginal token count: %d\nOutput:\n%s", u.calls, took.Seconds(), state, len(out)/4, cutMiddle(out, 40_000))
	u.countCall(compactJSON(args), text, took)
	return text
}

// cutMiddle shortens a text of more than limit bytes by removing its middle.
func cutMiddle(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return fmt.Sprintf("%s…%d tokens truncated…%s", s[:limit/2], (len(s)-limit)/4, s[len(s)-limit/2:])
}

func (u *unified) countCall(args []byte, said string, took time.Duration) {
	u.calls++
	u.bytes += len(args) + len(said)
	u.took += took
	if os.Getenv("TRACE") != "" {
		fmt.Fprintf(os.Stderr, "  > %s (%.2f s)\n    %q\n", args, took.Seconds(), truncateTrace(said))
	}
}

// applyPatch edits a file and counts the cost of apply_patch, with - and + before each line.
func (u *unified) applyPatch(path, old, text string) {
	name := filepath.Join(u.dir, path)
	before, err := os.ReadFile(name)
	verb, lines := "Update", "@@\n"
	if old == "" {
		verb, lines = "Add", ""
	} else if err != nil || !strings.Contains(string(before), old) {
		giveUp("apply_patch: %v", err)
	} else {
		for line := range strings.Lines(wholeLines(string(before), old)) {
			lines += "-" + line
		}
	}
	after := text
	if old != "" {
		after = strings.Replace(string(before), old, text, 1)
		text = strings.Replace(wholeLines(string(before), old), old, text, 1)
	}
	for line := range strings.Lines(text) {
		lines += "+" + line
	}
	if err := os.WriteFile(name, []byte(after), 0o644); err != nil {
		giveUp("apply_patch: %v", err)
	}
	u.countCall([]byte("*** Begin Patch\n*** "+verb+" File: "+path+"\n"+lines+"*** End Patch"),
		"Success. Updated the following files:\nM "+path+"\n", 0)
}

// wholeLines returns the lines of text that contain part.
func wholeLines(text, part string) string {
	at := strings.Index(text, part)
	from := strings.LastIndexByte(text[:at], '\n') + 1
	end := at + len(part)
	if n := strings.IndexByte(text[end:], '\n'); n >= 0 {
		end += n + 1
	}
	return text[from:end]
}

// A unifiedDriver uses the tools of unified. They do not report when a program waits for input, so
// the agent looks for a prompt at the end of the output.
type unifiedDriver struct{ *unified }

var (
	unifiedExit    = regexp.MustCompile(`Process exited with code (\d+)`)
	unifiedSession = regexp.MustCompile(`session ID (\d+)`)
	unifiedPrompt  = regexp.MustCompile(`(?:[>$#?:%\])] ?|\.\.\. )(?:\x1b\[[0-9;?]*[a-zA-Z])*$`)
)

func (h unifiedDriver) cost() tally { return h.tally }

func (h unifiedDriver) parseAnswer(said string) (handle, reply) {
	p, r := handle{&handleState{lastAnswer: said, output: said}}, reply{text: said, code: -1}
	if m := unifiedExit.FindStringSubmatch(said); m != nil {
		r.code, _ = strconv.Atoi(m[1])
		p.exited = true
	} else if m := unifiedSession.FindStringSubmatch(said); m != nil {
		p.id = m[1]
	}
	return p, r
}

func (h unifiedDriver) typeChars(p handle, chars string, yield time.Duration) reply {
	id, _ := strconv.Atoi(p.id)
	q, r := h.parseAnswer(h.writeStdin(id, chars, yield))
	p.lastAnswer, p.exited = q.lastAnswer, q.exited
	p.output += q.lastAnswer
	r.asks = unifiedPrompt.MatchString(r.text)
	return r
}

func (h unifiedDriver) run(command string) reply {
	p, r := h.runFor(command, 10*time.Second)
	if !p.exited {
		return h.awaitEnd(p)
	}
	return r
}

func (h unifiedDriver) runFor(command string, wait time.Duration) (handle, reply) {
	return h.parseAnswer(h.execCommand(command, false, wait))
}

func (h unifiedDriver) awaitEnd(p handle) reply {
	_, r := h.parseAnswer(p.lastAnswer)
	for tries := 0; tries < 6 && !p.exited; tries++ {
		text := r.text
		r = h.typeChars(p, "", 10*time.Second)
		r.text = text + r.text
	}
	return r
}

func (h unifiedDriver) runWithTimeout(command string, timeout time.Duration) reply {
	seconds := strconv.Itoa(int(timeout.Seconds()))
	return h.run("timeout " + seconds + " bash -c '" + command + "'")
}

func (h unifiedDriver) openTerminal(program string) handle {
	if program == "" {
		program = "bash --norc --noediting"
	}
	p, _ := h.parseAnswer(h.execCommand(program, true, time.Second))
	if !unifiedPrompt.MatchString(p.lastAnswer) && !strings.Contains(p.lastAnswer, "\x1b[") {
		h.typeChars(p, "", 5*time.Second)
	}
	return p
}

func (h unifiedDriver) typeLine(p handle, text string) reply {
	r := h.typeChars(p, text+"\n", time.Second)
	if !p.exited && !r.asks && !strings.Contains(r.text, "\x1b[") {
		more := h.typeChars(p, "", 5*time.Second)
		more.text = r.text + more.text
		more.asks = more.asks || unifiedPrompt.MatchString(more.text)
		return more
	}
	return r
}

func (h unifiedDriver) pressKeys(p handle, text string, keys ...string) {
	for _, k := range keys {
		text += keyBytes[k]
	}
	h.typeChars(p, text, 250*time.Millisecond)
}

func (h unifiedDriver) awaitScreen(p handle, pattern string) {
	all := p.lastAnswer
	for tries := 0; tries < 3 && !regexp.MustCompile(pattern).MatchString(all); tries++ {
		all += h.typeChars(p, "", 5*time.Second).text
	}
	wantMatch(all, pattern)
}

func (h unifiedDriver) awaitExit(p handle) {
	for tries := 0; tries < 3 && !p.exited; tries++ {
		h.typeChars(p, "", 5*time.Second)
	}
	if !p.exited {
		giveUp("the program has not exited: %s", p.lastAnswer)
	}
}

func (h unifiedDriver) floodTerminal(p handle, text string) {
	h.typeChars(p, text+"\n", time.Second)
	h.typeChars(p, keyBytes["ctrl+c"], 250*time.Millisecond)
}

func (h unifiedDriver) startBackground(command string) handle {
	p, _ := h.parseAnswer(h.execCommand(command, true, 250*time.Millisecond))
	return p
}

func (h unifiedDriver) startService(command string, port int) (handle, bool) {
	p, _ := h.parseAnswer(h.execCommand(command, true, time.Second))
	if p.exited {
		return p, false
	}
	p.takeUnread()
	r := h.run(fmt.Sprintf("timeout 15 bash -c 'until echo > /dev/tcp/127.0.0.1/%d; do sleep 0.1; done' 2>/dev/null", port))
	return p, r.code == 0
}

func (h unifiedDriver) awaitOutput(p handle, pattern string) string {
	for tries := 0; tries < 3 && !regexp.MustCompile(pattern).MatchString(p.output); tries++ {
		h.typeChars(p, "", 5*time.Second)
	}
	wantMatch(p.output, pattern)
	return p.output
}

// readNew returns the output read by awaitOutput, or reads more.
func (h unifiedDriver) readNew(p handle) string {
	if text := p.takeUnread(); text != "" {
		return text
	}
	h.typeChars(p, "", 5*time.Second)
	return p.takeUnread()
}

func (h unifiedDriver) grepOutput(p handle, command, pattern string) string {
	return h.run("(" + command + ") | grep -n " + strconv.Quote(pattern)).text
}

func (h unifiedDriver) stop(p handle) { h.typeChars(p, keyBytes["ctrl+c"], 250*time.Millisecond) }

func (h unifiedDriver) readFile(path string, from, lines int) string {
	if lines > 0 {
		return h.run(fmt.Sprintf("sed -n %d,%dp '%s'", from, from+lines-1, path)).text
	}
	return h.run("cat '" + path + "'").text
}

func (h unifiedDriver) editFile(path, old, text string) { h.applyPatch(path, old, text) }
func (h unifiedDriver) writeFile(path, text string)     { h.applyPatch(path, "", text) }

func (h unifiedDriver) grepFiles(pattern, glob string) string {
	return h.run("grep -rn --include='" + glob + "' '" + pattern + "' .").text
}

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

// A unified is an exec tool like the unified exec that Codex documents: two
// calls, exec_command and write_stdin, that come back when the command has
// ended or after yield_time_ms. apply_patch changes files.
type unified struct {
	tally
	dir      string
	sessions map[int]*running
}

// running is a command with what it has printed since the last call.
type running struct {
	cmd    *exec.Cmd
	stdin  *os.File // nil without a terminal
	mu     sync.Mutex
	unread []byte
	ended  chan struct{}
}

func (r *running) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unread = append(r.unread, b...)
	return len(b), nil
}

// unifiedServers start the exec tool, which is part of this test.
func unifiedServers() servers {
	return servers{name: "unified exec", start: func(dir string) hands {
		return unifiedHands{&unified{dir: dir, sessions: map[int]*running{}}}
	}}
}

// end kills what still runs.
func (u *unified) end() {
	for _, r := range u.sessions {
		syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
		<-r.ended
	}
}

// execCommand starts a command, in a terminal if it is to be typed to.
func (u *unified) execCommand(command string, tty bool, yield time.Duration) string {
	args := map[string]any{"cmd": command, "yield_time_ms": yield.Milliseconds()}
	if tty {
		args["tty"] = true
	}
	r := &running{cmd: exec.Command("bash", "-c", command), ended: make(chan struct{})}
	r.cmd.Dir = u.dir
	r.cmd.Env = append(os.Environ(), "TERM=dumb", "NO_COLOR=1", "LANG=C.UTF-8", "PAGER=cat", "GIT_PAGER=cat", "PS1=$ ")
	if err := r.start(tty); err != nil {
		giveUp("exec_command: %v", err)
	}
	id := len(u.sessions) + 1000
	u.sessions[id] = r
	return u.answer(args, id, r, yield)
}

func (r *running) start(tty bool) (err error) {
	if !tty {
		r.cmd.Stdout, r.cmd.Stderr = r, r
		r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		r.cmd.WaitDelay = time.Second
		if err = r.cmd.Start(); err == nil {
			go func() { r.cmd.Wait(); close(r.ended) }()
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
		close(r.ended)
	}()
	return nil
}

// writeStdin types, or only waits.
func (u *unified) writeStdin(id int, chars string, yield time.Duration) string {
	r := u.sessions[id]
	if chars == "" {
		yield = max(yield, 5*time.Second) // as Codex does
	}
	args := map[string]any{"session_id": id, "chars": chars, "yield_time_ms": yield.Milliseconds()}
	if chars != "" {
		r.stdin.WriteString(chars)
	}
	return u.answer(args, id, r, yield)
}

// answer waits for the end or until it is to yield, and says what came.
func (u *unified) answer(args map[string]any, id int, r *running, yield time.Duration) string {
	began := time.Now()
	state := fmt.Sprintf("Process running with session ID %d", id)
	select {
	case <-r.ended:
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
	said := fmt.Sprintf("Chunk ID: %06x\nWall time: %.4f seconds\n%s\nOriginal token count: %d\nOutput:\n%s", u.calls, took.Seconds(), state, len(out)/4, middle(out, 40_000))
	u.count(compact(args), said, took)
	return said
}

// middle leaves out the middle of what is longer than most bytes.
func middle(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s…%d tokens truncated…%s", s[:most/2], (len(s)-most)/4, s[len(s)-most/2:])
}

func (u *unified) count(args []byte, said string, took time.Duration) {
	u.calls++
	u.bytes += len(args) + len(said)
	u.took += took
	if os.Getenv("TRACE") != "" {
		fmt.Fprintf(os.Stderr, "  > %s (%.2f s)\n    %q\n", args, took.Seconds(), cut(said))
	}
}

// patch changes a file as apply_patch does: lines, with - and + before them.
func (u *unified) patch(path, old, text string) {
	name := filepath.Join(u.dir, path)
	before, err := os.ReadFile(name)
	what, lines := "Update", "@@\n"
	if old == "" {
		what, lines = "Add", ""
	} else if err != nil || !strings.Contains(string(before), old) {
		giveUp("apply_patch: %v", err)
	} else {
		for line := range strings.Lines(whole(string(before), old)) {
			lines += "-" + line
		}
	}
	after := text
	if old != "" {
		after = strings.Replace(string(before), old, text, 1)
		text = strings.Replace(whole(string(before), old), old, text, 1)
	}
	for line := range strings.Lines(text) {
		lines += "+" + line
	}
	if err := os.WriteFile(name, []byte(after), 0o644); err != nil {
		giveUp("apply_patch: %v", err)
	}
	u.count([]byte("*** Begin Patch\n*** "+what+" File: "+path+"\n"+lines+"*** End Patch"),
		"Success. Updated the following files:\nM "+path+"\n", 0)
}

// whole are the lines of a text that a part of it stands on.
func whole(text, part string) string {
	at := strings.Index(text, part)
	from := strings.LastIndexByte(text[:at], '\n') + 1
	end := at + len(part)
	if n := strings.IndexByte(text[end:], '\n'); n >= 0 {
		end += n + 1
	}
	return text[from:end]
}

// unifiedHands are an agent's with these tools. Nothing tells when a program
// has said what it has to say: the agent looks at the end of its output.
type unifiedHands struct{ *unified }

var (
	unifiedExit    = regexp.MustCompile(`Process exited with code (\d+)`)
	unifiedSession = regexp.MustCompile(`session ID (\d+)`)
	unifiedPrompt  = regexp.MustCompile(`(?:[>$#?:%\])] ?|\.\.\. )(?:\x1b\[[0-9;?]*[a-zA-Z])*$`)
)

func (h unifiedHands) cost() tally { return h.tally }

func (h unifiedHands) took(said string) (place, reply) {
	p, r := place{&spot{last: said, seen: said}}, reply{text: said, code: -1}
	if m := unifiedExit.FindStringSubmatch(said); m != nil {
		r.code, _ = strconv.Atoi(m[1])
		p.over = true
	} else if m := unifiedSession.FindStringSubmatch(said); m != nil {
		p.id = m[1]
	}
	return p, r
}

func (h unifiedHands) typed(p place, chars string, yield time.Duration) reply {
	id, _ := strconv.Atoi(p.id)
	q, r := h.took(h.writeStdin(id, chars, yield))
	p.last, p.over = q.last, q.over
	p.seen += q.last
	r.asks = unifiedPrompt.MatchString(r.text)
	return r
}

func (h unifiedHands) run(command string) reply {
	p, r := h.first(command, 10*time.Second)
	if !p.over {
		return h.rest(p)
	}
	return r
}

func (h unifiedHands) first(command string, wait time.Duration) (place, reply) {
	return h.took(h.execCommand(command, false, wait))
}

func (h unifiedHands) rest(p place) reply {
	_, r := h.took(p.last)
	for tries := 0; tries < 6 && !p.over; tries++ {
		text := r.text
		r = h.typed(p, "", 10*time.Second)
		r.text = text + r.text
	}
	return r
}

func (h unifiedHands) limit(command string, most time.Duration) reply {
	seconds := strconv.Itoa(int(most.Seconds()))
	return h.run("timeout " + seconds + " bash -c '" + command + "'")
}

func (h unifiedHands) open(program string) place {
	if program == "" {
		program = "bash --norc --noediting"
	}
	p, _ := h.took(h.execCommand(program, true, time.Second))
	if !unifiedPrompt.MatchString(p.last) && !strings.Contains(p.last, "\x1b[") {
		h.typed(p, "", 5*time.Second)
	}
	return p
}

func (h unifiedHands) line(p place, text string) reply {
	r := h.typed(p, text+"\n", time.Second)
	if !p.over && !r.asks && !strings.Contains(r.text, "\x1b[") {
		more := h.typed(p, "", 5*time.Second)
		more.text = r.text + more.text
		more.asks = more.asks || unifiedPrompt.MatchString(more.text)
		return more
	}
	return r
}

func (h unifiedHands) press(p place, text string, keys ...string) {
	for _, k := range keys {
		text += keyBytes[k]
	}
	h.typed(p, text, 250*time.Millisecond)
}

func (h unifiedHands) shows(p place, pattern string) {
	all := p.last
	for tries := 0; tries < 3 && !regexp.MustCompile(pattern).MatchString(all); tries++ {
		all += h.typed(p, "", 5*time.Second).text
	}
	want(all, pattern)
}

func (h unifiedHands) gone(p place) {
	for tries := 0; tries < 3 && !p.over; tries++ {
		h.typed(p, "", 5*time.Second)
	}
	if !p.over {
		giveUp("it has not ended: %s", p.last)
	}
}

func (h unifiedHands) flood(p place, text string) {
	h.typed(p, text+"\n", time.Second)
	h.typed(p, keyBytes["ctrl+c"], 250*time.Millisecond)
}

func (h unifiedHands) begin(command string) place {
	p, _ := h.took(h.execCommand(command, true, 250*time.Millisecond))
	return p
}

func (h unifiedHands) serve(command string, port int) (place, bool) {
	p, _ := h.took(h.execCommand(command, true, time.Second))
	if p.over {
		return p, false
	}
	p.unlooked()
	r := h.run(fmt.Sprintf("timeout 15 bash -c 'until echo > /dev/tcp/127.0.0.1/%d; do sleep 0.1; done' 2>/dev/null", port))
	return p, r.code == 0
}

func (h unifiedHands) await(p place, pattern string) string {
	for tries := 0; tries < 3 && !regexp.MustCompile(pattern).MatchString(p.seen); tries++ {
		h.typed(p, "", 5*time.Second)
	}
	want(p.seen, pattern)
	return p.seen
}

// news is what await has read, or what there is.
func (h unifiedHands) news(p place) string {
	if text := p.unlooked(); text != "" {
		return text
	}
	h.typed(p, "", 5*time.Second)
	return p.unlooked()
}

func (h unifiedHands) hits(p place, command, pattern string) string {
	return h.run("(" + command + ") | grep -n " + strconv.Quote(pattern)).text
}

func (h unifiedHands) stop(p place) { h.typed(p, keyBytes["ctrl+c"], 250*time.Millisecond) }

func (h unifiedHands) read(path string, from, lines int) string {
	if lines > 0 {
		return h.run(fmt.Sprintf("sed -n %d,%dp '%s'", from, from+lines-1, path)).text
	}
	return h.run("cat '" + path + "'").text
}

func (h unifiedHands) edit(path, old, text string) { h.patch(path, old, text) }
func (h unifiedHands) write(path, text string)     { h.patch(path, "", text) }

func (h unifiedHands) grep(pattern, glob string) string {
	return h.run("grep -rn --include='" + glob + "' '" + pattern + "' .").text
}

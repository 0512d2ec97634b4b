package mcp

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"tandem/engine/api"
)

const (
	// markMost is longer than the line that tells of a command's end.
	markMost = 64
	// logTurn is how long one call waits for more output.
	logTurn = 20 * time.Second
	// execMost bounds what is held of a command's output.
	execMost = 8 * streamMost
)

// endMark is the line behind a command's output: its nonce and exit code.
var endMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1e([0-9a-f]{12}) ([0-9]+)\x1e\n") })

// begunMark is what may become an endMark.
var begunMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1e[0-9a-f]{0,12}( [0-9]*\x1e?)?$") })

// turns see to it that one call at a time reads from a session.
type turns struct {
	mu  sync.Mutex
	all map[string]*turn // by id of the session
}

// A turn is held by who reads from a session.
type turn struct {
	held    chan struct{} // of 1
	running string        // mark of a command whose end nobody has seen yet
}

// take waits for a session's turn.
func (t *turns) take(ctx context.Context, id string) (*turn, error) {
	t.mu.Lock()
	if t.all == nil {
		t.all = map[string]*turn{}
	}
	own := t.all[id]
	if own == nil {
		own = &turn{held: make(chan struct{}, 1)}
		t.all[id] = own
	}
	t.mu.Unlock()
	select {
	case own.held <- struct{}{}:
		return own, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (t *turn) release() { <-t.held }

// A pipeShell is a shell that reads commands from a pipe.
type pipeShell struct{ turns *turns }

func (pipeShell) owns(p api.Process) bool { return p.Supervision != nil && p.Supervision.Stdin }

func (s pipeShell) start(ctx context.Context, f *face, in localSessionInput) (api.Process, string, error) {
	cwd, err := androidCWD(f, in.CWD, f.o.CWD)
	if err != nil {
		return api.Process{}, "", err
	}
	env := map[string]string{"TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat", "GIT_PAGER": "cat"}
	for name, value := range in.Env {
		env[name] = value
	}
	p, err := api.ProcessStart.Call(ctx, f.engine, api.ProcessStartInput{
		Command: []string{plainShell()}, CWD: cwd, Env: env, Environ: f.environ, Actor: f.actor,
		Stdin: true, Transient: true, StopTimeoutMS: stopPatience,
	})
	return p, "", err
}

// exec has the shell evaluate the command and then print a mark with its exit
// code. All is written at once, so the command cannot read the mark's own line
// as its input; eval keeps a mistake in the command from being one in that line.
func (s pipeShell) exec(ctx context.Context, f *face, p api.Process, in localSessionInput) (sessionRan, error) {
	turn, err := s.turns.take(ctx, p.ID)
	if err != nil {
		return sessionRan{}, err
	}
	defer turn.release()
	tape := &tape{f: f, id: p.ID}
	if err := tape.settle(ctx, turn); err != nil {
		return sessionRan{}, err
	}
	nonce, began := newOwner(), time.Now()
	line := "{ command eval " + shellWord(in.Command) + "\n" +
		`__tandem=$?; printf '\036%s %d\036\n' ` + nonce + ` "$__tandem"; (exit "$__tandem")` + "\n}\n"
	if err := s.write(ctx, f, p, line); err != nil {
		return sessionRan{}, err
	}
	turn.running = nonce
	out, err := tape.record(ctx, nonce, began.Add(time.Duration(in.seconds())*time.Second))
	if err != nil {
		return sessionRan{}, err
	}
	if !out.TimedOut {
		turn.running = ""
	}
	out.Output, out.Dropped = tape.cut(out.Alive)
	out.DurationMS = float64(time.Since(began).Milliseconds())
	return out, nil
}

// shellWord quotes text as one word of a POSIX shell.
func shellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (pipeShell) write(ctx context.Context, f *face, p api.Process, input string) error {
	_, err := api.ProcessWrite.Call(ctx, f.engine, api.ProcessWriteInput{ID: p.ID, Text: input})
	return err
}

func (s pipeShell) read(ctx context.Context, f *face, p api.Process) (sessionOutput, error) {
	turn, err := s.turns.take(ctx, p.ID)
	if err != nil {
		return sessionOutput{}, err
	}
	defer turn.release()
	tape := &tape{f: f, id: p.ID}
	for {
		before := len(tape.data)
		state, err := tape.more(ctx, 0)
		if err != nil {
			return sessionOutput{}, err
		}
		if full := len(tape.data) >= streamMost; full || len(tape.data) == before {
			if _, _, ended := tape.endOf(turn.running); ended {
				turn.running = ""
			}
			out := sessionOutput{Alive: !state.Ended(), More: full}
			out.Output, out.Dropped = tape.cut(out.Alive)
			return out, nil
		}
	}
}

func (pipeShell) resize(context.Context, *face, api.Process, int, int) (sessionOK, error) {
	return sessionOK{OK: true, Detail: "the session has no terminal: its size has no effect"}, nil
}

func (pipeShell) kill(ctx context.Context, f *face, p api.Process) error {
	_, err := api.ProcessStop.Call(ctx, f.engine, api.ProcessStopInput{ID: p.ID})
	return err
}

// A tape is a session's output from where it was last read.
type tape struct {
	f       *face
	id      string
	begun   bool
	base    int64 // offset of data in the log
	data    []byte
	dropped int64
	done    int // data before this is what the caller waits for, if that is known
}

// more reads on, and waits for something to read if there is nothing.
func (t *tape) more(ctx context.Context, wait time.Duration) (api.State, error) {
	since := t.f.readers.at(t.id)
	if t.begun {
		since = t.base + int64(len(t.data))
	}
	out, err := api.ProcessLog.Call(ctx, t.f.engine, api.ProcessLogInput{
		ID: t.id, Since: &since, Max: streamMost, WaitMS: max(int(wait.Milliseconds()), 0), Exact: true,
	})
	if err != nil {
		return "", err
	}
	data, err := out.Bytes()
	if err != nil {
		return "", err
	}
	if !t.begun {
		t.begun, t.base = true, out.Start
		t.dropped = max(out.Start-since, 0)
	}
	t.data = append(t.data, data...)
	if over := len(t.data) - execMost; over > 0 {
		t.data, t.base, t.dropped = t.data[over:], t.base+int64(over), t.dropped+int64(over)
	}
	return out.State, nil
}

// settle reads on to the end of a command that an earlier call has not waited
// for. While it runs nothing else can: what was written would be its input.
func (t *tape) settle(ctx context.Context, turn *turn) error {
	for turn.running != "" {
		before := len(t.data)
		state, err := t.more(ctx, 0)
		if err != nil {
			return err
		}
		if _, _, ended := t.endOf(turn.running); ended || state.Ended() {
			turn.running = ""
		} else if len(t.data) == before {
			return androidErrorf("session_busy", "the command before goes on: read gives its output, write its input, kill ends the session")
		}
	}
	return nil
}

// record reads on until a command has ended, its session has, or the time is over.
func (t *tape) record(ctx context.Context, nonce string, end time.Time) (out sessionRan, err error) {
	for {
		state, err := t.more(ctx, min(time.Until(end), logTurn))
		if err != nil {
			return out, err
		}
		out.Alive = !state.Ended()
		code, behind, ended := t.endOf(nonce)
		switch {
		case ended:
			out.ExitCode, t.done = &code, behind
			return out, nil
		case state.Ended():
			p, err := api.ProcessGet.Call(ctx, t.f.engine, api.IDInput{ID: t.id})
			if code, ok := exitCode(p); ok && err == nil {
				out.ExitCode = &code
			}
			return out, nil
		case !time.Now().Before(end):
			out.TimedOut = true
			return out, nil
		}
	}
}

// endOf looks for the mark of a command, and tells where what follows begins.
func (t *tape) endOf(nonce string) (code, behind int, ok bool) {
	at := bytes.Index(t.data, []byte("\x1e"+nonce+" "))
	if at < 0 || nonce == "" {
		return 0, 0, false
	}
	m := endMark().FindSubmatchIndex(t.data[at:])
	if m == nil || m[0] != 0 {
		return 0, 0, false
	}
	code, err := strconv.Atoi(string(t.data[at+m[4] : at+m[5]]))
	return code, at + m[1], err == nil
}

// cut takes what was read so far, without marks, and goes on behind it. What
// may be the beginning of a mark, or of a character, is left where it is while
// more can come.
func (t *tape) cut(more bool) (output string, dropped int64) {
	data := t.data
	switch {
	case t.done > 0:
		data = data[:t.done]
	case more:
		tail := max(len(data)-markMost, 0)
		if begun := begunMark().FindIndex(data[tail:]); begun != nil {
			data = data[:tail+begun[0]]
		}
		data = data[:wholeLength(data)]
	}
	t.f.readers.set(t.id, t.base+int64(len(data)))
	return strings.ToValidUTF8(string(endMark().ReplaceAll(data, nil)), "\uFFFD"), t.dropped
}

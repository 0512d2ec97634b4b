package android

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
	"tandem/engine/shell"
)

const (
	// markMost is longer than the line that tells of a command's end.
	markMost = 64
	// logTurn is how long one call waits for more output.
	logTurn = 20 * time.Second
	// askGap is how long a command prints nothing before it is looked at whether it waits
	// for input, and asksLooks how often in a row it has to be seen to.
	askGap    = 300 * time.Millisecond
	asksLooks = 2
	// execMost bounds what is held of a command's output.
	execMost = 8 * toolkit.MaxStream
)

// EndMark is the line behind a command's output: its nonce and exit code.
var EndMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1e([0-9a-f]{12}) ([0-9]+)\x1e\n") })

// begunMark matches the beginning of an EndMark.
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
	open    atomic.Bool   // the last line that was written to it is not ended
}

// of is a session's turn, which somebody else may hold.
func (t *turns) of(id string) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[string]*turn{}
	}
	own := t.all[id]
	if own == nil {
		own = &turn{held: make(chan struct{}, 1)}
		t.all[id] = own
	}
	return own
}

// Take waits for a session's turn.
func (t *turns) Take(ctx context.Context, id string) (*turn, error) {
	own := t.of(id)
	select {
	case own.held <- struct{}{}:
		return own, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (t *turn) release() { <-t.held }

// pipePrompt is the first prompt of a shell that reads from a pipe and so prints none.
const pipePrompt = "$ "

// A pipeShell is a shell that reads commands from a pipe.
type pipeShell struct{ turns *turns }

func (pipeShell) owns(p api.Process) bool { return p.Supervision != nil && p.Supervision.Stdin }

func (s pipeShell) start(ctx context.Context, f *toolkit.Agent, in localSessionInput) (api.Process, string, error) {
	cwd, err := androidCWD(f, in.CWD, f.Options.CWD)
	if err != nil {
		return api.Process{}, "", err
	}
	env := map[string]string{"TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat", "GIT_PAGER": "cat"}
	for name, value := range in.Env {
		env[name] = value
	}
	p, err := api.ProcessStart.Call(ctx, f.Engine, api.ProcessStartInput{
		ID: api.NewID(), Command: []string{plainShell()}, CWD: cwd, Env: env, Environ: f.ChildEnv(), Umask: f.Umask, Actor: f.Actor,
		Stdin: true, Transient: true, StopTimeoutMS: toolkit.StopTimeout,
	})
	return p, pipePrompt, err
}

// exec has the shell evaluate the command and then print a mark with its exit
// code. All is written at once, so the command cannot read the mark's own line
// as its input; eval keeps a mistake in the command from being one in that line.
func (s pipeShell) exec(ctx context.Context, f *toolkit.Agent, p api.Process, in localSessionInput) (sessionRan, error) {
	turn, err := s.turns.Take(ctx, p.ID)
	if err != nil {
		return sessionRan{}, err
	}
	defer turn.release()
	tape := &Tape{Agent: f, ID: p.ID}
	if err := tape.settle(ctx, turn); err != nil {
		return sessionRan{}, err
	}
	nonce, began := api.NewID(), time.Now()
	line := "{ command eval " + shell.Quote(string(in.Command)) + "\n" +
		`__tandem=$?; printf '\036%s %d\036\n' ` + nonce + ` "$__tandem"; (exit "$__tandem")` + "\n}\n"
	if turn.open.Load() {
		line = "\n" + line // what was written is a line of its own
	}
	if err := s.write(ctx, f, p, line); err != nil {
		return sessionRan{}, err
	}
	turn.running = nonce
	out, err := tape.record(ctx, nonce, began.Add(time.Duration(in.seconds())*time.Second))
	if err != nil {
		return sessionRan{}, err
	}
	if !out.TimedOut && out.Waits == "" {
		turn.running = ""
	}
	out.Output, out.Dropped = tape.Cut(out.Alive)
	out.DurationMS = float64(time.Since(began).Milliseconds())
	return out, nil
}

func (s pipeShell) write(ctx context.Context, f *toolkit.Agent, p api.Process, input string) error {
	s.turns.of(p.ID).open.Store(!strings.HasSuffix(input, "\n"))
	_, err := api.ProcessWrite.Call(ctx, f.Engine, api.ProcessWriteInput{ID: p.ID, Text: input})
	return err
}

func (s pipeShell) read(ctx context.Context, f *toolkit.Agent, p api.Process) (sessionOutput, error) {
	turn, err := s.turns.Take(ctx, p.ID)
	if err != nil {
		return sessionOutput{}, err
	}
	defer turn.release()
	tape := &Tape{Agent: f, ID: p.ID}
	for {
		before := len(tape.Data)
		state, err := tape.more(ctx, 0)
		if err != nil {
			return sessionOutput{}, err
		}
		if full := len(tape.Data) >= toolkit.MaxStream; full || len(tape.Data) == before {
			if _, _, ended := tape.endOf(turn.running); ended {
				turn.running = ""
			}
			out := sessionOutput{Alive: !state.Ended(), More: full}
			out.Output, out.Dropped = tape.Cut(out.Alive)
			return out, nil
		}
	}
}

func (pipeShell) resize(context.Context, *toolkit.Agent, api.Process, int, int) (sessionOK, error) {
	return sessionOK{OK: true, Detail: "the session has no terminal: its size has no effect"}, nil
}

func (pipeShell) kill(ctx context.Context, f *toolkit.Agent, p api.Process) error {
	_, err := api.ProcessStop.Call(ctx, f.Engine, api.ProcessStopInput{ID: p.ID})
	return err
}

// A Tape is a session's output from where it was last read.
type Tape struct {
	Agent   *toolkit.Agent
	ID      string
	begun   bool
	Base    int64 // offset of data in the log
	Data    []byte
	dropped int64
	done    int // data before this is what the caller waits for, if that is known
}

// more reads on, and waits for something to read if there is nothing.
func (t *Tape) more(ctx context.Context, wait time.Duration) (api.State, error) {
	seen, _ := t.Agent.Seen.At(t.ID)
	since := seen.At
	if t.begun {
		since = t.Base + int64(len(t.Data))
	}
	out, err := api.ProcessLog.Call(ctx, t.Agent.Engine, api.ProcessLogInput{
		ID: t.ID, Since: &since, Max: toolkit.MaxStream, WaitMS: max(int(wait.Milliseconds()), 0), Exact: true,
	})
	if err != nil {
		return "", err
	}
	data, err := out.Bytes()
	if err != nil {
		return "", err
	}
	if !t.begun {
		t.begun, t.Base = true, out.Start
		t.dropped = max(out.Start-since, 0)
	}
	t.Data = append(t.Data, data...)
	if over := len(t.Data) - execMost; over > 0 {
		t.Data, t.Base, t.dropped = t.Data[over:], t.Base+int64(over), t.dropped+int64(over)
	}
	return out.State, nil
}

// settleMost is how long a command may wait for the one before: who has read
// its last line can be here sooner than the mark behind that line.
const settleMost = time.Second

// settle reads on to the end of a command that an earlier call has not waited
// for. While it runs nothing else can: what was written would be its input.
func (t *Tape) settle(ctx context.Context, turn *turn) error {
	for end := time.Now().Add(settleMost); turn.running != ""; {
		state, err := t.more(ctx, time.Until(end))
		if err != nil {
			return err
		}
		if _, _, ended := t.endOf(turn.running); ended || state.Ended() {
			turn.running = ""
		} else if !time.Now().Before(end) {
			return androidErrorf("session_busy", "the previous command is still running: read returns its output, write sends it input, kill ends the session")
		}
	}
	return nil
}

// endTold is the longest, in milliseconds, that the end of a session is waited for
// which its log has told.
const endTold = 2000

// asksMS is how long one look whether a session waits for input may take, in milliseconds.
const asksMS = 40

// record reads on until a command has ended or waits for input, its session has ended,
// or the time is over.
func (t *Tape) record(ctx context.Context, nonce string, end time.Time) (out sessionRan, err error) {
	gap, asks := askGap, 0
	for {
		before := t.end()
		state, err := t.more(ctx, min(time.Until(end), gap))
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
			// The log knows of the end before the record of the process does.
			wait, err := api.ProcessWait.Call(ctx, t.Agent.Engine, api.ProcessWaitInput{ID: t.ID, Exit: true, TimeoutMS: endTold})
			if code, ok := toolkit.ExitCode(wait.Process); ok && err == nil {
				out.ExitCode = &code
			}
			return out, nil
		case !time.Now().Before(end):
			out.TimedOut = true
			return out, nil
		case t.end() > before:
			gap, asks = askGap, 0
		case t.asks(ctx):
			if asks++; asks == asksLooks {
				out.Waits = "input"
				return out, nil
			}
		default:
			gap, asks = min(2*gap, logTurn), 0
		}
	}
}

// end is the offset behind what was read.
func (t *Tape) end() int64 { return t.Base + int64(len(t.Data)) }

// asks reports whether the session waits for input now.
func (t *Tape) asks(ctx context.Context) bool {
	out, err := api.ProcessWait.Call(ctx, t.Agent.Engine, api.ProcessWaitInput{ID: t.ID, Input: true, TimeoutMS: asksMS})
	return err == nil && out.Met == "input"
}

// endOf looks for the mark of a command, and tells where what follows begins.
func (t *Tape) endOf(nonce string) (code, behind int, ok bool) {
	at := bytes.Index(t.Data, []byte("\x1e"+nonce+" "))
	if at < 0 || nonce == "" {
		return 0, 0, false
	}
	m := EndMark().FindSubmatchIndex(t.Data[at:])
	if m == nil || m[0] != 0 {
		return 0, 0, false
	}
	code, err := strconv.Atoi(string(t.Data[at+m[4] : at+m[5]]))
	return code, at + m[1], err == nil
}

// Cut takes what was read so far, without marks, and goes on behind it. What
// may be the beginning of a mark, or of a character, is left where it is while
// more can come.
func (t *Tape) Cut(more bool) (output string, dropped int64) {
	data := t.Data
	switch {
	case t.done > 0:
		data = data[:t.done]
	case more:
		tail := max(len(data)-markMost, 0)
		if begun := begunMark().FindIndex(data[tail:]); begun != nil {
			data = data[:tail+begun[0]]
		}
		data = data[:toolkit.CompleteLength(data)]
	}
	t.Agent.Seen.Set(t.ID, toolkit.Cursor{At: t.Base + int64(len(data))})
	return strings.ToValidUTF8(string(EndMark().ReplaceAll(data, nil)), "\uFFFD"), t.dropped
}

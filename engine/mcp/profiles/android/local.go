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
	// maxMark is more than the length of an end mark.
	maxMark = 64
	// maxLogWait limits one wait for output.
	maxLogWait = 20 * time.Second
	// inputQuiet is the silence after which a command is checked for waiting for input, and
	// minInputPolls how many checks in a row must find it waiting.
	inputQuiet    = 300 * time.Millisecond
	minInputPolls = 2
	// maxExecData limits the output of one command held in memory.
	maxExecData = 8 * toolkit.MaxStream
)

// EndMark matches the line after a command's output, with its nonce and exit code.
var EndMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1e([0-9a-f]{12}) ([0-9]+)\x1e\n") })

// partialMark matches the beginning of an EndMark at the end of a text.
var partialMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1e[0-9a-f]{0,12}( [0-9]*\x1e?)?$") })

// readLocks lets only one call at a time read from a session.
type readLocks struct {
	mu   sync.Mutex
	byID map[string]*readLock // by session id
}

// A readLock belongs to the call reading from a session.
type readLock struct {
	held        chan struct{} // capacity 1
	runningMark string        // mark of a command not seen to end yet
	openLine    atomic.Bool   // the last input did not end with a newline
}

// lockOf returns a session's lock, which another call may hold.
func (t *readLocks) lockOf(id string) *readLock {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID == nil {
		t.byID = map[string]*readLock{}
	}
	own := t.byID[id]
	if own == nil {
		own = &readLock{held: make(chan struct{}, 1)}
		t.byID[id] = own
	}
	return own
}

// Lock waits for a session's lock.
func (t *readLocks) Lock(ctx context.Context, id string) (*readLock, error) {
	own := t.lockOf(id)
	select {
	case own.held <- struct{}{}:
		return own, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (t *readLock) unlock() { <-t.held }

// pipePrompt stands for the first prompt: a shell reading from a pipe prints none.
const pipePrompt = "$ "

// A pipeShell is a shell reading commands from a pipe.
type pipeShell struct{ locks *readLocks }

func (pipeShell) ownsSession(p api.Process) bool { return p.Supervision != nil && p.Supervision.Stdin }

func (s pipeShell) startSession(ctx context.Context, f *toolkit.Agent, in localSessionInput) (api.Process, string, error) {
	cwd, err := resolveCWD(f, in.CWD, f.Options.CWD)
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

// execCommand makes the shell evaluate the command and then print a mark with its exit code. All of
// it is written at once, so the command cannot read the mark's line as its input. eval keeps a
// syntax error in the command from affecting that line.
func (s pipeShell) execCommand(ctx context.Context, f *toolkit.Agent, p api.Process, in localSessionInput) (execResult, error) {
	lock, err := s.locks.Lock(ctx, p.ID)
	if err != nil {
		return execResult{}, err
	}
	defer lock.unlock()
	output := &OutputReader{Agent: f, ID: p.ID}
	if err := output.awaitPrevious(ctx, lock); err != nil {
		return execResult{}, err
	}
	nonce, began := api.NewID(), time.Now()
	line := "{ command eval " + shell.Quote(string(in.Command)) + "\n" +
		`__tandem=$?; printf '\036%s %d\036\n' ` + nonce + ` "$__tandem"; (exit "$__tandem")` + "\n}\n"
	if lock.openLine.Load() {
		line = "\n" + line // complete the open line
	}
	if err := s.writeInput(ctx, f, p, line); err != nil {
		return execResult{}, err
	}
	lock.runningMark = nonce
	out, err := output.readUntilEnd(ctx, nonce, began.Add(time.Duration(in.timeoutSeconds())*time.Second))
	if err != nil {
		return execResult{}, err
	}
	if !out.TimedOut && out.Waits == "" {
		lock.runningMark = ""
	}
	out.Output, out.Dropped = output.TakeOutput(out.Alive)
	out.DurationMS = float64(time.Since(began).Milliseconds())
	return out, nil
}

func (s pipeShell) writeInput(ctx context.Context, f *toolkit.Agent, p api.Process, input string) error {
	s.locks.lockOf(p.ID).openLine.Store(!strings.HasSuffix(input, "\n"))
	_, err := api.ProcessWrite.Call(ctx, f.Engine, api.ProcessWriteInput{ID: p.ID, Text: input})
	return err
}

func (s pipeShell) readOutput(ctx context.Context, f *toolkit.Agent, p api.Process) (sessionOutput, error) {
	lock, err := s.locks.Lock(ctx, p.ID)
	if err != nil {
		return sessionOutput{}, err
	}
	defer lock.unlock()
	output := &OutputReader{Agent: f, ID: p.ID}
	for {
		before := len(output.Data)
		state, err := output.readMore(ctx, 0)
		if err != nil {
			return sessionOutput{}, err
		}
		if full := len(output.Data) >= toolkit.MaxStream; full || len(output.Data) == before {
			if _, _, ended := output.findMark(lock.runningMark); ended {
				lock.runningMark = ""
			}
			out := sessionOutput{Alive: !state.Ended(), More: full}
			out.Output, out.Dropped = output.TakeOutput(out.Alive)
			return out, nil
		}
	}
}

func (pipeShell) resizeTerminal(context.Context, *toolkit.Agent, api.Process, int, int) (statusResult, error) {
	return statusResult{OK: true, Detail: "the session has no terminal: its size has no effect"}, nil
}

func (pipeShell) killSession(ctx context.Context, f *toolkit.Agent, p api.Process) error {
	_, err := api.ProcessStop.Call(ctx, f.Engine, api.ProcessStopInput{ID: p.ID})
	return err
}

// An OutputReader reads a session's output from the last position read.
type OutputReader struct {
	Agent   *toolkit.Agent
	ID      string
	started bool
	Base    int64 // log offset of Data
	Data    []byte
	dropped int64
	done    int // length of Data to return to the caller, if known; 0 otherwise
}

// readMore reads further output, waiting for it if there is none.
func (t *OutputReader) readMore(ctx context.Context, wait time.Duration) (api.State, error) {
	seen, _ := t.Agent.Seen.At(t.ID)
	since := seen.At
	if t.started {
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
	if !t.started {
		t.started, t.Base = true, out.Start
		t.dropped = max(out.Start-since, 0)
	}
	t.Data = append(t.Data, data...)
	// Keep the end of endless output.
	if over := len(t.Data) - maxExecData; over > 0 {
		t.Data, t.Base, t.dropped = t.Data[over:], t.Base+int64(over), t.dropped+int64(over)
	}
	return out.State, nil
}

// maxPreviousWait limits the wait for the previous command. The agent may see its last line, and
// send the next command, before the mark arrives.
const maxPreviousWait = time.Second

// awaitPrevious reads to the end of a command an earlier call did not wait for. While that command
// runs, a new one would become its input.
func (t *OutputReader) awaitPrevious(ctx context.Context, lock *readLock) error {
	for end := time.Now().Add(maxPreviousWait); lock.runningMark != ""; {
		state, err := t.readMore(ctx, time.Until(end))
		if err != nil {
			return err
		}
		if _, _, ended := t.findMark(lock.runningMark); ended || state.Ended() {
			lock.runningMark = ""
		} else if !time.Now().Before(end) {
			return androidErrorf("session_busy", "the previous command is still running: read returns its output, write sends it input, kill ends the session")
		}
	}
	return nil
}

// exitWaitMS limits the wait for the exit of a session whose log has ended, in milliseconds.
const exitWaitMS = 2000

// inputPollMS limits one check for waiting for input, in milliseconds.
const inputPollMS = 40

// readUntilEnd reads until a command has exited or waits for input, its session has ended, or end
// has passed.
func (t *OutputReader) readUntilEnd(ctx context.Context, nonce string, end time.Time) (out execResult, err error) {
	gap, asks := inputQuiet, 0
	for {
		before := t.endOffset()
		state, err := t.readMore(ctx, min(time.Until(end), gap))
		if err != nil {
			return out, err
		}
		out.Alive = !state.Ended()
		code, behind, ended := t.findMark(nonce)
		switch {
		case ended:
			out.ExitCode, t.done = &code, behind
			return out, nil
		case state.Ended():
			// The log ends before the process record shows the exit.
			wait, err := api.ProcessWait.Call(ctx, t.Agent.Engine, api.ProcessWaitInput{ID: t.ID, Exit: true, TimeoutMS: exitWaitMS})
			if code, ok := toolkit.ExitCode(wait.Process); ok && err == nil {
				out.ExitCode = &code
			}
			return out, nil
		case !time.Now().Before(end):
			out.TimedOut = true
			return out, nil
		case t.endOffset() > before:
			gap, asks = inputQuiet, 0
		case t.waitsForInput(ctx):
			if asks++; asks == minInputPolls {
				out.Waits = "input"
				return out, nil
			}
		default:
			// Check a silent command less and less often.
			gap, asks = min(2*gap, maxLogWait), 0
		}
	}
}

// endOffset returns the log offset after the data.
func (t *OutputReader) endOffset() int64 { return t.Base + int64(len(t.Data)) }

// waitsForInput reports whether the session waits for input now.
func (t *OutputReader) waitsForInput(ctx context.Context) bool {
	out, err := api.ProcessWait.Call(ctx, t.Agent.Engine, api.ProcessWaitInput{ID: t.ID, Input: true, TimeoutMS: inputPollMS})
	return err == nil && out.Met == "input"
}

// findMark finds the mark of a command. behind is the index after it.
func (t *OutputReader) findMark(nonce string) (code, behind int, ok bool) {
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

// TakeOutput returns the output read so far without marks, and moves on. While more may come, an
// incomplete mark or character at the end is left for the next call.
func (t *OutputReader) TakeOutput(more bool) (output string, dropped int64) {
	data := t.Data
	switch {
	case t.done > 0:
		data = data[:t.done]
	case more:
		tail := max(len(data)-maxMark, 0)
		if begun := partialMark().FindIndex(data[tail:]); begun != nil {
			data = data[:tail+begun[0]]
		}
		data = data[:toolkit.CompleteLength(data)]
	}
	t.Agent.Seen.Set(t.ID, toolkit.Cursor{At: t.Base + int64(len(data))})
	return strings.ToValidUTF8(string(EndMark().ReplaceAll(data, nil)), "\uFFFD"), t.dropped
}

package service

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/logs"
	"tandem/engine/names"
	"tandem/engine/prompt"
	"tandem/engine/pty"
	"tandem/engine/rendered"
	"tandem/engine/shell"
	"tandem/engine/supervise"
)

// session.exec also works in a POSIX shell without a terminal, reading its commands from a pipe: a
// process started with stdin. Such a shell shows no prompt and marks nothing. So its input is not
// the command alone but a line evaluating it and then printing a mark with its exit code. All of it
// is written at once, so the command cannot read the mark's line as its input; eval keeps a syntax
// error in the command from affecting that line.

const (
	// maxMark is more than the length of a mark.
	maxMark = 64
	// maxQuiet limits one wait for output, and previousWait the wait for the mark of the command
	// before: its caller may have seen its last line before the mark arrived.
	maxQuiet     = 20 * time.Second
	previousWait = time.Second
	// inputQuiet is the silence after which a command is checked for waiting for input, and
	// minInputPolls how many checks in a row must find it waiting.
	inputQuiet    = 300 * time.Millisecond
	minInputPolls = 2
)

// pipeShells holds the shells with a command started by session.exec.
type pipeShells struct {
	mu   sync.Mutex
	byID map[string]*pipeShell
}

// A pipeShell is a shell reading its commands from a pipe.
type pipeShell struct {
	turn     chan struct{} // capacity 1; held by the call running a command
	pid      int
	mark     string // of the last command, until it is found in the log
	searched int64  // offset in the log; the mark comes later
}

// pipeShellOf returns the shell with a process's id, and forgets those that have exited.
func (s *Sessions) pipeShellOf(ctx context.Context, id string) *pipeShell {
	p := &s.pipes
	p.mu.Lock()
	defer p.mu.Unlock()
	for other := range p.byID {
		if e, err := s.Control.EntryByID(ctx, other); err != nil || e.State.Ended() {
			delete(p.byID, other)
		}
	}
	if p.byID == nil {
		p.byID = map[string]*pipeShell{}
	}
	if p.byID[id] == nil {
		p.byID[id] = &pipeShell{turn: make(chan struct{}, 1)}
	}
	return p.byID[id]
}

// execInPipe runs a command line in a shell that reads from a pipe.
func (s *Sessions) execInPipe(ctx context.Context, e supervise.Entry, in api.SessionExecInput) (out api.SessionExecOutput, err error) {
	if err := prompt.CheckExec(&in, false); err != nil {
		return out, err
	}
	name := e.Rec.Name
	if len(in.Command) > maxInput {
		return out, api.Errorf(api.CodeInvalid, "run in %s: the command is longer than %d bytes", names.Shown(in.ID), maxInput)
	}
	if err := s.Guard.MayType(ctx, e.View); err != nil {
		return out, err
	}
	end := time.Now().Add(time.Duration(in.TimeoutMS) * time.Millisecond)
	timed, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	p := s.pipeShellOf(ctx, e.Rec.ID)
	busy := api.Errorf(api.CodeConflict, "run in %s: the previous command is still running", name).WithHint("wait for its end")
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-timed.Done():
		return out, busy
	}
	if p.pid != e.View.PID { // restarted: the last command is gone
		p.pid, p.mark = e.View.PID, ""
	}
	r := pipeRun{shell: p, logs: s.Logs, entry: e, input: s.Store.InputPath(e.Rec.ID)}
	if p.mark != "" {
		// While that command runs, a new one would become its input.
		if err := r.awaitEnd(ctx, time.Now().Add(min(previousWait, time.Until(end)))); err != nil {
			return out, err
		}
		if p.mark != "" {
			return out, busy
		}
	}
	began, mark := time.Now(), api.NewID()
	r.start = logs.FileSize(r.entry.Source().Path)
	if err := writeInput(ctx, r.input, name, markedLine(in.Command, mark), inputTimeout); err != nil {
		return out, err
	}
	p.mark, p.searched = mark, r.start
	if err := r.awaitEnd(ctx, end); err != nil {
		return out, err
	}
	r.out.DurationMS = float64(time.Since(began).Microseconds()) / 1000
	return s.pipeResult(ctx, r, in.MaxOutput)
}

// markedLine returns the input for a shell to run a command and then print a mark with its exit
// code: the sequence by which a shell reports the end of a command in a terminal. The newline
// before it completes a line the last input has left open.
func markedLine(command, mark string) string {
	return "\n{ command eval " + shell.Quote(command) + "\n" +
		`__tandem=$?; printf '\033]133;D;%d;%s\007' "$__tandem" ` + mark + `; (exit "$__tandem")` + "\n}\n"
}

// findMark finds a mark and returns the exit code in it, and the offset after it.
func findMark(data []byte, mark string) (code, end int, ok bool) {
	at := bytes.Index(data, []byte(";"+mark+"\a"))
	if at < 0 {
		return 0, 0, false
	}
	code, err := strconv.Atoi(string(data[bytes.LastIndexByte(data[:at], ';')+1 : at]))
	return code, at + len(mark) + 2, err == nil
}

// A pipeRun is a command running in a pipeShell.
type pipeRun struct {
	shell *pipeShell
	logs  *logs.Logs
	entry supervise.Entry
	input string // path of the pipe
	start int64  // offset in the log before its output
	out   api.SessionExecOutput
}

// awaitEnd waits until the mark is printed, the command waits for input, the shell exits, or end has
// passed.
func (r *pipeRun) awaitEnd(ctx context.Context, end time.Time) error {
	p, out := r.shell, &r.out
	*out = api.SessionExecOutput{Method: "none"}
	since, gap, polls := p.searched, inputQuiet, 0
	var tail []byte
	for {
		wait := max(min(time.Until(end), gap), time.Millisecond)
		log, err := r.logs.Read(ctx, api.ProcessLogInput{Since: &since, Max: logs.MaxRead, WaitMS: int(wait.Milliseconds()), Exact: true}, r.entry.Source())
		if err != nil {
			return err
		}
		page, err := log.Bytes()
		if err != nil {
			return err
		}
		data := append(tail, page...)
		since = log.NextCursor
		out.NextCursor, out.Alive = since, !log.State.Ended()
		if code, n, ok := findMark(data, p.mark); ok {
			out.Method, out.ExitCode, out.NextCursor = "marker", &code, since-int64(len(data)-n)
			p.mark = ""
			return nil
		}
		tail = bytes.Clone(data[max(0, len(data)-maxMark):])
		p.searched = since - int64(len(tail))
		switch {
		case !out.Alive && since >= log.End:
			p.mark, out.Method = "", "exit"
			return nil
		case !time.Now().Before(end):
			out.TimedOut = out.Alive
			return nil
		case len(page) > 0:
			gap, polls = inputQuiet, 0
		case pty.ReadsPipe(r.input, r.entry.View.PID):
			if polls++; polls == minInputPolls {
				out.Waits = "input"
				return nil
			}
		default:
			// Check a silent command less and less often.
			gap, polls = min(2*gap, maxQuiet), 0
		}
	}
}

// pipeResult completes the result of a command with its output, and with the exit code of a shell
// that has exited.
func (s *Sessions) pipeResult(ctx context.Context, r pipeRun, limit int) (api.SessionExecOutput, error) {
	out := r.out
	if out.Method == "exit" {
		e, err := s.Control.EntryByID(ctx, r.entry.Rec.ID)
		if err != nil {
			return out, err
		}
		if out.ExitCode = e.View.ExitCode; e.View.ExitSignal != "" {
			code := 128 + int(unix.SignalNum(e.View.ExitSignal)) // as in shells
			out.ExitCode = &code
		}
	}
	out.Start = r.start
	since := max(r.start, out.NextCursor-int64(min(limit, logs.MaxRead)))
	out.Dropped = since - r.start
	if since == out.NextCursor { // a maximum of 0 would be the default, and output may have come since
		return out, nil
	}
	log, err := r.logs.Read(ctx, api.ProcessLogInput{Since: &since, Max: int(out.NextCursor - since)}, r.entry.Source())
	if err != nil {
		return out, err
	}
	var text []byte
	for line := range strings.Lines(log.Data) {
		whole, ended := strings.CutSuffix(line, "\n")
		if text = rendered.AppendText(text, []byte(whole)); ended {
			text = append(text, '\n')
		}
	}
	out.Output = string(text)
	return out, nil
}

package service

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"mvdan.cc/sh/v3/syntax"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/base/shell"
	"tandem/engine/control/supervise"
	"tandem/engine/record/logs"
	"tandem/engine/screen/rendered"
	"tandem/engine/session/prompt"
	"tandem/engine/system/pty"
)

// session.exec also works in a POSIX shell without a terminal, which reads its commands from a
// pipe: a process started with stdin. Such a shell shows no prompt and reports no exit codes. So
// the engine does not write the command alone, but a line that evaluates it and then prints a mark
// with the exit code. The line is written at once, so the command cannot read the rest of it as its
// input. eval keeps a syntax error in the command from affecting the mark.

const (
	// maxMark is more than the length of a mark.
	maxMark = 64
	// maxQuiet limits one wait for output. previousWait limits the wait for the mark of the
	// previous command: the caller may have seen the last output before the mark arrived.
	maxQuiet     = 20 * time.Second
	previousWait = time.Second
	// After inputQuiet without output, a command is checked for waiting for input. It must be found
	// waiting minInputPolls times in a row.
	inputQuiet    = 300 * time.Millisecond
	minInputPolls = 2
	// readerPoll replaces inputQuiet for a command started by an earlier call.
	readerPoll = 20 * time.Millisecond
	// maxBegun is the maximum length of an incomplete command that is recognised.
	maxBegun = 64 << 10
)

// PipeShells holds the state of the shells without a terminal.
type PipeShells struct {
	mu   sync.Mutex
	byID map[string]*pipeShell
}

// A pipeShell is a shell reading its commands from a pipe.
type pipeShell struct {
	turn     chan struct{} // capacity 1; held by the call running a command
	searched int64         // offset in the log; marks of running commands come later

	// The lock of PipeShells guards these.
	pid      int
	running  []pipeCommand // each runs in the one before it
	answered bool          // input was written after the newest of running
	begun    string        // an incomplete command that was written as input
}

// A pipeCommand is a command whose mark has not been found in the log yet.
type pipeCommand struct {
	mark  string
	shell int // pid of the shell that runs it
}

// find returns the shell that is the process with this id and pid. If only the pid differs, the
// shell is of an earlier run, and a new one is returned.
func (p *PipeShells) find(id string, pid int) *pipeShell {
	if p.byID == nil {
		p.byID = map[string]*pipeShell{}
	}
	s := p.byID[id]
	if s == nil {
		s = &pipeShell{turn: make(chan struct{}, 1)}
		p.byID[id] = s
	}
	if s.pid != pid {
		s.pid, s.running, s.begun = pid, nil, ""
	}
	return s
}

// noteInput records input that a client wrote to a process. reader is the pid of the process that
// waited for it, or 0.
func (p *PipeShells) noteInput(id string, pid, reader int, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.find(id, pid)
	s.answered = true
	begun := s.begun + text
	s.begun = ""
	if len(s.running) > 0 || reader != 0 && reader != pid || len(begun) > maxBegun {
		return // an answer to a program
	}
	if _, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(begun), ""); syntax.IsIncomplete(err) {
		s.begun = begun
	}
}

// pipeShellOf returns the state of a shell, and forgets shells that have exited.
func (s *Sessions) pipeShellOf(ctx context.Context, id string, pid int) *pipeShell {
	p := s.Pipes
	p.mu.Lock()
	defer p.mu.Unlock()
	for other := range p.byID {
		if e, err := s.Control.EntryByID(ctx, other); err != nil || e.State.Ended() {
			delete(p.byID, other)
		}
	}
	return p.find(id, pid)
}

// execInPipe runs a command line in a shell that reads from a pipe. If the shell runs a program
// that waits for input, the line is written to that program instead.
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
	p := s.pipeShellOf(ctx, e.Rec.ID, e.View.PID)
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-timed.Done():
		return out, errPipeBusy(name)
	}
	r := pipeRun{pipes: s.Pipes, shell: p, logs: s.Logs, entry: e, input: s.Store.InputPath(e.Rec.ID)}
	reader, err := r.awaitReader(ctx, end)
	if err != nil {
		return out, err
	}
	began, mark := time.Now(), api.NewID()
	text := in.Command + "\n"
	if r.isShell(reader) {
		text = markedLine(in.Command, mark)
	}
	r.start = logs.FileSize(r.entry.Source().Path)
	if err := writeInput(ctx, r.input, name, text, inputTimeout); err != nil {
		return out, err
	}
	p.searched = r.start
	if r.isShell(reader) {
		r.noteCommand(reader, mark)
	}
	if err := r.awaitEnd(ctx, end, inputQuiet); err != nil {
		return out, err
	}
	r.out.DurationMS = api.Milliseconds(time.Since(began))
	return s.pipeResult(ctx, r, in.MaxOutput)
}

func errPipeBusy(name string) error {
	return api.Errorf(api.CodeConflict, "run in %s: the previous command is still running", name).WithHint("wait for its end")
}

// markedLine returns the input that makes a shell run command and then print a mark with its exit
// code. The mark is the sequence with which a shell in a terminal reports the end of a command. The
// newline at the beginning completes a line that the previous input has left open.
func markedLine(command, mark string) string {
	return "\n{ command eval " + shell.Quote(command) + "\n" +
		`__tandem=$?; printf '\033]133;D;%d;%s\007' "$__tandem" ` + mark + `; (exit "$__tandem")` + "\n}\n"
}

// findMark finds a mark in data. It returns the exit code in the mark, and the offset after it.
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
	pipes  *PipeShells
	shell  *pipeShell
	logs   *logs.Logs
	entry  supervise.Entry
	input  string // path of the pipe
	start  int64  // offset in the log before its output
	reader int    // pid of the process that waits for input
	out    api.SessionExecOutput
}

// isShell reports whether a process reads command lines.
func (r *pipeRun) isShell(pid int) bool { return pid == r.entry.View.PID || prompt.IsShell(pid) }

// awaitReader returns the pid of the process that will read the command. It returns an error if no
// process waits for a command.
func (r *pipeRun) awaitReader(ctx context.Context, end time.Time) (int, error) {
	name := r.entry.Rec.Name
	for {
		before := r.state()
		if len(before.running) == 0 && before.begun != "" {
			return 0, api.Errorf(api.CodeConflict, "run in %s: an incomplete command was written to its shell", name).
				WithHint("write the rest: the end of a quote, bracket, here-document or loop")
		}
		if len(before.running) == 0 {
			return before.pid, nil
		}
		// While the previous command runs, it would read a new one as its input.
		if err := r.awaitEnd(ctx, time.Now().Add(min(previousWait, time.Until(end))), readerPoll); err != nil {
			return 0, err
		}
		newest := before.running[len(before.running)-1]
		switch {
		case !r.out.Alive:
			return before.pid, nil // writing to it gives the error
		case len(r.state().running) < len(before.running):
		case r.out.Waits == "":
			return 0, errPipeBusy(name)
		case r.reader != newest.shell:
			return r.reader, nil
		case !before.answered:
			return 0, api.Errorf(api.CodeConflict, "run in %s: the previous command is still running and waits for input", name).
				WithHint("write its input")
		default:
			// The shell has read all its input and waits for no program. So the command has ended,
			// and its mark was lost, for example in an open quote.
			r.forgetNewest()
		}
	}
}

// state returns a copy of the shell's state.
func (r *pipeRun) state() pipeShell {
	r.pipes.mu.Lock()
	defer r.pipes.mu.Unlock()
	return *r.shell
}

func (r *pipeRun) forgetNewest() {
	r.pipes.mu.Lock()
	defer r.pipes.mu.Unlock()
	r.shell.running = r.shell.running[:max(0, len(r.shell.running)-1)]
}

// noteCommand records that a shell with this pid runs a new command.
func (r *pipeRun) noteCommand(shell int, mark string) {
	r.pipes.mu.Lock()
	defer r.pipes.mu.Unlock()
	r.shell.running = append(slices.Clip(r.shell.running), pipeCommand{mark, shell})
	r.shell.answered = false
}

// findEnd searches for the marks of the running commands, the outermost first. If it finds one, it
// forgets that command and those that ran inside it.
func (r *pipeRun) findEnd(data []byte) (code, end int, ok bool) {
	r.pipes.mu.Lock()
	defer r.pipes.mu.Unlock()
	for i, c := range r.shell.running {
		if code, end, ok = findMark(data, c.mark); ok {
			r.shell.running = r.shell.running[:i]
			return code, end, true
		}
	}
	return 0, 0, false
}

// awaitEnd waits until a mark is printed, a program waits for input, the shell exits, or end has
// passed. After a silence of gap it checks whether a program waits for input.
func (r *pipeRun) awaitEnd(ctx context.Context, end time.Time, gap time.Duration) error {
	p, out := r.shell, &r.out
	*out = api.SessionExecOutput{Method: "none"}
	since, quiet, polls := p.searched, gap, 0
	var tail []byte
	for {
		wait := max(min(time.Until(end), quiet), time.Millisecond)
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
		if code, n, ok := r.findEnd(data); ok {
			out.NextCursor = since - int64(len(data)-n)
			out.Method, out.ExitCode, p.searched = "marker", &code, out.NextCursor
			return nil
		}
		tail = bytes.Clone(data[max(0, len(data)-maxMark):])
		p.searched = since - int64(len(tail))
		switch {
		case !out.Alive && since >= log.End:
			out.Method = "exit"
			return nil
		case !time.Now().Before(end):
			out.TimedOut = out.Alive
			return nil
		case len(page) > 0:
			quiet, polls = gap, 0
		default:
			if r.reader = pty.PipeReader(r.input, r.entry.View.PID); r.reader == 0 {
				// Check a silent command less and less often.
				quiet, polls = min(2*quiet, maxQuiet), 0
			} else if polls++; polls == minInputPolls {
				out.Waits = "input"
				return nil
			}
		}
	}
}

// pipeResult adds the output to the result of a command. If the shell has exited, it adds the
// shell's exit code too.
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

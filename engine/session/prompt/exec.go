package prompt

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/names"
)

const (
	defaultTimeout  = 30 * time.Second
	maxTimeout      = 300 * time.Second
	defaultOutput   = 64 << 10
	maxOutput       = 16 << 20
	minRawOutput    = 1 << 20          // bytes of the log to read for an output
	promptTimeout   = 10 * time.Second // until the first prompt of a shell
	promptSettles   = time.Second      // between the end of a command and the next prompt
	pasteSettles    = 150 * time.Millisecond
	enterSettles    = 500 * time.Millisecond // between a line and the mark of its command
	interruptGrace  = 2 * time.Second
	relayStalls     = 100 // ticks, for a shell on another machine, which may answer late
	unmarkedStalls  = 20  // ticks, for a shell that keeps reading without having marked the command
	outputPerResult = 4   // bytes read per byte returned, as styles and redrawing are removed
)

// errTimeout is the cause of the context when an exec times out.
var errTimeout = errors.New("timed out")

// An execution is one session.exec.
type execution struct {
	s       *Shell
	in      api.SessionExecInput
	name    string
	watch   *commandWatch
	changed chan struct{}
	start   int64
	typedAt time.Time
	began   time.Time
	lines   int      // number of lines typed
	still   int      // consecutive polls that found a program reading
	reader  []string // arguments of the program that reads; nil: the session's own shell at its prompt
	relayed bool     // the reader is a program like ssh that passes input on
	nested  bool     // the reader is a shell started by the session's own
	marker  bool     // typed lines mark the start and end of the command
	plain   bool     // the reader is not a shell and gets the text as it is
	before  string   // the cursor's row before typing, of a reader that is not a shell
	prompt  string   // the same of Python, whose line editor moves the cursor in the row
	waits   Need     // what the unfinished program waits for
	cleared bool     // an interrupt was sent before typing

	translated bool   // what was typed is one line of Python that runs the command
	refused    string // why fish did not run the line
}

// CheckExec checks the input of session.exec and sets its defaults. typed is set if the command is
// typed into a terminal, which would interpret control characters.
func CheckExec(in *api.SessionExecInput, typed bool) error {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return api.Errorf(api.CodeInvalid, "run in %s: the command is empty", names.Shown(in.ID))
	case typed && strings.ContainsAny(in.Command, "\x00\x03\x04\x1a\x1b"):
		return api.Errorf(api.CodeInvalid, "run in %s: the command has control characters", names.Shown(in.ID)).
			WithHint("use session.write to type keys")
	case in.TimeoutMS < 0 || in.MaxOutput < 0:
		return api.Errorf(api.CodeInvalid, "run in %s: timeout_ms and max_output cannot be negative", names.Shown(in.ID))
	}
	in.Command = strings.TrimLeft(strings.ReplaceAll(in.Command, "\r\n", "\n"), "\r\n")
	if in.TimeoutMS == 0 {
		in.TimeoutMS = int(defaultTimeout.Milliseconds())
	}
	in.TimeoutMS = min(in.TimeoutMS, int(maxTimeout.Milliseconds()))
	if in.MaxOutput == 0 {
		in.MaxOutput = defaultOutput
	}
	in.MaxOutput = min(in.MaxOutput, maxOutput)
	return nil
}

// run waits for the prompt, types the command, and waits until the command has ended or timed out.
func (e *execution) run(ctx context.Context) (api.SessionExecOutput, error) {
	if err := e.awaitPrompt(ctx); err != nil {
		return api.SessionExecOutput{}, err
	}
	if !e.plain {
		e.in.Command = strings.TrimRight(e.in.Command, "\r\n")
	}
	if e.s.o.Kind == Tandem && strings.Contains(e.in.Command, "\n") {
		return api.SessionExecOutput{}, api.Errorf(api.CodeInvalid, "run in %s: its shell accepts one line at a time", e.name)
	}
	if e.s.o.Kind == Python && !e.plain {
		prompt, err := e.s.cursorRow(ctx)
		if err != nil {
			return api.SessionExecOutput{}, err
		}
		e.prompt = prompt
	}
	text := e.encodeInput()
	// Set the watch before typing, because marks may arrive at once.
	e.watch = e.s.marks.watchNext()
	if !e.plain { // otherwise the input is no command of the shell
		e.s.marks.setWatched(e.in.Command)
	}
	defer e.s.marks.stopWatching()
	e.start, e.typedAt = e.s.t.Log().End(), time.Now()
	if err := e.s.t.TypeInto(ctx, text); err != nil {
		return api.SessionExecOutput{}, err
	}
	err := e.awaitEnd(ctx)
	switch {
	case err == nil:
		return e.buildResult(false)
	case errors.Is(context.Cause(ctx), errTimeout):
		return e.buildResult(true)
	}
	return api.SessionExecOutput{}, err
}

// awaitPrompt waits until a shell that has just started shows its prompt. It returns an error if
// another program is running.
func (e *execution) awaitPrompt(ctx context.Context) error {
	first, cancel := context.WithTimeout(ctx, promptTimeout)
	defer cancel()
	tick := time.NewTicker(pollGap)
	defer tick.Stop()
	for {
		e.s.noteLost(ctx)
		state := e.s.marks.snapshot()
		if e.s.t.Shown() < e.s.t.Log().End() {
			// The unread output may contain marks.
			state.phase = phaseBetween
		}
		var done bool
		var err error
		switch {
		case state.phase == phaseBetween:
		case state.phase == phaseReady && !(state.entered && e.childReads()):
			if done, err = e.checkReady(ctx, state); done && err == nil && state.promptsOnly {
				e.useMarker(true)
			}
		default:
			done, err = e.checkReader(ctx, state)
		}
		if done || err != nil {
			return err
		}
		select {
		case <-e.changed:
		case <-tick.C:
		case <-e.s.o.Over:
			return api.Errorf(api.CodeEnded, "run in %s: the session has exited", e.name)
		case <-first.Done():
			if ctx.Err() != nil && context.Cause(ctx) != errTimeout {
				return ctx.Err()
			}
			return e.busyError(state.line)
		}
	}
}

// checkReady decides whether a command can be typed at a marked prompt. done is false while that is
// unknown.
func (e *execution) checkReady(ctx context.Context, state promptState) (done bool, err error) {
	if state.entered {
		if !e.shellReads() {
			e.still = 0
			if time.Since(state.sentAt) > enterSettles {
				return true, e.busyError("")
			}
			return false, nil
		}
		if e.still++; e.still < 3 || state.isLineNew(time.Now()) {
			return false, nil
		}
		if e.s.asksAfterLine(state) {
			return e.checkQuestion(ctx, state)
		}
	}
	typed := state.touched || state.begunBefore
	if typed && !e.s.isSettled() {
		return false, nil // its echo may be late
	}
	// This includes the case that the shell has lost a ctrl+c.
	if typed || state.unsure && e.s.t.Log().End() > state.prompt {
		c, err := e.s.t.Cursor(ctx)
		if err != nil {
			return true, err
		}
		if c.X != state.cursor.X || c.Y != state.cursor.Y {
			return true, api.Errorf(api.CodeConflict, "run in %s: something is already typed at its prompt", e.name).
				WithHint("wait, or clear the line with session.write and the keys ctrl+c")
		}
	}
	// If zsh is interrupted while it draws its prompt, it handles the interrupt only at the next
	// input, and drops that input. A second interrupt makes it draw a new prompt.
	if state.entered && state.dropped && !e.cleared {
		e.cleared = true
		return false, e.s.t.TypeInto(ctx, []byte{3})
	}
	// A shell may enable bracketed paste a moment after it has drawn its prompt.
	late := !state.noStart && time.Since(state.drawn) < pasteSettles && !e.s.t.Modes().BracketedPaste
	return !late, nil
}

// checkQuestion prepares for answering a question that Python asks. Other shells get no answer,
// because a command line is not one.
func (e *execution) checkQuestion(ctx context.Context, state promptState) (done bool, err error) {
	if e.s.o.Kind != Python {
		return true, e.busyError(state.line)
	}
	if look := e.s.inspectReader(); look.Hidden {
		return true, e.secretError()
	}
	e.plain = true
	e.before, err = e.s.cursorRow(ctx)
	return true, err
}

func (e *execution) secretError() error {
	return api.Errorf(api.CodeConflict, "run in %s: it is waiting for a secret", e.name).
		WithHint("answer with session.write, or have the user type it")
}

func (e *execution) busyError(line string) error {
	what := "its shell is not at the prompt"
	if line != "" {
		what = "it is running " + names.Shown(line)
	}
	return api.Errorf(api.CodeConflict, "run in %s: %s", e.name, what).
		WithHint("wait for the prompt with session.wait, answer what is running with session.write, or interrupt it with the keys ctrl+c")
}

// useMarker gives a shell without marks a nonce, with which it marks this one command.
func (e *execution) useMarker(own bool) {
	word := make([]byte, 16)
	rand.Read(word)
	e.marker, e.nested = true, !own
	e.s.marks.allowOnce(hex.EncodeToString(word), own)
}

// awaitEnd waits until the command has exited and the next prompt is shown.
func (e *execution) awaitEnd(ctx context.Context) error {
	tick := time.NewTicker(pollGap)
	defer tick.Stop()
	e.still = 0
	var stuck stall
	ticked := false
	for {
		seen := e.s.marks.readWatch(e.watch)
		switch {
		case seen.ready, seen.ended && time.Since(seen.endedAt) > promptSettles:
			return nil
		case seen.ended && e.marker && e.shellReads():
			return nil
		case !seen.ended && e.mayNeedInput(seen):
			// A program reads the terminal.
			if e.still > 0 && e.s.noteLost(ctx) {
				continue
			}
			if need, err := e.pollNeed(ctx); err != nil || need != NeedNothing {
				e.waits = need
				return err
			}
		case !seen.begun && !seen.ended:
			stuck.noteTick(e.shellReads(), ticked)
			if stuck > 3 && seen.unmarked > 0 {
				e.s.marks.endUnmarked(e.watch)
				return nil
			}
			if stuck > 3 && e.s.noteLost(ctx) {
				continue
			}
			if stuck > 1 && e.s.o.Kind == Fish && e.reader == nil {
				if e.refused = e.fishError(); e.refused != "" {
					_, err := e.clearLine(ctx)
					return err
				}
			}
			// The line editor of some shells takes several lines, and shows no continuation prompt.
			if stuck > 3 && e.s.isSettled() && (seen.continued > 0 || e.marker) && !e.relayed || int(stuck) > e.stallLimit() {
				return e.clearIncomplete(ctx)
			}
		}
		ticked = false
		select {
		case <-e.changed:
		case <-tick.C:
			ticked = true
		case <-e.s.o.Over:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A stall counts for how many ticks a shell has kept reading. The echo of the input also triggers a
// check, but it must not count, or a slow echo would look like a stalled shell.
type stall int

func (n *stall) noteTick(reads, ticked bool) {
	switch {
	case !reads:
		*n = 0
	case ticked:
		*n++
	}
}

// shellReads reports whether the shell itself waits for input, and all of its output has been
// processed.
func (e *execution) shellReads() bool {
	look := e.s.inspectReader()
	return look.Reads && !look.Hidden && (look.Own || e.nested)
}

// Exec types a command line into the session's shell and waits until the command has ended. in must
// have passed CheckExec, and name is the session's name for errors. Exec returns an error if the
// shell is busy.
func (s *Shell) Exec(ctx context.Context, in api.SessionExecInput, name string) (api.SessionExecOutput, error) {
	none := api.SessionExecOutput{}
	if err := s.t.IsReady(ctx); err != nil {
		return none, err
	}
	select {
	// Two commands typed at the same prompt could not be told apart.
	case s.execs <- struct{}{}:
		defer func() { <-s.execs }()
	default:
		return none, api.Errorf(api.CodeConflict, "run in %s: another command line is running there", name).
			WithHint("wait for it to finish, or use another session")
	}
	e := &execution{s: s, in: in, name: name, began: time.Now()}
	timed, cancel := context.WithTimeoutCause(ctx, time.Duration(in.TimeoutMS)*time.Millisecond, errTimeout)
	defer cancel()
	var leave func()
	e.changed, leave = s.screen.join()
	defer leave()
	defer s.t.NoteUse()
	return e.run(timed)
}

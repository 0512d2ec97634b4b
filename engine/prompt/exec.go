package prompt

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/names"
)

const (
	shellTime       = 30 * time.Second
	shellTimeMost   = 300 * time.Second
	shellOutput     = 64 << 10
	shellOutputMost = 16 << 20
	shellRawLeast   = 1 << 20          // bytes of the log that are read for an output
	promptTimeout   = 10 * time.Second // for the first prompt of a shell
	promptSettles   = time.Second      // between the end of a command and the next prompt
	pasteSettles    = 150 * time.Millisecond
	enterSettles    = 500 * time.Millisecond // between a line and the mark of its command
	interruptGrace  = 2 * time.Second
	relayLooks      = 100 // at a shell on another machine, which answers when it can
	untoldLooks     = 20  // at a shell that reads on without having told of a command it was given
	outputPerResult = 4   // bytes read for each byte that is kept, as styles and redrawing go
)

// errTimeout ends the waits of an exec whose time is over.
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
	lines   int      // that were typed
	still   int      // looks in a row that saw somebody read
	typed   string   // in place of the command
	reader  []string // arguments of what reads, where it is not the session's own shell at its prompt
	relayed bool     // behind a program that passes on what is typed
	nested  bool     // in a shell that the session's own has started
	marker  bool     // the end is told by a line behind the command
	plain   bool     // what reads is no shell: it gets the text as it is
	before  string   // the cursor's row before that
	prompt  string   // the cursor's row before that, of Python, whose line editor moves the cursor in it
	waits   Need     // what the program waits for that has not ended
}

func CheckExec(in *api.SessionExecInput) error {
	switch {
	case strings.TrimSpace(in.Command) == "":
		return api.Errorf(api.CodeInvalid, "run in %s: the command is empty", names.Shown(in.ID))
	case strings.ContainsAny(in.Command, "\x00\x03\x04\x1a\x1b"):
		return api.Errorf(api.CodeInvalid, "run in %s: the command has control characters", names.Shown(in.ID)).
			WithHint("use session.write to type keys")
	case in.TimeoutMS < 0 || in.MaxOutput < 0:
		return api.Errorf(api.CodeInvalid, "run in %s: timeout_ms and max_output cannot be negative", names.Shown(in.ID))
	}
	in.Command = strings.TrimLeft(strings.ReplaceAll(in.Command, "\r\n", "\n"), "\r\n")
	if in.TimeoutMS == 0 {
		in.TimeoutMS = int(shellTime.Milliseconds())
	}
	in.TimeoutMS = min(in.TimeoutMS, int(shellTimeMost.Milliseconds()))
	if in.MaxOutput == 0 {
		in.MaxOutput = shellOutput
	}
	in.MaxOutput = min(in.MaxOutput, shellOutputMost)
	return nil
}

// run waits for the prompt, types, and waits for the end.
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
		prompt, err := e.s.row(ctx)
		if err != nil {
			return api.SessionExecOutput{}, err
		}
		e.prompt = prompt
	}
	text := e.text()
	e.watch = e.s.marks.follow()
	e.s.marks.means(e.typed, e.in.Command)
	defer e.s.marks.unfollow()
	e.start, e.typedAt = e.s.t.Log().End(), time.Now()
	if err := e.s.t.TypeInto(ctx, text); err != nil {
		return api.SessionExecOutput{}, err
	}
	err := e.awaitEnd(ctx)
	switch {
	case err == nil:
		return e.result(false)
	case errors.Is(context.Cause(ctx), errTimeout):
		return e.result(true)
	}
	return api.SessionExecOutput{}, err
}

// awaitPrompt waits until a shell that was just started is at its prompt, and
// refuses where something else runs.
func (e *execution) awaitPrompt(ctx context.Context) error {
	first, cancel := context.WithTimeout(ctx, promptTimeout)
	defer cancel()
	tick := time.NewTicker(lookGap)
	defer tick.Stop()
	for {
		e.s.noteLost(ctx)
		state := e.s.marks.state()
		if e.s.t.Shown() < e.s.t.Log().End() {
			state.phase = phaseBetween // there is more to know
		}
		var done bool
		var err error
		switch {
		case state.phase == phaseBetween:
		case state.phase == phaseReady && !(state.entered && e.othersRead()):
			if done, err = e.checkReady(ctx, state); done && err == nil && state.bare {
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
			return api.Errorf(api.CodeEnded, "run in %s: the session has ended", e.name)
		case <-first.Done():
			if ctx.Err() != nil && context.Cause(ctx) != errTimeout {
				return ctx.Err()
			}
			return e.errBusy(state.line)
		}
	}
}

// checkReady looks whether a prompt is free to be typed at.
func (e *execution) checkReady(ctx context.Context, state promptState) (done bool, err error) {
	if state.entered {
		if !e.reads() {
			e.still = 0
			if time.Since(state.lined) > enterSettles {
				return true, e.errBusy("")
			}
			return false, nil
		}
		if e.still++; e.still < 3 || state.lineIsNew(time.Now()) {
			return false, nil
		}
	}
	echoed := state.unsure && e.s.t.Log().End() > state.prompt
	if state.touched || echoed { // includes a ctrl+c that the shell lost
		c, err := e.s.t.Cursor(ctx)
		if err != nil {
			return true, err
		}
		if c.X != state.cursor.X || c.Y != state.cursor.Y {
			return true, api.Errorf(api.CodeConflict, "run in %s: something is already typed at its prompt", e.name).
				WithHint("wait, or clear the line with session.write and the keys ctrl+c")
		}
	}
	// A shell may ask for bracketed pastes a moment after it has drawn its prompt.
	late := !state.noStart && time.Since(state.drawn) < pasteSettles && !e.s.t.Modes().BracketedPaste
	return !late, nil
}

func (e *execution) errBusy(line string) error {
	what := "its shell is not at the prompt"
	if line != "" {
		what = "it is running " + names.Shown(line)
	}
	return api.Errorf(api.CodeConflict, "run in %s: %s", e.name, what).
		WithHint("wait for the prompt with session.wait, answer what is running with session.write, or interrupt it with the keys ctrl+c")
}

// useMarker lends a shell without marks a nonce for one command.
func (e *execution) useMarker(own bool) {
	word := make([]byte, 16)
	rand.Read(word)
	e.marker, e.nested = true, !own
	e.s.marks.lend(hex.EncodeToString(word), own)
}

// awaitEnd waits until the command has ended and the next prompt is there.
func (e *execution) awaitEnd(ctx context.Context) error {
	tick := time.NewTicker(lookGap)
	defer tick.Stop()
	e.still = 0
	var stuck stall
	ticked := false
	for {
		seen := e.s.marks.seen(e.watch)
		switch {
		case seen.ready, seen.ended && time.Since(seen.endedAt) > promptSettles:
			return nil
		case seen.ended && e.marker && e.reads():
			return nil
		case !seen.ended && e.mayAsk(seen):
			if e.still > 0 && e.s.noteLost(ctx) { // a program reads the terminal
				continue
			}
			if need, err := e.asks(ctx); err != nil || need != NeedNothing {
				e.waits = need
				return err
			}
		case !seen.begun && !seen.ended:
			stuck.look(e.reads(), ticked)
			if stuck > 3 && seen.unmarked > 0 {
				e.s.marks.endUnmarked(e.watch)
				return nil
			}
			if stuck > 3 && e.s.noteLost(ctx) {
				continue
			}
			// A shell that edits several lines at once has no prompt for more.
			if stuck > 3 && e.s.isSettled() && (seen.continued > 0 || e.marker) && !e.relayed || int(stuck) > e.lookLimit() {
				return e.giveUp(ctx)
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

// A stall is for how many ticks a shell has been reading on. What is echoed meanwhile is
// a reason to look, and none to give up earlier.
type stall int

func (n *stall) look(reads, ticked bool) {
	switch {
	case !reads:
		*n = 0
	case ticked:
		*n++
	}
}

// reads reports whether the shell itself waits for input and all that it printed
// is known.
func (e *execution) reads() bool {
	look := e.s.look()
	return look.Reads && !look.Hidden && (look.Own || e.nested)
}

// giveUp clears a command whose rest the shell still waits for.
func (e *execution) giveUp(ctx context.Context) error {
	if err := e.s.t.TypeInto(ctx, []byte{3}); err != nil {
		return err
	}
	quiet, cancel := context.WithTimeout(ctx, interruptGrace)
	defer cancel()
	cleared := e.marker
	for !cleared && quiet.Err() == nil {
		if cleared = e.s.marks.seen(e.watch).ready || e.s.marks.state().atPrompt(); cleared {
			break
		}
		select {
		case <-e.changed:
		case <-quiet.Done():
		case <-e.s.o.Over:
			return nil
		}
	}
	if !cleared && e.s.marks.seen(e.watch).continued == 0 {
		return nil // a shell without marks: the command may have run
	}
	if e.marker {
		return api.Errorf(api.CodeInvalid, "run in %s: the shell did not run the command: it is incomplete or has a syntax error", e.name).
			WithHint("session.screen shows what the shell printed; the line was cleared")
	}
	return api.Errorf(api.CodeInvalid, "run in %s: the command is incomplete: the shell waited for the rest", e.name).
		WithHint("close every quote, bracket, here-document and loop; the line was cleared")
}

// Exec runs a command line that was checked in the session's shell.
func (s *Shell) Exec(ctx context.Context, in api.SessionExecInput, name string) (api.SessionExecOutput, error) {
	none := api.SessionExecOutput{}
	if err := s.t.IsReady(ctx); err != nil {
		return none, err
	}
	select {
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

package terminal

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/screen/vt"
	"tandem/engine/session/prompt"
	"tandem/engine/system/pty"
	"tandem/keys"
)

// A typist is the source of input. actor is api.Person or an agent's name. from is the other
// machine, as user@host, if the input comes from one.
type typist struct{ actor, from string }

// typistOf returns the typist for a caller.
func typistOf(c api.Caller) typist { return typist{c.Actor(), c.Origin.From} }

// A keyboard orders the input of a session. It knows the clients that may type, the last typist,
// and the input not yet accepted by the PTY.
type keyboard struct {
	*input
	shell  *prompt.Shell
	locked atomic.Bool // the keyboard lock is on
	open   atomic.Bool // agents may type although the session runs outside their sandbox

	last        atomic.Pointer[typist] // the last typist; nil if none
	typedAt     atomic.Int64           // time of the last input; 0 if none
	interruptAt atomic.Int64           // time of the last interrupt of the running program; 0 if none
}

func newKeyboard(master *os.File, shell *prompt.Shell) *keyboard {
	return &keyboard{input: newInput(master), shell: shell}
}

// acceptsFrom reports whether a viewer's input is passed to the program.
func (k *keyboard) acceptsFrom(v *viewer) bool {
	return !v.options.ReadOnly && !(v.agent && k.locked.Load()) && !(v.outside && !k.open.Load())
}

// typeAs types p on behalf of a client, as the next message of v if v is not nil. It blocks while
// too much input is pending.
func (k *keyboard) typeAs(ctx context.Context, by typist, p []byte, v *viewer) error {
	if len(p) > 0 {
		k.recordInput(by, p)
	}
	return k.write(ctx, p, v)
}

// recordInput records p before it is typed. At an interrupt, the terminal discards unread input, so
// pending input is discarded too: an interrupt does not wait for a program that does not read.
func (k *keyboard) recordInput(by typist, p []byte) {
	if k.noteTyped(by, p) && bytes.ContainsAny(p[len(p)-1:], "\x03\x1c") {
		k.discardPending()
	}
}

// acceptTimeout is how long a terminal may take to accept input.
const acceptTimeout = 2 * time.Second

// typeThrough types p as typeAs does, and waits until the PTY has accepted it. What it has not
// accepted after acceptTimeout is dropped. It returns how many bytes of p were written.
func (k *keyboard) typeThrough(ctx context.Context, by typist, p []byte) (written int, err error) {
	k.recordInput(by, p)
	ctx, cancel := context.WithTimeout(ctx, acceptTimeout)
	defer cancel()
	return k.writeThrough(ctx, p)
}

// noteTyped records that a client types p, or has written p to the PTY itself. interrupts is set if
// the terminal turns part of p into a signal.
func (k *keyboard) noteTyped(by typist, p []byte) (interrupts bool) {
	if k.lastTypist() != by {
		// Store only a change, because it allocates.
		last := by
		k.last.Store(&last)
	}
	return k.noteInput(p)
}

// noteInput is like noteTyped, but leaves the last typist unchanged. It is for input already
// followed by another client's.
func (k *keyboard) noteInput(p []byte) (interrupts bool) {
	k.typedAt.Store(time.Now().UnixNano())
	interrupts = bytes.ContainsAny(p, "\x03\x1c") && k.master != nil && pty.SendsSignal(k.master, p)
	if interrupts {
		k.interruptAt.Store(time.Now().UnixNano())
	}
	k.shell.NoteInput(p, interrupts)
	return interrupts
}

// lastTypist returns the last typist; zero if none.
func (k *keyboard) lastTypist() typist {
	if by := k.last.Load(); by != nil {
		return *by
	}
	return typist{}
}

// timeOf returns a time given in nanoseconds since 1970, or the zero time for 0.
func timeOf(at *atomic.Int64) time.Time {
	if n := at.Load(); n != 0 {
		return time.Unix(0, n)
	}
	return time.Time{}
}

// LastTypist returns the actor that typed last, or "".
func (s *Session) LastTypist() string { return s.keyboard.lastTypist().actor }

// TypeInto types p for the caller. It returns an error if the user has meanwhile blocked agents
// from typing.
func (s *Session) TypeInto(ctx context.Context, p []byte) error {
	if err := s.admitTyping(ctx); err != nil {
		return err
	}
	return s.keyboard.typeAs(ctx, typistOf(api.CallerOf(ctx)), p, nil)
}

// TypeThrough types p as TypeInto does, and waits until the terminal has accepted it. If that takes
// too long or ctx ends, the rest of p is dropped. It returns how many bytes of p were written.
func (s *Session) TypeThrough(ctx context.Context, p []byte) (written int, err error) {
	if err := s.admitTyping(ctx); err != nil {
		return 0, err
	}
	return s.keyboard.typeThrough(ctx, typistOf(api.CallerOf(ctx)), p)
}

// firstPrompt is how long a new shell may take to show its first prompt.
const firstPrompt = time.Minute

// firstPastes is how long Insert waits for the first prompt, if a session has had no input yet.
const firstPastes = 2 * time.Second

// TypeAtPrompt types a command line for the user once the shell is at its prompt, and presses enter
// if enter is set. It blocks until then. It types nothing if that takes too long, if there was
// input before, or if the line would be changed or run in parts.
//
// It calls note just before it types or gives up. If the session is closed first, it does not, and
// the next engine types the line.
func (s *Session) TypeAtPrompt(line string, enter bool, note func(context.Context) error) {
	ctx, cancel := context.WithTimeout(s.ctx, firstPrompt)
	defer cancel()
	failed := s.IsReady(ctx)
	if failed == nil {
		failed = s.shell.AwaitPrompt(ctx)
	}
	if s.ctx.Err() != nil || note(s.ctx) != nil {
		return
	}
	if failed != nil || keys.InsertionText(line) != line || s.keyboard.lastTypist() != (typist{}) {
		return
	}
	typed, err := s.encodeInsertion(ctx, line, false)
	if err != nil {
		return
	}
	if enter {
		typed = append(typed, '\r')
	}
	// Fails only if the session has ended.
	_ = s.keyboard.typeAs(ctx, typist{actor: api.Person}, typed, nil)
}

// Insert types a command at the prompt for the caller, but does not run it: it leaves out control
// characters, and line breaks at the end. If the program has not asked for bracketed pastes, it may
// run each line. So a text of several lines is then rejected with api.ReasonRunsLines, unless lines
// is set. name is the session's name for errors.
func (s *Session) Insert(ctx context.Context, name, text string, lines bool) error {
	if err := s.admitTyping(ctx); err != nil {
		return err
	}
	typed, err := s.encodeInsertion(ctx, text, lines)
	if err != nil {
		return err
	}
	n, err := s.keyboard.typeThrough(ctx, typistOf(api.CallerOf(ctx)), typed)
	return cmp.Or(err, api.SessionWriteOutput{Written: n, Dropped: len(typed) - n}.ShortWriteError(name))
}

func (s *Session) encodeInsertion(ctx context.Context, text string, lines bool) ([]byte, error) {
	text = keys.InsertionText(text)
	runs := strings.Contains(text, "\n") && !lines
	modes, err := s.currentModes(ctx)
	if runs && err == nil && !modes.BracketedPaste && s.keyboard.lastTypist() == (typist{}) {
		// A new shell asks for bracketed pastes with its first prompt.
		soon, cancel := context.WithTimeout(ctx, firstPastes)
		_ = s.shell.AwaitPrompt(soon)
		cancel()
		modes, err = s.currentModes(ctx)
	}
	switch {
	case err != nil:
		return nil, err
	case modes.BracketedPaste:
	case runs:
		return nil, api.Errorf(api.CodeConflict, "insert %d lines: the program may run each line", strings.Count(text, "\n")+1).
			WithReason(api.ReasonRunsLines)
	default:
		text = strings.ReplaceAll(text, "\t", " ") // a tab would complete
	}
	return keys.EncodePaste(nil, text, modes.Modes), nil
}

// currentModes returns the modes as they are after all output so far.
func (s *Session) currentModes(ctx context.Context) (modes vt.Modes, err error) {
	err = s.onScreen(ctx, func(t Emulator) {
		s.screen.catchUp()
		modes = t.Modes()
	})
	return modes, err
}

// admitTyping returns an error if the caller may not type now. Otherwise it records that the caller
// types.
func (s *Session) admitTyping(ctx context.Context) error {
	caller := api.CallerOf(ctx)
	if caller.Agent() && s.keyboard.locked.Load() {
		return ErrLocked("type into", s.options.ID)
	}
	if s.viewers.noteTypingBy(caller.Name) {
		s.facts.touch()
	}
	return nil
}

// ErrLocked returns the error for an agent that may not type into a session, because the user has
// locked the keyboard. doing and name say what failed, for example "type into" and the session.
func ErrLocked(doing, name string) *api.Error {
	return api.Errorf(api.CodeLocked, "locked_by_user: %s %s: the user has taken the keyboard", doing, name).
		WithHint("you can still read it and wait for it; ask the user to let agents type again, or use another session")
}

// A loan says what a viewer may do with the PTY's master; see api.Master.
type loan struct {
	due   atomic.Bool // the viewer has asked for the master, and must get an answer
	held  atomic.Bool // the viewer has it, and no other client has typed since
	ended atomic.Bool // another client has typed, and the viewer must be told

	echoes atomic.Int32 // how many more frames may be echoes of keys written to the PTY

	announced bool // the viewer knows that it may ask; of the sending goroutine
}

// withdraw ends the loan, if there is one.
func (v *viewer) withdraw() {
	if v.loan.held.Swap(false) {
		v.loan.ended.Store(true)
		raiseFlag(v.dirty)
	}
}

// lend starts a loan to v. It does not, and returns false, if another client has typed after v.
func (set *viewerSet) lend(v *viewer) (ok bool) {
	set.mu.Lock()
	defer set.mu.Unlock()
	ok = set.typist.Load() == v && set.caller.Load() == nil
	v.loan.held.Store(ok)
	return ok
}

// withdrawAll ends the loans of all viewers except v. The set must be locked.
func (set *viewerSet) withdrawAll(v *viewer) {
	for _, w := range set.all {
		if w != v {
			w.withdraw()
		}
	}
}

// askMaster handles a viewer's request to borrow the PTY's master. It is answered when the terminal
// has accepted all earlier input.
func (a attachment) askMaster() {
	v := a.viewer
	a.session.keyboard.whenIdle(func() {
		v.loan.due.Store(true)
		raiseFlag(v.dirty)
	})
}

// sendMaster answers a viewer's request to borrow the PTY's master, and tells the viewer when the
// loan has ended.
func (a attachment) sendMaster() error {
	s, v := a.session, a.viewer
	if !v.options.Master {
		return nil
	}
	first, ended, due := !v.loan.announced, v.loan.ended.Swap(false), v.loan.due.Swap(false)
	v.loan.announced = true
	switch {
	case due && s.keyboard.isIdle() && s.viewers.lend(v):
		v.loan.echoes.Store(maxEchoes)
		return a.to.Send(api.Output{Master: &api.Master{Lent: true, File: s.options.Master}})
	case first, ended, due:
		return a.to.Send(api.Output{Master: &api.Master{Refused: due}})
	}
	return nil
}

package terminal

import (
	"bytes"
	"context"
	"os"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/prompt"
	"tandem/engine/pty"
)

// PersonActor is who a person's clients are, whatever they are called.
const PersonActor = "person"

// A typist is who types: PersonActor or an agent's name, and from which other machine,
// user@host.
type typist struct{ actor, from string }

// typistOf is who a caller types as.
func typistOf(c server.Caller) typist {
	if c.Agent() {
		return typist{c.Name, c.Origin.From}
	}
	return typist{PersonActor, c.Origin.From}
}

// A keyboard is what is typed into a session: who may, who did last, and what the
// PTY has not taken yet.
type keyboard struct {
	*input
	shell  *prompt.Shell
	locked atomic.Bool // a person has it
	open   atomic.Bool // agents may type though it runs outside their sandbox

	last        atomic.Pointer[typist] // who typed last; nil if nobody has
	interruptAt atomic.Int64           // when somebody has interrupted what runs last; 0 if nobody has
}

func newKeyboard(master *os.File, shell *prompt.Shell) *keyboard {
	return &keyboard{input: newInput(master), shell: shell}
}

// accepts reports whether what a viewer types reaches the program.
func (k *keyboard) accepts(v *viewer) bool {
	return !v.readOnly && !(v.agent && k.locked.Load()) && !(v.outside && !k.open.Load())
}

// typeAs types p for somebody. It blocks while too much waits for the program. done, if not
// nil, is called when the PTY has accepted p or it was discarded; it must not block.
func (k *keyboard) typeAs(ctx context.Context, by typist, p []byte, done func()) error {
	if len(p) > 0 {
		k.begin(by, p)
	}
	return k.write(ctx, p, done)
}

// begin records p before it is typed. An interrupt does not wait for a program that does not
// read: the terminal discards unread input at an interrupt, so what is pending is discarded too.
func (k *keyboard) begin(by typist, p []byte) {
	if k.noteTyped(by, p) && bytes.ContainsAny(p[len(p)-1:], "\x03\x1c") {
		k.discard()
	}
}

// typeThrough types p like typeAs and waits until the PTY has accepted it, like writeThrough.
func (k *keyboard) typeThrough(ctx context.Context, by typist, p []byte) (written int, err error) {
	k.begin(by, p)
	return k.writeThrough(ctx, p)
}

// noteTyped notes that somebody types p, or has written it to the PTY. It reports whether the
// terminal turns some of p into a signal.
func (k *keyboard) noteTyped(by typist, p []byte) (interrupts bool) {
	if k.typist() != by {
		last := by // so that only a change of it is allocated
		k.last.Store(&last)
	}
	interrupts = bytes.ContainsAny(p, "\x03\x1c") && k.master != nil && pty.SendsSignal(k.master, p)
	if interrupts {
		k.interruptAt.Store(time.Now().UnixNano())
	}
	k.shell.NoteInput(p, interrupts)
	return interrupts
}

// typist is who typed last; zero if nobody has.
func (k *keyboard) typist() typist {
	if by := k.last.Load(); by != nil {
		return *by
	}
	return typist{}
}

// interrupted is when somebody has interrupted what runs last; zero if nobody has.
func (k *keyboard) interrupted() time.Time {
	if at := k.interruptAt.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// TypedLast is who typed last; "" if nobody has.
func (s *Session) TypedLast() string { return s.keyboard.typist().actor }

// TypeInto types for a caller. A person may have taken the keyboard since the
// caller was let in.
func (s *Session) TypeInto(ctx context.Context, p []byte) error {
	if err := s.admitTyping(ctx); err != nil {
		return err
	}
	return s.keyboard.typeAs(ctx, typistOf(server.CallerOf(ctx)), p, nil)
}

// TypeThrough types p like TypeInto and waits until the terminal has accepted it. If ctx ends first,
// the rest of p is dropped. It returns how many bytes of p were written.
func (s *Session) TypeThrough(ctx context.Context, p []byte) (written int, err error) {
	if err := s.admitTyping(ctx); err != nil {
		return 0, err
	}
	return s.keyboard.typeThrough(ctx, typistOf(server.CallerOf(ctx)), p)
}

// admitTyping returns an error if the caller may not type now. Otherwise it records the caller's
// input.
func (s *Session) admitTyping(ctx context.Context) error {
	caller := server.CallerOf(ctx)
	if caller.Agent() && s.keyboard.locked.Load() {
		return ErrLocked("type into", s.options.ID)
	}
	if s.viewers.typedFrom(caller.Name) {
		s.facts.touch()
	}
	return nil
}

// ErrLocked refuses an agent while a person has the keyboard of a session.
func ErrLocked(doing, name string) *api.Error {
	return api.Errorf(api.CodeLocked, "locked_by_user: %s %s: the user has taken the keyboard", doing, name).
		WithHint("you can still read it and wait for it; ask the user to let agents type again, or use another session")
}

package terminal

import (
	"bytes"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/prompt"
	"tandem/engine/pty"
)

// PersonActor is who a person's clients are, whatever they are called.
const PersonActor = "person"

// actorOf is who a caller acts for.
func actorOf(c server.Caller) string {
	if c.Agent() {
		return c.Name
	}
	return PersonActor
}

// usage is who has used a session, and when, in nanoseconds since 1970.
type usage struct {
	asked     atomic.Int64           // when something was asked of it last
	interrupt atomic.Int64           // when somebody has interrupted what runs in it last; 0 if nobody has
	typist    atomic.Pointer[string] // who typed last; nil if nobody has
}

func (u *usage) note() { u.asked.Store(time.Now().UnixNano()) }

// noteInput notes what somebody types.
func (s *Session) noteInput(actor string, p []byte) {
	if before := s.used.typist.Load(); before == nil || *before != actor {
		s.used.typist.Store(&actor)
	}
	interrupts := bytes.ContainsAny(p, "\x03\x1c") && s.options.Master != nil && pty.SendsSignal(s.options.Master, p)
	if interrupts {
		s.used.interrupt.Store(time.Now().UnixNano())
	}
	s.shell.Typed(p, interrupts)
}

// spot is where the program is with its output. It runs on the screen goroutine.
func (s *Session) spot(offset int64) prompt.Spot {
	cols, rows := s.term.Size()
	return prompt.Spot{Offset: offset, Cursor: s.term.Cursor(), Cols: cols, Rows: rows}
}

// ran tells of a command that the shell has run.
func (s *Session) ran(c prompt.Command) {
	c.Session, c.Actor = s.options.ID, s.options.Actor
	if actor := s.TypedLast(); actor != "" {
		c.Actor = actor
	}
	c.Stopped = c.Stopped || s.stopped.Load()
	s.options.Ran(c)
}

// noteLast tells of the command that has ended the shell, when the program has
// ended and all its output is in the log. It runs on the screen goroutine.
func (s *Session) noteLast() {
	if s.options.Master != nil { // else it had ended before, and that was told
		s.catchUp()
		s.shell.Ended(s.spot(s.parsed.Load()), s.ended.ExitCode, s.ended.State == api.StateStopped)
	}
}

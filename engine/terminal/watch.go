package terminal

import (
	"bytes"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/vt"
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

// A watchSet is who wants to know that a session's screen has changed. Its zero
// value is empty.
type watchSet struct {
	n   atomic.Int32
	mu  sync.Mutex
	all map[chan struct{}]struct{}
}

// join gives a flag that is raised with each change until leave is called.
func (w *watchSet) join() (changed chan struct{}, leave func()) {
	changed = make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = make(map[chan struct{}]struct{})
	}
	w.all[changed] = struct{}{}
	w.n.Add(1)
	return changed, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, changed)
		w.n.Add(-1)
	}
}

func (w *watchSet) wake() {
	if w.n.Load() == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.all {
		raise(c)
	}
}

// usage is when a session was used, as nanoseconds since 1970.
type usage struct {
	output, input, asked atomic.Int64
	interrupt            atomic.Int64           // when somebody has interrupted what runs in it last; 0 if nobody has
	actor                atomic.Pointer[string] // who typed last
}

func (u *usage) printed() { u.output.Store(time.Now().UnixNano()) }
func (u *usage) typed()   { u.input.Store(time.Now().UnixNano()) }
func (u *usage) note()    { u.asked.Store(time.Now().UnixNano()) }
func (u *usage) last() time.Time {
	return time.Unix(0, max(u.output.Load(), u.input.Load(), u.asked.Load()))
}

// noteInput notes what somebody types.
func (s *Session) noteInput(actor string, p []byte) {
	s.used.typed()
	if before := s.used.actor.Load(); before == nil || *before != actor {
		s.used.actor.Store(&actor)
	}
	now := time.Now()
	s.marks.noteTyped(p, now)
	if bytes.ContainsAny(p, "\x03\x1c") && s.options.Master != nil && sendsSignal(s.options.Master, p) {
		s.used.interrupt.Store(now.UnixNano())
		s.marks.noteInterrupt(now)
	}
	s.lookWhenAnswered()
}

// noteMark takes what the shell tells. It runs on the screen goroutine, inside
// Write.
func (s *Session) noteMark(e vt.PromptEvent) {
	found := markFound{
		PromptEvent: e,
		at:          s.feeding - int64(e.Behind),
		cursor:      s.term.Cursor(),
		now:         time.Now(),
		typed:       s.typedLine,
	}
	before := s.marks.state().atPrompt()
	ended := s.marks.take(found)
	s.tellRan(ended)
	now := s.marks.state()
	if now.phase == shellRunning || now.phase == shellReady {
		s.mu.Lock()
		s.known.began = s.known.CWD
		s.mu.Unlock()
	}
	if before != now.atPrompt() && !e.Replay {
		s.pace.touch()
	}
}

// tellRan tells of a command that the shell has run; nil is none.
func (s *Session) tellRan(c *Command) {
	if c == nil {
		return
	}
	s.mu.Lock()
	c.CWD = s.known.began
	s.mu.Unlock()
	c.Session, c.Actor = s.options.ID, s.typist()
	c.Stopped = c.Stopped || s.stopped.Load()
	s.options.Ran(*c)
}

// noteLast tells of the command that has ended the shell, or has ended with it:
// no mark comes behind that. It runs on the screen goroutine when the program
// has ended and all its output is in the log.
func (s *Session) noteLast() {
	if s.options.Master == nil {
		return // it had ended before, and that was told
	}
	s.catchUp()
	exit, stopped := s.ended.ExitCode, s.ended.State == api.StateStopped
	if stopped {
		exit = nil // it is the shell's, whose answer to the signal it was
	}
	c := s.marks.last(markFound{PromptEvent: vt.PromptEvent{Mark: 'D'}, at: s.parsed.Load(), now: time.Now(), typed: s.typedLine}, exit)
	if c != nil {
		c.Stopped = c.Stopped || stopped
	}
	s.tellRan(c)
}

// typist is who typed last, or who has started the session.
func (s *Session) typist() string {
	if actor := s.used.actor.Load(); actor != nil {
		return *actor
	}
	return s.options.Actor
}

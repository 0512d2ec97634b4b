package agents

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/files"
	"tandem/engine/panics"
	"tandem/engine/proctree"
	"tandem/engine/prompt"
	"tandem/engine/pty"
	"tandem/engine/terminal"
	"tandem/persist/store"
)

const (
	// lookGap is the time from a change of the screen to the look at it, and so the
	// least time between two.
	lookGap = 100 * time.Millisecond
	// settleGap is how long after the last change one more look is due: an agent may
	// write its file just behind what it shows.
	settleGap = time.Second
	// findGap is the least time between two looks for an agent in a terminal whose
	// foreground is the same and was none.
	findGap = time.Second
)

// A Terminal is what is looked at: a session.
type Terminal interface {
	IsReady(ctx context.Context) error
	Rows(ctx context.Context) ([]string, error)
	Facts() terminal.Facts
	Master() *os.File
	Gone() <-chan struct{}
}

// Options say what a Watch is of.
type Options struct {
	Library *Library
	Child   int // the process that the terminal was made for
	BootID  string
	Home    string
	Confine func() error           // confines the calling thread as the session is; nil: it is not
	Before  *store.Agent           // what the engine before knew
	Changed func(now *store.Agent) // an agent has come or gone, or is at something else; it does not block
	// OnEnd has ended called when a process has ended, until stop is called; nil: nobody does.
	OnEnd func(who store.Identity, ended func()) (stop func())
	Log   *slog.Logger // of panics; nil: none
}

// A Watch knows which agent a session runs and what it is doing. It looks soon after
// the screen has changed, or the agent's process has ended, and else never.
type Watch struct {
	o        Options
	terminal Terminal
	due      atomic.Bool // a look is
	settling *time.Timer // the look behind the last change
	typed    atomic.Pointer[typing]

	mu       sync.Mutex // held during a look
	rule     Rule
	rules    int // number of the library's rules that rule is of
	known    *store.Agent
	filed    filed
	group    int       // in the foreground, when an agent was looked for last
	sought   time.Time // when that was
	vanished bool      // the question was not on the screen at the last look
	followed store.Identity
	unfollow func() // has the end of that process told no more; nil if it is not awaited
}

// Start makes the watch of a session, which looks as soon as that is ready.
func Start(o Options, t Terminal) *Watch {
	w := &Watch{o: o, terminal: t, known: o.Before}
	w.settling = time.AfterFunc(time.Hour, w.guarded(w.look))
	w.settling.Stop()
	w.Moved()
	return w
}

// tree is where the session's programs may read.
func (w *Watch) tree() *files.Tree { return &files.Tree{Confine: w.o.Confine} }

// Moved tells that the session shows something else, or that its program waits for
// something else. It does not block.
func (w *Watch) Moved() {
	if w != nil && w.terminal.Master() != nil && w.due.CompareAndSwap(false, true) {
		time.AfterFunc(lookGap, w.guarded(w.lookDue))
	}
}

// guarded keeps a mistake over what an agent shows or writes to this look.
func (w *Watch) guarded(look func()) func() {
	return panics.Logged(w.o.Log, "inspect a coding agent", look)
}

func (w *Watch) lookDue() {
	w.due.Store(false)
	w.settling.Reset(settleGap)
	w.look()
}

// look sees what the agent is doing now.
func (w *Watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.follow()
	if isGone(w.terminal) {
		return
	}
	ctx := context.Background() // what is asked answers when the session is closed
	if w.terminal.IsReady(ctx) != nil || isGone(w.terminal) {
		return
	}
	next, found := w.seek()
	if next == nil {
		w.tell(nil)
		return
	}
	if !found { // it was told of by a report, and what it looks like is unknown
		w.tell(next)
		return
	}
	rows, err := w.terminal.Rows(ctx)
	if err != nil {
		return
	}
	e, facts := Evidence{Rows: rows}, w.terminal.Facts()
	e.Title, e.Progress, e.Reads = facts.Title, facts.Progress, facts.Waiting != prompt.NeedNothing
	e.File = w.rule.readFile(w.tree(), &w.filed, w.o.Home, identity(next))
	next.Cost = cmp.Or(w.rule.spent(rows), next.Cost)
	words := w.rule.Observe(next.Words, e, time.Now())
	if has(next.Words, Screened) && !has(words, Screened) && !w.vanished {
		w.vanished = true // it may just be drawn anew
		w.Moved()
		return
	}
	w.vanished = false
	next.Words = words
	if e.File != nil && e.File.Conversation != "" {
		next.Conversation = e.File.Conversation
	} else if next.Conversation == "" && w.rule.open != nil {
		next.Conversation = openConversation(w.rule.open, pty.GroupMembers(w.group, w.o.Child))
	}
	w.tell(next)
}

// follow has the end of the agent's process looked at, which may change nothing else.
func (w *Watch) follow() {
	var who store.Identity
	if w.known != nil && !isGone(w.terminal) {
		who = identity(w.known)
	}
	if w.o.OnEnd == nil || who == w.followed {
		return
	}
	if w.unfollow != nil {
		w.unfollow()
	}
	w.followed, w.unfollow = who, nil
	if who.PID != 0 {
		w.unfollow = w.o.OnEnd(who, w.Moved)
	}
}

func isGone(t Terminal) bool {
	select {
	case <-t.Gone():
		return true
	default:
		return false
	}
}

func identity(a *store.Agent) store.Identity {
	if a.Process == nil {
		return store.Identity{}
	}
	return *a.Process
}

// seek gives a copy of what is known of the agent that runs now; nil if none does. found
// is whether it was recognised.
func (w *Watch) seek() (next *store.Agent, found bool) {
	rules, number := w.o.Library.Rules()
	group, err := pty.Foreground(w.terminal.Master())
	if err != nil {
		return clone(w.known), false
	}
	same := group == w.group && number == w.rules && time.Since(w.sought) < findGap
	recognised := w.known != nil && w.known.Process != nil
	switch {
	case same && !recognised:
		return clone(w.known), false
	case group == w.group && number == w.rules && recognised && w.rule.Name != "" && isAlive(identity(w.known)):
		return clone(w.known), true
	}
	w.group, w.rules, w.sought = group, number, time.Now()
	f, ok := find(rules, group, w.o.Child, w.o.BootID)
	switch {
	case ok && recognised && identity(w.known) == f.Who:
		w.rule = f.Rule
		next = clone(w.known)
		next.Name = f.Rule.Name
		return next, true
	case ok:
		w.rule = f.Rule
		return w.begun(f), true
	case recognised:
		return nil, false
	}
	return clone(w.known), false
}

// begun is a new agent. What was reported for it before it was recognised is its own.
func (w *Watch) begun(f Found) *store.Agent {
	next := &store.Agent{Name: f.Rule.Name, Process: &f.Who}
	next.CWD, _ = os.Readlink("/proc/" + strconv.Itoa(f.Who.PID) + "/cwd")
	if w.known != nil && w.known.Process == nil {
		next.Words, next.Conversation = w.known.Words, w.known.Conversation
	}
	return next
}

func isAlive(who store.Identity) bool {
	p, ok := proctree.Read(who.PID)
	return ok && p.StartTime == who.StartTime && !p.Zombie
}

func clone(a *store.Agent) *store.Agent {
	if a == nil {
		return nil
	}
	c := *a
	return &c
}

// tell makes next what is known, and announces it if it is something else.
func (w *Watch) tell(next *store.Agent) {
	if reflect.DeepEqual(next, w.known) {
		return
	}
	w.known = next
	w.o.Changed(next)
}

// agent is what is known of the agent; nil if there is none.
func (w *Watch) agent() *store.Agent {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.known
}

// takesLines reports whether the terminal hands on what is typed line by line.
func (w *Watch) takesLines() bool {
	master := w.terminal.Master()
	return master != nil && pty.InspectForeground(master, w.o.Child).Canonical
}

// Report takes what an agent, or a script for it, says of itself. The text is that of a
// question. An unknown state takes back what was reported, none leaves it.
func (w *Watch) Report(name string, state api.AgentState, text, conversation string) *store.Agent {
	w.look()
	w.mu.Lock()
	defer w.mu.Unlock()
	next := clone(w.known)
	if next == nil {
		next = &store.Agent{}
	}
	if name != "" && next.Process == nil {
		next.Name = name
	}
	if conversation != "" {
		next.Conversation = conversation
	}
	if state == "" {
		w.tell(next)
		return next
	}
	if Decide(next.Words).Source != Reported { // it says so anew, against what was seen since
		next.Words = hear(next.Words, store.AgentWord{Source: Reported}, false)
	}
	said := store.AgentWord{Source: Reported, State: string(state), Text: plain(text), At: time.Now()}
	next.Words = hear(next.Words, said, state != api.AgentUnknown)
	if len(next.Words) == 0 && next.Process == nil {
		next = nil
	}
	w.tell(next)
	return next
}

// Seen notes that the person has looked at what the agent has done, as it was since then.
func (w *Watch) Seen(since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil || !Decide(w.known.Words).Since.Equal(since) {
		return
	}
	next := clone(w.known)
	next.Seen = since
	w.tell(next)
}

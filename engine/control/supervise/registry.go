package supervise

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
	"tandem/engine/base/mailbox"
	"tandem/engine/base/secrets"
	"tandem/engine/base/shell"
	"tandem/engine/control/events"
	"tandem/engine/record/history"
	"tandem/persist/store"
)

// A registry holds all processes. It passes events to the actions in the table, and saves each
// change of a process before it announces it. The control goroutine owns it.
type registry struct {
	executor Executor
	observer Observer
	log      *slog.Logger
	table    table
	procs    processes
	hub      events.Hub // of the control goroutine
	box      *mailbox.Mailbox
	effects  *effects
	screens  screens
	environs environs
	closing  bool // StopAll is in progress: no start is accepted
	frozen   bool // the engine is exiting: later events are ignored
	ctx      context.Context

	history     func() *history.History // nil if no history is kept
	onAnnounced func(api.State)         // called with the state of each process announced
}

// insert adds a record to the table.
func (g *registry) insert(r store.Record, logPath string) *proc {
	r.Environ = g.environs.intern(r.Environ)
	p := &proc{rec: r, logPath: logPath}
	p.argv, p.command = redactCommand(r.Argv)
	p.updateShared()
	g.procs[r.ID] = p
	return p
}

// redactCommand replaces secrets in a command. It returns the command as arguments and as a command
// line.
func redactCommand(argv []string) (shown []string, line string) {
	if shown = secrets.RedactArgv(argv); shown == nil { // not known: a private session of an earlier engine
		shown = []string{}
	}
	return shown, shell.Quote(shown...)
}

// post sends an event about a process to the control goroutine.
func (g *registry) post(id string, e event) {
	g.box.Post(func() { g.handle(id, e) })
}

func (g *registry) handle(id string, e event) {
	if g.frozen {
		return
	}
	p := g.procs[id]
	if p == nil { // removed since the event was posted
		e.answer(outcome{err: errRemoved(id)})
		return
	}
	// The process may have changed its state since the event was sent. Only the present state
	// counts.
	act := g.table[p.state()][e.kind]
	if act == nil {
		g.log.Error("impossible event", "id", id, "state", p.state(), "event", e.kind)
		e.answer(outcome{err: api.Errorf(api.CodeInternal, "%s: event %v is impossible in state %s", p.rec.Name, e.kind, p.state())})
		return
	}
	act(p, e)
	p.updateShared()
	if invariants.Enabled {
		p.check()
	}
}

// setState changes the state of a process and saves it. The new state is announced once it is on
// disk.
func (g *registry) setState(p *proc, s api.State) {
	g.log.Info("state", "id", p.rec.ID, "name", p.rec.Name, "from", p.rec.State, "to", s)
	p.rec.State = string(s)
	g.saveChange(p)
}

func (g *registry) saveChange(p *proc) {
	p.rev++
	g.writeRecord(p)
}

// writeRecord saves a process as it is now. Once it is on disk, the process is announced, unless
// this state was announced before.
func (g *registry) writeRecord(p *proc) {
	if g.frozen {
		return
	}
	// The worker gets copies, because only the control goroutine may read p.
	rec, rev, durable, wantLines := p.rec, p.rev, p.mustBeDurable(), p.showsLines()
	g.effects.addJob(&p.work, &g.effects.writes, func() {
		err := g.executor.Save(rec, durable)
		var lines []string
		if wantLines {
			lines = g.observer.LastLines(rec)
		}
		g.box.Post(func() { g.announceSaved(p, rev, lines, err) })
	})
}

// announceSaved announces a state that is on disk now, unless a newer one is being saved.
func (g *registry) announceSaved(p *proc, rev int, lines []string, err error) {
	// The process may have been removed, and its id reused, meanwhile.
	if g.frozen || g.procs[p.rec.ID] != p {
		return
	}
	if err != nil {
		g.publishNotice(fmt.Sprintf("%s: %v", p.rec.Name, err))
	}
	if rev == p.rev && rev != p.announcedRev {
		p.lines = lines
		g.announce(p)
	}
	if p.state() == api.StateRunning && !p.notedUnconfined && !p.rec.Sandboxed && !p.rec.IsOneShot() {
		p.notedUnconfined = true
		rec := p.rec
		g.effects.addJob(&p.work, &g.effects.writes, func() { g.executor.NoteUnconfined(rec) })
	}
}

// announce publishes a process, and answers the clients waiting for its state.
func (g *registry) announce(p *proc) {
	p.view, p.announcedRev = describeProcess(p), p.rev
	p.updateShared()
	g.publishView(p)
	// Publish before answering: no client may learn of a state before those that watch events.
	state := p.state()
	p.answerWaiters(func(w waiter) bool { return w.until(state) }, outcome{process: p.currentView()})
	if state.Ended() && p.live != nil {
		p.live.Finish(p.currentView())
		g.screens.noteUse(p)
	}
	g.onAnnounced(state)
}

func (g *registry) publishView(p *proc) {
	view := p.currentView()
	g.hub.Publish(api.Event{Type: api.EventProcess, Process: &view}, p.rec.Transient)
}

func (g *registry) publishNotice(text string) {
	g.log.Warn("notice", "text", text)
	g.hub.Publish(api.Event{Type: api.EventNotice, Notice: text}, false)
}

// setStateSoon is like setState, but saves and announces the state only if it lasts for
// oneShotGrace.
func (g *registry) setStateSoon(p *proc, s api.State) {
	p.rec.State = string(s)
	p.rev++
	rev := p.rev
	time.AfterFunc(oneShotGrace, func() {
		g.box.Post(func() {
			// If the state has changed again, that state has been saved. The id may also belong to
			// another process by now.
			if p.rev == rev && g.procs[p.rec.ID] == p && !p.removing {
				g.writeRecord(p)
			}
		})
	})
}

// armTimer sets the timer of a process to fire after delay.
func (g *registry) armTimer(p *proc, delay time.Duration) {
	id := p.rec.ID
	var timer *time.Timer
	timer = time.AfterFunc(delay, func() {
		g.box.Post(func() {
			// The timer may have been stopped or replaced after it fired.
			if p.retryTimer == timer {
				g.handle(id, event{kind: evDue})
			}
		})
	})
	p.retryTimer = timer
}

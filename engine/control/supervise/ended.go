package supervise

import (
	"fmt"
	"slices"
	"time"

	"tandem/engine/base/invariants"
	"tandem/persist/store"
)

const (
	// maxEnded is how many records of ended processes are kept, separately for sessions and
	// one-shot commands. Older ones are removed.
	maxEnded = 200
	// endedSlack is by how many the count may exceed maxEnded. Thus records are removed in batches,
	// not one with every command.
	endedSlack = 20
)

const (
	// endedScreenTTL is how long the screen of an ended process stays in memory.
	endedScreenTTL = time.Minute
	// maxEndedScreens is how many screens of ended processes are kept while nobody watches them. A
	// dropped screen can be rebuilt from its log, but takes longer to show.
	maxEndedScreens = 32
)

// screens holds the sessions of ended processes that are still in memory. The control goroutine
// owns it.
type screens struct {
	post func(func()) // runs a function on the control goroutine
	open []*proc      // least recently used first
}

// noteUse keeps the session of an ended process open until it has not been used for endedScreenTTL,
// or too many others have been used since.
func (s *screens) noteUse(p *proc) {
	s.closeOldest(p)
	if p.idleTimer != nil {
		p.idleTimer.Reset(endedScreenTTL)
		return
	}
	p.idleTimer = time.AfterFunc(endedScreenTTL, func() {
		s.post(func() {
			switch {
			case p.live == nil || !p.state().Ended():
			// Somebody is reading the screen, so keep it.
			case p.live.Facts().Viewers > 0:
				p.idleTimer.Reset(endedScreenTTL)
			default:
				p.closeSession()
			}
		})
	})
}

// closeOldest notes that the session of used was used last. If there are more than maxEndedScreens,
// it closes the oldest unwatched ones.
func (s *screens) closeOldest(used *proc) {
	s.open = slices.DeleteFunc(s.open, func(p *proc) bool {
		return p == used || p.live == nil || !p.state().Ended()
	})
	s.open = append(s.open, used)
	kept := maxEndedScreens
	if invariants.Sometimes("few screens of ended sessions", 4) {
		kept = 1
	}
	for _, p := range s.open[:max(0, len(s.open)-kept)] {
		if p.live.Facts().Viewers == 0 {
			p.closeSession()
		}
	}
}

// closeSession closes the session, and keeps what it last reported about its screen.
func (p *proc) closeSession() {
	if p.idleTimer != nil {
		p.idleTimer.Stop()
	}
	if p.live != nil {
		p.lastFacts = p.live.Facts()
		p.live.Close()
		p.live = nil
	}
	p.updateShared()
}

// trimming removes the oldest ended processes.
type trimming struct {
	reg    *registry
	queued bool // a trim is queued
	busy   int  // kinds being trimmed
	again  bool // a trim was put off until they are
}

// trimSoon queues one trim, for all processes that end at this moment.
func (t *trimming) trimSoon() {
	if t.queued {
		return
	}
	t.queued = true
	t.reg.box.Post(func() {
		t.queued = false
		if !t.reg.frozen {
			t.trimEnded()
		}
	})
}

// trimEnded removes the oldest ended sessions and one-shot commands, until maxEnded of each are
// left. Sessions that the last crash or reboot interrupted do not count and stay. Other processes
// stay until a client removes them.
func (t *trimming) trimEnded() {
	if t.again = t.busy > 0; t.again {
		return
	}
	t.trimKind(func(p *proc) bool { return p.rec.Transient })
	t.trimKind(func(p *proc) bool { return p.rec.TTY && !p.rec.Transient })
}

func (t *trimming) trimKind(kind func(*proc) bool) {
	ended := t.reg.procs.selectOldestFirst(func(p *proc) bool { return kind(p) && p.state().Ended() && !p.removing })
	// All sessions that the last crash or reboot interrupted wait for the user to restore or
	// dismiss them. Sessions interrupted earlier count as ended.
	var last time.Time
	for _, p := range ended {
		if p.isInterrupted() && p.rec.Interrupted.At.After(last) {
			last = p.rec.Interrupted.At
		}
	}
	ended = slices.DeleteFunc(ended, func(p *proc) bool { return p.isInterrupted() && p.rec.Interrupted.At.Equal(last) })
	if len(ended) <= maxEnded+endedSlack {
		return
	}
	var oldest []Entry
	for _, p := range ended[:len(ended)-maxEnded] {
		oldest = append(oldest, p.makeEntry())
	}
	t.busy++
	t.reg.effects.runBlocking(func() {
		defer t.reg.box.Post(func() {
			if t.busy--; t.busy == 0 && t.again {
				t.trimSoon()
			}
		})
		t.removeFinished(oldest)
	})
}

// removeFinished removes ended processes, and keeps their output. It spares those that left something
// running, because their records are needed to find and stop it. It must not be called on the control
// goroutine.
func (t *trimming) removeFinished(oldest []Entry) {
	records := make([]store.Record, len(oldest))
	for i, e := range oldest {
		records[i] = e.Rec
	}
	alive, err := t.reg.executor.HaveRemains(records)
	if err != nil {
		t.reg.log.Warn("find what ended processes left running", "error", err)
		return
	}
	oldest = slices.DeleteFunc(oldest, func(e Entry) bool { return alive[e.Rec.ID] })
	drop := t.reg.executor.Keep(oldest)
	if drop == nil {
		return
	}
	t.reg.box.Post(func() {
		var stay []string
		lost := 0
		for _, e := range oldest {
			id := e.Rec.ID
			p := t.reg.procs[id]
			if p == nil || !p.state().Ended() || p.runs != e.Runs || t.reg.frozen {
				stay = append(stay, id)
				continue
			}
			if p.isInterrupted() {
				lost++
			}
			t.reg.handle(id, event{kind: evRemove})
		}
		if len(stay) > 0 && !t.reg.frozen { // the next start drops them
			t.reg.effects.runBlocking(func() { drop(stay) })
		}
		if lost > 0 {
			t.reg.publishNotice(fmt.Sprintf("%d sessions left by an earlier crash or reboot were removed: only the last %d are kept", lost, maxEnded))
		}
	})
}

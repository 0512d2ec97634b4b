package ui

import (
	"testing"

	"tandem/engine/api"
)

// delayStarts makes the engine hold the answers to further starts.
func delayStarts(d *driver) *lateEngine {
	e := &lateEngine{fakeEngine: d.engine, asked: make(chan struct{}, 1), answer: make(chan struct{}), op: api.SessionStart.Name}
	d.m.link.SetEngine(e)
	return e
}

func TestStartingSessionCanBeCancelled(t *testing.T) {
	d := threePanes(t)
	late := delayStarts(d)
	d.pressKeys("ctrl+b", "%")
	<-late.asked
	d.pressKeys("ctrl+b", "x")
	d.waitText("It is still being started")
	d.pressKeys("y")
	d.waitShape("(a|(b/c))")
	close(late.answer)
	d.waitUntil("the session that was called off has ended", func() bool {
		p, ok := d.findProcess("bash-4")
		return ok && p.State == api.StateStopped
	})
	d.waitShape("(a|(b/c))")
	d.waitNoText("bash-4")
}

func TestQueuedStartIsNotSentOnceCancelled(t *testing.T) {
	d := threePanes(t)
	late := delayStarts(d)
	d.pressKeys("ctrl+b", "%", "ctrl+b", "\"")
	<-late.asked
	d.pressKeys("ctrl+b", "x", "y")
	d.waitUntil("it is called off", func() bool { return d.countStarting() == 1 })
	close(late.answer)
	d.waitShape("(a|(b/(c|bash-4)))")
	d.waitStarted(4)
}

func TestCancelledStartDoesNotBlockLaterOnes(t *testing.T) {
	d := threePanes(t)
	late := delayStarts(d)
	d.pressKeys("ctrl+b", "%")
	<-late.asked
	d.pressKeys("ctrl+b", "x", "y")
	d.waitUntil("it is called off", func() bool { return d.countStarting() == 0 })
	d.m.link.SetEngine(d.engine)
	d.pressKeys("ctrl+b", "%")
	d.waitShape("(a|(b/(c|bash-4)))")
	close(late.answer)
	d.waitUntil("the session that was called off has ended", func() bool {
		p, ok := d.findProcess("bash-5")
		return ok && p.State == api.StateStopped
	})
	d.waitShape("(a|(b/(c|bash-4)))")
}

func TestCancellingAfterStartFinishedEndsSession(t *testing.T) {
	d := threePanes(t)
	late := delayStarts(d)
	d.pressKeys("ctrl+b", "%")
	<-late.asked
	d.pressKeys("ctrl+b", "x")
	close(late.answer)
	d.waitStarted(4)
	d.pressKeys("y")
	d.waitShape("(a|(b/c))")
}

func TestCancelledStartIsEndedBeforeItRuns(t *testing.T) {
	d := threePanes(t)
	late := delayStarts(d)
	d.pressKeys("ctrl+b", "%")
	<-late.asked
	id := late.id
	d.engine.announceStarting("slow", id)
	d.pressKeys("ctrl+b", "x", "y")
	d.waitUntil("it has ended", func() bool {
		p, ok := d.m.news.Process(id)
		return ok && p.State == api.StateStopped
	})
	d.waitShape("(a|(b/c))")
}

// Another client starts a session at the same time.
func TestCancellingStartKeepsSessionsOfOtherClients(t *testing.T) {
	d := threePanes(t)
	late := delayStarts(d)
	d.pressKeys("ctrl+b", "%")
	<-late.asked
	theirs := d.engine.announceStarting("theirs", "").process.ID
	d.waitUntil("their session is known", func() bool {
		_, ok := d.m.news.Process(theirs)
		return ok
	})
	d.pressKeys("ctrl+b", "x", "y")
	d.waitUntil("it is called off", func() bool { return d.countStarting() == 0 })
	close(late.answer)
	d.waitUntil("the session that was called off has ended", func() bool {
		p, ok := d.findProcess("bash-5")
		return ok && p.State == api.StateStopped
	})
	if p, _ := d.m.news.Process(theirs); p.State != api.StateStarting {
		t.Errorf("somebody else's session is %s", p.State)
	}
}

// announceStarting announces a starting session; an empty id keeps the generated one.
func (e *fakeEngine) announceStarting(name, id string) *fakeSession {
	s := e.addSession(name)
	e.mu.Lock()
	defer e.mu.Unlock()
	s.process.State = api.StateStarting
	if id != "" {
		s.process.ID = id
	}
	p := s.process
	e.announce(api.Event{Type: api.EventProcess, Process: &p})
	return s
}

// findProcess returns the known state of the session called name.
func (d *driver) findProcess(name string) (api.Process, bool) {
	for _, p := range d.m.news.Processes {
		if p.Name == name {
			return p, true
		}
	}
	return api.Process{}, false
}

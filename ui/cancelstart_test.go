package ui

import (
	"testing"

	"tandem/engine/api"
)

// lately has the next starts of a dashboard wait to be answered.
func lately(d *driver) *lateEngine {
	e := &lateEngine{fakeEngine: d.engine, asked: make(chan struct{}, 1), answer: make(chan struct{}), op: api.SessionStart.Name}
	d.m.link.Set(e)
	return e
}

func TestASessionThatIsStillBeingStartedIsCalledOff(t *testing.T) {
	d := threePanes(t)
	late := lately(d)
	d.press("ctrl+b", "%")
	<-late.asked
	d.press("ctrl+b", "x")
	d.shows("It is still being started")
	d.press("y")
	d.hasShape("(a|(b/c))")
	close(late.answer)
	d.until("the session that was called off has ended", func() bool {
		p, ok := d.process("bash-4")
		return ok && p.State == api.StateStopped
	})
	d.hasShape("(a|(b/c))")
	d.lacks("bash-4")
}

func TestAStartThatWaitsForAnotherIsNeverMadeWhenItIsCalledOff(t *testing.T) {
	d := threePanes(t)
	late := lately(d)
	d.press("ctrl+b", "%", "ctrl+b", "\"")
	<-late.asked
	d.press("ctrl+b", "x", "y")
	d.until("it is called off", func() bool { return len(d.m.sessions.starts.starter.Waiting()) == 1 })
	close(late.answer)
	d.hasShape("(a|(b/(c|bash-4)))")
	d.hasStarted(4)
}

func TestAStartThatHangsHoldsUpNoneBehindItOnceItIsCalledOff(t *testing.T) {
	d := threePanes(t)
	late := lately(d)
	d.press("ctrl+b", "%")
	<-late.asked
	d.press("ctrl+b", "x", "y")
	d.until("it is called off", func() bool { return len(d.m.sessions.starts.starter.Waiting()) == 0 })
	d.m.link.Set(d.engine)
	d.press("ctrl+b", "%")
	d.hasShape("(a|(b/(c|bash-4)))")
	close(late.answer)
	d.until("the session that was called off has ended", func() bool {
		p, ok := d.process("bash-5")
		return ok && p.State == api.StateStopped
	})
	d.hasShape("(a|(b/(c|bash-4)))")
}

func TestAnAnswerThatComesBeforeTheQuestionIsAnsweredEndsTheSession(t *testing.T) {
	d := threePanes(t)
	late := lately(d)
	d.press("ctrl+b", "%")
	<-late.asked
	d.press("ctrl+b", "x")
	close(late.answer)
	d.hasStarted(4)
	d.press("y")
	d.hasShape("(a|(b/c))")
}

func TestWhatIsCalledOffIsEndedBeforeItRuns(t *testing.T) {
	d := threePanes(t)
	late := lately(d)
	d.press("ctrl+b", "%")
	<-late.asked
	id := d.m.sessions.starts.starter.Waiting()[0]
	d.engine.starting("slow", id)
	d.press("ctrl+b", "x", "y")
	d.until("it has ended", func() bool {
		p, ok := d.m.news.Process(id)
		return ok && p.State == api.StateStopped
	})
	d.hasShape("(a|(b/c))")
}

// Somebody else starts a session at the same time.
func TestCallingOffAStartEndsNobodyElsesSession(t *testing.T) {
	d := threePanes(t)
	late := lately(d)
	d.press("ctrl+b", "%")
	<-late.asked
	theirs := d.engine.starting("theirs", "").process.ID
	d.until("their session is known", func() bool {
		_, ok := d.m.news.Process(theirs)
		return ok
	})
	d.press("ctrl+b", "x", "y")
	d.until("it is called off", func() bool { return len(d.m.sessions.starts.starter.Waiting()) == 0 })
	close(late.answer)
	d.until("the session that was called off has ended", func() bool {
		p, ok := d.process("bash-5")
		return ok && p.State == api.StateStopped
	})
	if p, _ := d.m.news.Process(theirs); p.State != api.StateStarting {
		t.Errorf("somebody else's session is %s", p.State)
	}
}

// starting has the engine tell of a session that is being started; id "" is any.
func (e *fakeEngine) starting(name, id string) *fakeSession {
	s := e.add(name)
	e.mu.Lock()
	defer e.mu.Unlock()
	s.process.State = api.StateStarting
	if id != "" {
		s.process.ID = id
	}
	p := s.process
	e.tell(api.Event{Type: api.EventProcess, Process: &p})
	return s
}

// process is what is known of the session of that name.
func (d *driver) process(name string) (api.Process, bool) {
	for _, p := range d.m.news.Processes {
		if p.Name == name {
			return p, true
		}
	}
	return api.Process{}, false
}

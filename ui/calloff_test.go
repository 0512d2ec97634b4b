package ui

import (
	"testing"

	"tandem/engine/api"
)

// lately has the next starts of a dashboard wait to be answered.
func lately(d *driver) *lateEngine {
	e := &lateEngine{d.engine, make(chan struct{}, 1), make(chan struct{})}
	d.m.link.set(e)
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
		p, ok := d.m.process("000000000004")
		return ok && p.State == api.StateStopped && len(d.m.calledOff) == 0
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
	d.until("it is called off", func() bool { return len(d.m.starts) == 1 })
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
	d.until("it is called off", func() bool { return len(d.m.starts) == 0 })
	d.m.link.set(d.engine)
	d.press("ctrl+b", "%")
	d.hasShape("(a|(b/(c|bash-4)))")
	close(late.answer)
	d.until("the session that was called off has ended", func() bool {
		p, ok := d.m.process("000000000005")
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
	s := d.engine.add("slow")
	s.mu.Lock()
	s.process.State = api.StateStarting
	p := s.process
	d.engine.tell(api.Event{Type: api.EventProcess, Process: &p})
	s.mu.Unlock()
	d.press("ctrl+b", "x", "y")
	d.until("it has ended", func() bool {
		p, ok := d.m.process(s.process.ID)
		return ok && p.State == api.StateStopped
	})
	d.hasShape("(a|(b/c))")
}

package sessions

import (
	"context"
	"testing"

	"tandem/engine/api"
)

// A lateStart is a start that the engine answers only when the test closes answer.
type lateStart struct {
	asked  chan struct{} // capacity 1
	answer chan struct{}
	id     string // of the session
}

// delayStarts holds the answers to further starts.
func (e *fakeEngine) delayStarts() *lateStart {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.late = &lateStart{asked: make(chan struct{}, 1), answer: make(chan struct{})}
	return e.late
}

// answerStarts answers further starts at once.
func (e *fakeEngine) answerStarts() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.late = nil
}

// holdStart waits until a start may be answered.
func (e *fakeEngine) holdStart(ctx context.Context, id string) error {
	e.mu.Lock()
	late := e.late
	e.mu.Unlock()
	if late == nil {
		return nil
	}
	late.id = id
	select {
	case late.asked <- struct{}{}:
	default:
	}
	select {
	case <-late.answer:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// announceStarting announces a session that another client starts.
func (e *fakeEngine) announceStarting(id, name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := newSession(id, name)
	p.State = api.StateStarting
	e.setProcess(p)
}

// countStarting returns the number of panes whose session is still being started.
func (d *driver) countStarting() (n int) {
	for _, l := range d.view.Tabs.Leaves() {
		if d.view.Panes.isStarting(l.ID) {
			n++
		}
	}
	return n
}

// waitStopped waits until the session called name has been stopped.
func (d *driver) waitStopped(name string) {
	d.Wait("the cancelled session is stopped", func() bool {
		for _, p := range d.view.env.News().Processes {
			if p.Name == name {
				return p.State == api.StateStopped
			}
		}
		return false
	})
}

func TestStartingSessionCanBeCancelled(t *testing.T) {
	d := threePanes(t)
	late := d.engine.delayStarts()
	d.Press("ctrl+b", "%")
	<-late.asked
	d.Press("ctrl+b", "x")
	d.WaitText("It is still being started")
	d.Press("y")
	d.waitShape("(a|(b/c))")
	close(late.answer)
	d.waitStopped("new-1")
	d.waitShape("(a|(b/c))")
	d.WaitNoText("new-1")
}

func TestQueuedStartIsNotSentOnceCancelled(t *testing.T) {
	d := threePanes(t)
	late := d.engine.delayStarts()
	d.Press("ctrl+b", "%", "ctrl+b", "\"")
	<-late.asked
	d.Press("ctrl+b", "x", "y")
	d.Wait("it is called off", func() bool { return d.countStarting() == 1 })
	close(late.answer)
	d.waitShape("(a|(b/(c|new-1)))")
	d.Wait("it has started", func() bool { return d.countStarting() == 0 })
}

func TestCancelledStartDoesNotBlockLaterOnes(t *testing.T) {
	d := threePanes(t)
	late := d.engine.delayStarts()
	d.Press("ctrl+b", "%")
	<-late.asked
	d.Press("ctrl+b", "x", "y")
	d.Wait("it is called off", func() bool { return d.countStarting() == 0 })
	d.engine.answerStarts()
	d.Press("ctrl+b", "%")
	d.waitShape("(a|(b/(c|new-1)))")
	close(late.answer)
	d.waitStopped("new-2")
	d.waitShape("(a|(b/(c|new-1)))")
}

func TestCancelledStartIsEndedBeforeItRuns(t *testing.T) {
	d := threePanes(t)
	late := d.engine.delayStarts()
	d.Press("ctrl+b", "%")
	<-late.asked
	id := late.id
	d.engine.announceStarting(id, "slow")
	d.Press("ctrl+b", "x", "y")
	d.Wait("it has ended", func() bool {
		p, ok := d.view.env.News().Process(id)
		return ok && p.State == api.StateStopped
	})
	d.waitShape("(a|(b/c))")
}

// Another client starts a session at the same time.
func TestCancellingStartKeepsSessionsOfOtherClients(t *testing.T) {
	d := threePanes(t)
	late := d.engine.delayStarts()
	d.Press("ctrl+b", "%")
	<-late.asked
	d.engine.announceStarting("their-id", "theirs")
	d.Wait("their session is known", func() bool {
		_, ok := d.view.env.News().Process("their-id")
		return ok
	})
	d.Press("ctrl+b", "x", "y")
	d.Wait("it is called off", func() bool { return d.countStarting() == 0 })
	close(late.answer)
	d.waitStopped("new-1")
	if p, _ := d.view.env.News().Process("their-id"); p.State != api.StateStarting {
		t.Errorf("somebody else's session is %s", p.State)
	}
}

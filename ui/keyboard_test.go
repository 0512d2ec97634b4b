package ui

import (
	"testing"

	"tandem/engine/api"
)

func TestTheKeyboardIsTakenFromAgentsAndGivenBack(t *testing.T) {
	e := newFakeEngine()
	s := e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	s.typedBy("agent:helper/2.1")
	d.shows("agent helper typed last")
	d.press("ctrl+b", "u")
	d.shows("nothing needs you")
	d.press("ctrl+b", "i")
	if text := d.m.notices.toast.text; text != "" {
		t.Errorf("%q hides the note", text)
	}
	d.shows("agent helper typed last · agents can't type here now")
	d.press("ctrl+b", "i")
	d.lacks("agents can't type here now")
	d.press("ctrl+b", "I")
	d.shows("agent helper typed last · open to sandboxed agents")
	d.press("ctrl+b", "I")
	d.lacks("open to sandboxed agents")
}

func TestAKeyTypedIntoTheListSwitchesNothingSilently(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	d.press("ctrl+b", "s", "i")
	d.shows("Agents can't type into first; i lets them again")
	d.until("it is known", func() bool { return d.m.news.Processes[0].Terminal.Keyboard != "" })
	d.press("i")
	d.shows("Agents can type into first; i stops them again")
	d.press("I")
	d.shows("Let sandboxed agents type into first?")
	d.press("n")
	d.lacks("Let sandboxed")
	d.press("I", "y")
	d.shows("Sandboxed agents can type into first; I stops them again")
}

// typedBy announces who typed last.
func (s *fakeSession) typedBy(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := *s.process.Terminal
	t.Typist = name
	s.process.Terminal = &t
	p := s.process
	s.engine.tell(api.Event{Type: api.EventProcess, Process: &p})
}

package ui

import (
	"testing"

	"tandem/engine/api"
)

func TestKeyboardLockBlocksAndAllowsAgents(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	s.announceTyping("agent:helper/2.1")
	d.waitText("agent helper typed last")
	d.pressKeys("ctrl+b", "u")
	d.waitText("nothing needs you")
	d.pressKeys("ctrl+b", "i")
	d.waitText("agent helper typed last · agents can't type here now")
	if text := d.m.notices.toast.text; text != "" {
		t.Errorf("%q hides the note", text)
	}
	d.pressKeys("ctrl+b", "i")
	d.waitNoText("agents can't type here now")
	d.pressKeys("ctrl+b", "I")
	d.waitText("agent helper typed last · open to sandboxed agents")
	d.pressKeys("ctrl+b", "I")
	d.waitNoText("open to sandboxed agents")
}

func TestKeysTypedIntoListChangeNothingSilently(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	d.pressKeys("ctrl+b", "s", "i")
	d.waitText("Agents can't type into first; i lets them again")
	d.waitUntil("it is known", func() bool { return d.m.news.Processes[0].Terminal.Keyboard != "" })
	d.pressKeys("i")
	d.waitText("Agents can type into first; i stops them again")
	d.pressKeys("I")
	d.waitText("Let sandboxed agents type into first?")
	d.pressKeys("n")
	d.waitNoText("Let sandboxed")
	d.pressKeys("I", "y")
	d.waitText("Sandboxed agents can type into first; I stops them again")
}

// announceTyping announces name as the last client that typed.
func (s *fakeSession) announceTyping(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := *s.process.Terminal
	t.Typist = name
	s.process.Terminal = &t
	p := s.process
	s.engine.announce(api.Event{Type: api.EventProcess, Process: &p})
}

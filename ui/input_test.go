package ui

import (
	"testing"

	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/tests/seed"
	"tandem/ui/screen"
)

// A hung engine must not block the user: esc cancels the pending request, and the keys
// typed for it reach no program.
func TestRequestToHungEngineCanBeCancelled(t *testing.T) {
	for name, c := range map[string]struct {
		op    string
		keys  []string
		shows string // before enter
	}{
		"layouts":    {api.LayoutGet.Name, []string{"ctrl+b", "space"}, ""},
		"foreground": {api.SessionForeground.Name, []string{"ctrl+b", "r", "'make"}, "1 found"},
		"insertion":  {api.SessionInsert.Name, []string{"ctrl+b", "r", "'make"}, "1 found"},
		"search":     {api.HistorySearch.Name, []string{"ctrl+b", "r", "'make"}, "insert at the prompt"},
		"list":       {api.HistorySearch.Name, []string{"alt+3"}, "failed"},
		"form":       {api.ProcessStart.Name, []string{"alt+2", "n", "'make"}, "Start a process"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newFakeEngine()
			s := e.addSession("first", "one$ ")
			e.history.AddRun("make")
			d := drive(t, e, 120, 36)
			d.waitText("one$ ")
			delayStarts(d).op = c.op
			d.pressKeys(c.keys...)
			if c.shows != "" {
				d.waitText(c.shows)
				d.pressKeys("enter")
			}
			if !d.m.input.isHeld() {
				t.Fatalf("it does not wait:\n%s", d.screenText())
			}
			d.pressKeys("'rm -r", "enter", "ctrl+b", "c", "ctrl+c")
			d.waitUntil("it is cancelled", func() bool { return !d.m.input.isHeld() })
			if d.m.views.action() == keymap.ViewSessions {
				d.pressKeys("'ls")
				d.waitTyped(s, "ls")
			}
			d.pressKeys("ctrl+b", "d")
			d.waitUntil("the dashboard is left", func() bool { return d.quit })
			if got := s.typedText(); got != "" && got != "ls" || d.m.input.queue.Len() > 0 {
				t.Errorf("the program got %q, and %d keys wait", got, d.m.input.queue.Len())
			}
		})
	}
}

func TestReboundCancelKeyCancelsPendingAction(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	d.rebind(map[keymap.Action][]string{keymap.Cancel: {"ctrl+g"}})
	delayStarts(d).op = api.LayoutGet.Name
	d.pressKeys("ctrl+b", "space", "'x")
	d.waitText("your input is queued; ctrl+g cancels")
	d.pressKeys("ctrl+g")
	d.waitUntil("it is cancelled", func() bool { return !d.m.input.isHeld() })
}

// Keys typed after an insertion follow it exactly once, no matter when the answer arrives.
func TestKeysTypedAfterInsertionFollowIt(t *testing.T) {
	seed.Check(t, func(r *rapid.T) {
		typed := rapid.StringMatching(`[a-z ]{1,20}`).Draw(r, "typed")
		answered := rapid.IntRange(0, len(typed)).Draw(r, "answered after")
		e := newFakeEngine()
		s := e.addSession("first", "one$ ")
		e.history.AddRun("make")
		d := drive(t, e, 120, 36)
		d.waitText("one$ ")
		late := delayStarts(d)
		late.op = rapid.SampledFrom([]string{api.SessionForeground.Name, api.SessionInsert.Name}).Draw(r, "late")
		d.pressKeys("ctrl+b", "r", "'make")
		d.waitText("1 found")
		d.pressKeys("enter", "'"+typed[:answered])
		close(late.answer)
		d.pressKeys("'" + typed[answered:])
		d.waitTyped(s, "make"+typed)
		d.cancel()
	})
}

// queueKeys queues keys without a message to the dashboard. It returns how many the program did not
// get at once.
func (d *driver) queueKeys(names ...string) int {
	d.t.Helper()
	for _, k := range d.parseKeys(names) {
		d.m.input.queue.Add(screen.Event{Kind: keys.EventKey, Key: k})
	}
	return d.m.input.queue.Len()
}

func TestKeysWithoutBindingNeedNoUpdate(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	if n := d.queueKeys("'ls", "enter"); n != 0 {
		t.Errorf("%d keys wait", n)
	}
	d.waitTyped(s, "ls\r")
	for name, before := range map[string][]string{
		"the prefix":      {"ctrl+b"},
		"ctrl+c":          {"ctrl+c"},
		"a bound key":     {"alt+2"},
		"a dialog":        {"ctrl+b", ":"},
		"the scroll mode": {"ctrl+b", "["},
	} {
		if n := d.queueKeys(append(before, "'x")...); n != len(before)+1 {
			t.Errorf("%d keys wait after %s and x", n, name)
		}
		d.update(inputMsg{})
		if n := d.queueKeys("'x"); name != "ctrl+c" && name != "the prefix" && n != 1 {
			t.Errorf("%d keys wait with %s", n, name)
		}
		d.update(inputMsg{})
		d.pressKeys("esc", "alt+1", "esc")
	}
}

func TestInputStaysInOrderWithAndWithoutUpdate(t *testing.T) {
	seed.Check(t, func(r *rapid.T) {
		e := newFakeEngine()
		s := e.addSession("first", "one$ ")
		d := drive(t, e, 120, 36)
		d.waitText("one$ ")
		want := ""
		for i := range rapid.IntRange(1, 60).Draw(r, "events") {
			text := string(rune('a' + i%26))
			switch rapid.IntRange(0, 5).Draw(r, "event") {
			case 0:
				d.m.input.queue.Add(screen.Event{Kind: keys.EventPaste, Paste: text})
			case 1:
				d.queueKeys("ctrl+b", "ctrl+b")
				text = "\x02"
			case 2:
				d.update(inputMsg{})
				text = ""
			default:
				d.queueKeys("'" + text)
			}
			want += text
		}
		d.update(inputMsg{})
		d.waitTyped(s, want)
		d.cancel()
	})
}

func TestKeysOfAPaneArePassedToItsPTYWhileTheEngineLendsIt(t *testing.T) {
	e := newFakeEngine()
	s := e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	typed := ""
	typeUntilDirect := func() {
		t.Helper()
		before := s.readDirect()
		d.waitUntil("keys are typed directly", func() bool {
			d.queueKeys("'x")
			typed += "x"
			return s.readDirect() > before
		})
	}
	typeUntilDirect()
	next := d.loseEngine()
	before := s.readDirect()
	d.pressKeys("'while ")
	if got := s.readDirect(); got != before {
		t.Errorf("%d bytes are written to the PTY without an engine", got-before)
	}
	d.restoreEngine(next)
	typed += "while "
	typeUntilDirect()
	d.waitTyped(s, typed)
	s.exitWith(api.StateExited, new(3))
	d.waitUntil("the program has exited", func() bool { return d.m.sessions.FocusedPane().FinalState() != nil })
	before = s.readDirect()
	d.queueKeys("'y")
	if got := s.readDirect(); got != before {
		t.Error("a key reaches the program after its exit")
	}
}

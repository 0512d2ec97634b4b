package ui

import (
	"testing"

	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/keys/keymap"
)

// A hung engine must not hold the user: esc cancels what waits, and what was typed for it
// reaches no program.
func TestWhatAnEngineDoesNotAnswerCanBeCancelledAndLeft(t *testing.T) {
	for name, c := range map[string]struct {
		op    string
		keys  []string
		shows string // before enter
	}{
		"layouts":   {api.LayoutGet.Name, []string{"ctrl+b", "space"}, ""},
		"insertion": {api.SessionForeground.Name, []string{"ctrl+b", "r", "'make"}, "1 found"},
		"search":    {api.HistorySearch.Name, []string{"ctrl+b", "r", "'make"}, "insert at the prompt"},
		"list":      {api.HistorySearch.Name, []string{"alt+3"}, "failed"},
		"form":      {api.ProcessStart.Name, []string{"alt+2", "n", "'make"}, "Start a process"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newFakeEngine()
			s := e.add("first", "one$ ")
			e.ran("make")
			d := drive(t, e, 120, 36)
			d.shows("one$ ")
			lately(d).op = c.op
			d.press(c.keys...)
			if c.shows != "" {
				d.shows(c.shows)
				d.press("enter")
			}
			if !d.m.input.waits() {
				t.Fatalf("it does not wait:\n%s", d.screen())
			}
			d.press("'rm -r", "enter", "ctrl+b", "c", "ctrl+c")
			d.until("it is cancelled", func() bool { return !d.m.input.waits() })
			if d.m.view == viewSessions {
				d.press("'ls")
				d.typedInto(s, "ls")
			}
			d.press("ctrl+b", "d")
			d.until("the dashboard is left", func() bool { return d.quit })
			if got := s.input(); got != "" && got != "ls" || d.m.input.queue.Len() > 0 {
				t.Errorf("the program got %q, and %d keys wait", got, d.m.input.queue.Len())
			}
		})
	}
}

func TestReboundCancelKeyCancelsWhatWaits(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	d.rebinds(map[keymap.Action][]string{keymap.Cancel: {"ctrl+g"}})
	lately(d).op = api.LayoutGet.Name
	d.press("ctrl+b", "space", "'x")
	d.shows("what you type waits; ctrl+g cancels")
	d.press("ctrl+g")
	d.until("it is cancelled", func() bool { return !d.m.input.waits() })
}

// Whenever the answer comes: each key typed behind an insertion follows it, once.
func TestKeysTypedBehindAnInsertionFollowIt(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		typed := rapid.StringMatching(`[a-z ]{1,20}`).Draw(r, "typed")
		answered := rapid.IntRange(0, len(typed)).Draw(r, "answered after")
		e := newFakeEngine()
		s := e.add("first", "one$ ")
		e.ran("make")
		d := drive(t, e, 120, 36)
		d.shows("one$ ")
		late := lately(d)
		late.op = api.SessionForeground.Name
		d.press("ctrl+b", "r", "'make")
		d.shows("1 found")
		d.press("enter", "'"+typed[:answered])
		close(late.answer)
		d.press("'" + typed[answered:])
		d.typedInto(s, "make"+typed)
		d.cancel()
	})
}

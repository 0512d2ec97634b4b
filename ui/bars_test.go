package ui

import (
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/panes/widget"
	"tandem/themes"
)

// counting is a model of a width with three sessions, of which one waits, and
// with a failed process and requests if they are asked for.
func counting(w int, more bool) *model {
	m := &model{areas: areas{w: w}}
	m.sessions = newSessionsView(env{m})
	m.theme.look.Glyphs = themes.UnicodeGlyphs()
	for i := range 3 {
		p := api.Process{ID: string(rune('a' + i)), Kind: api.KindSession, State: api.StateRunning, Terminal: &api.Terminal{Rang: i == 0}}
		m.news.Processes = append(m.news.Processes, p)
	}
	if more {
		m.news.Processes = append(m.news.Processes, api.Process{ID: "f", Kind: api.KindProcess, State: api.StateFailed})
		m.news.Requests = make([]api.Request, 12)
	}
	return m
}

// barTexts is what the top bar has room for.
func barTexts(m *model) (named bool, text string) {
	views, counts := m.topBarParts()
	for _, c := range counts {
		text += c.text
	}
	return views > 0, text
}

func TestTopBarGivesUpItsNameThenTheCountsThatMatterLeast(t *testing.T) {
	for _, test := range []struct {
		w     int
		more  bool
		named bool
		want  string
	}{
		{81, false, true, "♪ 1 waiting  ● 3 running  "},
		{80, false, false, "♪ 1 waiting  ● 3 running  "},
		{80, true, false, "? 12 asking  ♪ 1 waiting  "},
		{100, true, false, "? 12 asking  ♪ 1 waiting  ✗ 1 failed  ● 3 running  "},
		{110, true, true, "? 12 asking  ♪ 1 waiting  ✗ 1 failed  ● 3 running  "},
		{79, true, false, "? 12 ♪ 1 ✗ 1 ● 3 "},
		{60, true, false, "? 12 ♪ 1 ✗ 1 "},
	} {
		named, text := barTexts(counting(test.w, test.more))
		if named != test.named || text != test.want {
			t.Errorf("at %d columns it is %v %q, want %v %q", test.w, named, text, test.named, test.want)
		}
	}
}

func TestTopBarFillsItsRowAndAClickFindsTheViewsWhereTheyAre(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "one$ ").process.Terminal.Rang = true
	e.add("second", "two$ ")
	for _, w := range []int{60, 70, 79, 80, 81, 82, 100, 140} {
		d := drive(t, e, w, 24)
		d.until("the sessions are known", func() bool { return len(d.m.news.Processes) > 0 && d.m.sessions.tabs.Current != nil })
		bar, _, _ := strings.Cut(d.screen(), "\n")
		if widget.Width(bar) != w || !strings.Contains(bar, "1") {
			t.Errorf("at %d columns it is %d wide: %q", w, widget.Width(bar), bar)
		}
		for v := viewCount - 1; v >= 0; v-- {
			before, _, _ := strings.Cut(bar, v.label())
			for _, x := range []int{widget.Width(before), widget.Width(before+v.label()) - 1} {
				d.m.setView((v + 1) % viewCount)
				if d.click(x, 0); d.m.view != v {
					t.Errorf("at %d columns a click at %d shows %s, want %s", w, x, d.m.view, v)
				}
			}
		}
	}
}

func TestADashboardWithoutSessionsShowsTheNextOneThatAppears(t *testing.T) {
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 12}} {
		e := newFakeEngine()
		first, second := e.add("first", "one$ "), e.add("second", "two$ ")
		one, other := drive(t, e, size[0], size[1]), drive(t, e, 120, 36)
		one.shows("one$ ")
		other.shows("one$ ")
		first.end(api.StateStopped, nil)
		second.end(api.StateStopped, nil)
		other.shows("No session is running")
		other.lacks("enter open")
		other.lacks("x kill")
		one.until("nothing is shown", func() bool { return one.m.sessions.tabs.Current == nil })
		if size[0] >= minScreenWidth {
			one.shows("n new shell")
		}
		if rows := strings.Split(one.screen(), "\n"); size[0] == 120 && !strings.HasSuffix(rows[1], "─┬"+strings.Repeat("─", 89)) {
			t.Errorf("the rule ends: %q", rows[1])
		}
		other.press("ctrl+b", "c")
		other.hasStarted(3)
		one.until("it is shown", func() bool { return one.m.sessions.focused() != nil && strings.Contains(one.screen(), "$ ") })
		one.press("'ls")
		one.typedInto(one.nth(2), "ls")
	}
}

func TestWhatAppearsInADashboardWithoutSessionsLeavesTheViewAlone(t *testing.T) {
	e := newFakeEngine()
	first := e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	d.press("alt+2")
	first.end(api.StateStopped, nil)
	d.until("nothing is left", func() bool { return d.m.sessions.tabs.Current == nil })
	other := drive(t, e, 120, 36)
	other.hasStarted(2)
	d.until("it is there", func() bool { return d.m.sessions.tabs.Current != nil })
	if d.m.view != viewProcesses {
		t.Errorf("it shows %s", d.m.view)
	}
}

func TestTheFilterOfTheListIsToldWhereverTheKeyboardIs(t *testing.T) {
	for _, size := range [][2]int{{120, 36}, {80, 24}} {
		e := newFakeEngine()
		e.add("first", "one$ ")
		e.add("second", "two$ ")
		d := drive(t, e, size[0], size[1])
		d.shows("one$ ")
		d.press("ctrl+b", "s", "/", "'zzz", "enter", "tab")
		if d.m.sessions.focused() == nil {
			t.Fatal("the terminal has not the keyboard")
		}
		d.shows("/zzz")
		d.shows("nothing matches")
		d.press("ctrl+b", "s", "/", "backspace", "backspace", "backspace", "'sec", "enter", "tab")
		d.shows("/sec")
		d.lacks("nothing matches")
		d.press("ctrl+b", "s", "esc")
		d.lacks("/sec")
	}
}

func TestThePrefixIsAChipAtOnceAndListsItsKeysWhenItHasWaited(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 15}, {40, 12}} {
			e := newFakeEngine()
			e.add("shell", "$ ")
			d := drive(t, e, size[0], size[1])
			d.shows("$ ")
			bar := func() string { rows := strings.Split(d.m.View().Content, "\n"); return rows[len(rows)-1] }
			chip := d.m.theme.look.Chip.Text(" ctrl+b ")
			if strings.Contains(bar(), chip) {
				t.Errorf("%v: there is a chip without the prefix", size)
			}
			d.press("ctrl+b")
			if !strings.HasPrefix(bar(), chip) || strings.Contains(d.screen(), "split below") && strings.Contains(d.screen(), "╭") {
				t.Errorf("%v: the prefix shows %q", size, bar())
			}
			d.shows("scroll, paste")
			for _, row := range strings.Split(d.screen(), "\n") {
				if widget.Width(row) != size[0] {
					t.Errorf("%v: a row has %d cells", size, widget.Width(row))
				}
			}
			d.press("c")
			if strings.Contains(bar(), chip) || strings.Contains(d.screen(), "scroll, paste") {
				t.Errorf("%v: they stay after the next key", size)
			}
			d.hasStarted(2)
		}
	})
}

func TestTheKeysOfAPrefixAreNotListedForTheNextOne(t *testing.T) {
	e := newFakeEngine()
	e.add("shell", "$ ")
	d := drive(t, e, 120, 36)
	d.shows("$ ")
	d.press("ctrl+b", "ctrl+b", "ctrl+b")
	d.update(prefixDue(1)) // of the first one
	if strings.Contains(d.screen(), "scroll, paste") {
		t.Error("they are listed before the prefix has waited")
	}
	d.update(prefixDue(2))
	if !strings.Contains(d.screen(), "scroll, paste") || d.m.View().Cursor == nil {
		t.Error("they are not listed, or hide the cursor above them")
	}
}

package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/text"
	"tandem/panes/sessions"
	"tandem/themes"
)

// countingBar returns a top bar of width w with four views and three sessions, one of which rang
// the bell. If more is set, there are a failed process and requests, too.
func countingBar(w int, more bool) *topBar {
	m := &model{areas: areas{w: w}}
	m.views = m.listViews()
	m.views.all = m.views.all[:4]
	m.theme.look.Glyphs = themes.UnicodeGlyphs()
	for i := range 3 {
		p := api.Process{ID: string(rune('a' + i)), Kind: api.KindSession, State: api.StateRunning, Terminal: &api.Terminal{Rang: i == 0}}
		m.news.Processes = append(m.news.Processes, p)
	}
	if more {
		m.news.Processes = append(m.news.Processes, api.Process{ID: "f", Kind: api.KindProcess, State: api.StateFailed})
		m.news.Requests = make([]api.Request, 12)
	}
	return &topBar{views: &m.views, areas: &m.areas, news: &m.news, list: sessions.New(m.env).List, isClosed: func(string) bool { return false }, look: &m.theme.look}
}

// barTexts returns the contents of the top bar: whether the program's name is shown, and the text
// of the counts.
func barTexts(t *topBar) (named bool, text string) {
	views, counts := t.layout()
	for _, c := range counts {
		text += c.text
	}
	return views > 0, text
}

func TestTopBarDropsNameThenLeastUrgentCounts(t *testing.T) {
	for _, test := range []struct {
		w     int
		more  bool
		named bool
		want  string
	}{
		{80, false, true, "♪ 1 rang  ● 3 running  "},
		{80, true, false, "? 12 asking  ♪ 1 rang  "},
		{100, true, false, "? 12 asking  ♪ 1 rang  ✗ 1 failed  ● 3 running  "},
		{102, true, false, "? 12 asking  ♪ 1 rang  ✗ 1 failed  ● 3 running  "},
		{103, true, true, "? 12 asking  ♪ 1 rang  ✗ 1 failed  ● 3 running  "},
		{79, true, false, "? 12 ♪ 1 ✗ 1 ● 3 "},
		{60, true, false, "? 12 ♪ 1 ✗ 1 "},
	} {
		named, text := barTexts(countingBar(test.w, test.more))
		if named != test.named || text != test.want {
			t.Errorf("at %d columns it is %v %q, want %v %q", test.w, named, text, test.named, test.want)
		}
	}
}

func TestTopBarFillsRowAndClicksHitViews(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ").process.Terminal.Rang = true
	e.addSession("second", "two$ ")
	for _, w := range []int{60, 70, 79, 80, 81, 82, 100, 140} {
		d := drive(t, e, w, 24)
		d.waitUntil("the sessions are known", func() bool { return len(d.m.news.Processes) > 0 && d.m.sessions.Tabs.Current != nil })
		bar, _, _ := strings.Cut(d.screenText(), "\n")
		if text.Width(bar) != w || !strings.Contains(bar, "1") {
			t.Errorf("at %d columns it is %d wide: %q", w, text.Width(bar), bar)
		}
		for i, v := range d.m.views.all {
			before, _, _ := strings.Cut(bar, v.label)
			for _, x := range []int{text.Width(before), text.Width(before+v.label) - 1} {
				d.showView(d.m.views.all[(i+1)%len(d.m.views.all)].Action)
				if d.click(x, 0); d.m.views.shown != i {
					t.Errorf("at %d columns a click at %d shows %s, want %s", w, x, d.m.views.action(), v.Action)
				}
			}
		}
	}
}

func TestEmptyDashboardShowsNextSessionThatStarts(t *testing.T) {
	for _, size := range [][2]int{{120, 36}, {80, 24}, {40, 12}} {
		e := newFakeEngine()
		first, second := e.addSession("first", "one$ "), e.addSession("second", "two$ ")
		one, other := drive(t, e, size[0], size[1]), drive(t, e, 120, 36)
		one.waitText("one$ ")
		other.waitText("one$ ")
		first.exitWith(api.StateStopped, nil)
		second.exitWith(api.StateStopped, nil)
		other.waitText("No session is running")
		other.waitNoText("enter open")
		other.waitNoText("x kill")
		one.waitUntil("nothing is shown", func() bool { return one.m.sessions.Tabs.Current == nil })
		if size[0] >= minScreenWidth {
			one.waitText("n new shell")
		}
		if rows := strings.Split(one.screenText(), "\n"); size[0] == 120 && !strings.HasSuffix(rows[1], "─┬"+strings.Repeat("─", 89)) {
			t.Errorf("the rule ends: %q", rows[1])
		}
		other.pressKeys("ctrl+b", "c")
		other.waitStarted(3)
		one.waitUntil("it is shown", func() bool {
			return one.m.sessions.FocusedPane() != nil && strings.Contains(one.screenText(), "$ ")
		})
		one.pressKeys("'ls")
		one.waitTyped(one.nthSession(2), "ls")
	}
}

func TestEmptyDashboardKeepsViewWhenSessionStarts(t *testing.T) {
	e := newFakeEngine()
	first := e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	d.pressKeys("alt+2")
	first.exitWith(api.StateStopped, nil)
	d.waitUntil("nothing is left", func() bool { return d.m.sessions.Tabs.Current == nil })
	other := drive(t, e, 120, 36)
	other.waitStarted(2)
	d.waitUntil("it is there", func() bool { return d.m.sessions.Tabs.Current != nil })
	if d.m.views.action() != keymap.ViewProcesses {
		t.Errorf("it shows %s", d.m.views.action())
	}
}

func TestListFilterIsShownWhereverTheKeyboardIs(t *testing.T) {
	for _, size := range [][2]int{{120, 36}, {80, 24}} {
		e := newFakeEngine()
		e.addSession("first", "one$ ")
		e.addSession("second", "two$ ")
		d := drive(t, e, size[0], size[1])
		d.waitText("one$ ")
		d.pressKeys("ctrl+b", "s", "/", "'zzz", "enter", "tab")
		if d.m.sessions.FocusedPane() == nil {
			t.Fatal("the terminal has not the keyboard")
		}
		d.waitText("/zzz")
		d.waitText("nothing matches")
		d.pressKeys("ctrl+b", "s", "/", "backspace", "backspace", "backspace", "'sec", "enter", "tab")
		d.waitText("/sec")
		d.waitNoText("nothing matches")
		d.pressKeys("ctrl+b", "s", "esc")
		d.waitNoText("/sec")
	}
}

func TestPrefixIsShownAtOnceAndListsKeysAfterDelay(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 15}, {40, 12}} {
			e := newFakeEngine()
			e.addSession("shell", "$ ")
			d := drive(t, e, size[0], size[1])
			d.waitText("$ ")
			bar := func() string { rows := strings.Split(d.m.View().Content, "\n"); return rows[len(rows)-1] }
			chip := d.m.theme.look.Chip.Text(" ctrl+b ")
			if strings.Contains(bar(), chip) {
				t.Errorf("%v: there is a chip without the prefix", size)
			}
			d.pressKeys("ctrl+b")
			if !strings.HasPrefix(bar(), chip) || strings.Contains(d.screenText(), "split below") && strings.Contains(d.screenText(), "╭") {
				t.Errorf("%v: the prefix shows %q", size, bar())
			}
			d.waitText("scroll, paste")
			for _, row := range strings.Split(d.screenText(), "\n") {
				if text.Width(row) != size[0] {
					t.Errorf("%v: a row has %d cells", size, text.Width(row))
				}
			}
			d.pressKeys("c")
			if strings.Contains(bar(), chip) || strings.Contains(d.screenText(), "scroll, paste") {
				t.Errorf("%v: they stay after the next key", size)
			}
			d.waitStarted(2)
		}
	})
}

// endPrefixWait fires the timer that the prefix started when its serial number had this value.
func (d *driver) endPrefixWait(serial int) {
	d.update(panes.Result(func() tea.Cmd { return d.m.keyboard.prefix.endWait(serial) }))
}

func TestTimerOfEarlierPrefixListsNoKeys(t *testing.T) {
	e := newFakeEngine()
	e.addSession("shell", "$ ")
	d := drive(t, e, 120, 36)
	d.waitText("$ ")
	d.pressKeys("ctrl+b", "ctrl+b", "ctrl+b")
	d.endPrefixWait(1) // the timer of the first prefix
	if strings.Contains(d.screenText(), "scroll, paste") {
		t.Error("they are listed before the prefix has waited")
	}
	d.endPrefixWait(2)
	if !strings.Contains(d.screenText(), "scroll, paste") || d.m.View().Cursor == nil {
		t.Error("they are not listed, or hide the cursor above them")
	}
}

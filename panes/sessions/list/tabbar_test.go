package list

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/panes/kit/text"
	"tandem/themes"
)

func TestTabBarShowsNumbersNamesAndMarks(t *testing.T) {
	p, e := newTestPane()
	rang := session("c", "session-c", api.StateRunning)
	rang.Terminal = &api.Terminal{Rang: true}
	e.Known.Processes[2] = rang
	p.SetTabs([][]string{{"a", "b"}, {"c"}}, "a")
	bar := ansi.Strip(p.DrawTabBar(60))
	mark, _ := sessionMark(&rang, e.Look())
	if want := " 1 session-a+session-b  2 session-c " + mark + " "; strings.TrimRight(bar, " ") != strings.TrimRight(want, " ") || text.Width(bar) != 60 {
		t.Errorf("got  %q\nwant %q", bar, want)
	}
	for x, want := range map[int]int{0: 0, 22: 0, 23: 1, 34: 1, 58: -1} {
		if got := p.TabAt(x, 60); got != want {
			t.Errorf("at column %d is tab %d, not %d", x, got, want)
		}
	}
}

func TestPrivateSessionIsMarked(t *testing.T) {
	_, e := newTestPane()
	s := session("a", "private", api.StateRunning)
	s.Terminal = &api.Terminal{Private: true}
	if mark, _ := sessionMark(&s, e.Look()); mark != "private" {
		t.Errorf("marked %q", mark)
	}
	s.Terminal.Rang = true
	if mark, _ := sessionMark(&s, e.Look()); mark == "private" {
		t.Error("its bell is not shown")
	}
}

func TestTabBarShortensNamesThenScrolls(t *testing.T) {
	p, e := newTestPane()
	e.Inks.Glyphs = themes.UnicodeGlyphs()
	var tabs [][]string
	for i := range 20 {
		id := fmt.Sprint("tab", i+1)
		e.Known.Processes = append(e.Known.Processes, session(id, "a-long-name", api.StateRunning))
		tabs = append(tabs, []string{id})
	}
	p.SetTabs(tabs[:4], "tab3")
	if bar := ansi.Strip(p.DrawTabBar(44)); !strings.Contains(bar, " 4 a-long") || strings.Contains(bar, "a-long-name") {
		t.Errorf("names are not shortened to fit: %q", bar)
	}
	for w, want := range map[int]string{43: "a-lon…", 44: "a-long…", 47: "a-long…", 48: "a-long-…", 55: "a-long-n…", 60: "a-long-name"} {
		if bar := ansi.Strip(p.DrawTabBar(w)); strings.Count(bar, want+" ") != 4 {
			t.Errorf("%d cells: %q, want the names as %q", w, bar, want)
		}
	}
	for at := range tabs {
		p.SetTabs(tabs, fmt.Sprint("tab", at+1))
		for w := 16; w < 80; w += 7 {
			bar := ansi.Strip(p.DrawTabBar(w))
			if !strings.Contains(bar, fmt.Sprintf(" %d a-lon… ", at+1)) || text.Width(bar) != w {
				t.Fatalf("%d cells for tab %d: %q", w, at+1, bar)
			}
			for x := range w {
				if got := p.TabAt(x, w); got >= len(tabs) {
					t.Fatalf("column %d of %q is tab %d", x, bar, got)
				}
			}
		}
	}
	if before, after := p.TabAt(0, 40), p.TabAt(39, 40); before >= 19 || before < 10 || after != 19 && after != -1 {
		t.Errorf("the ends lead to %d and %d", before, after)
	}
}

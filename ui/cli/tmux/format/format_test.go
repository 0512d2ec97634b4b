package format

import (
	"testing"
	"time"
)

func scope() Scope {
	values := map[string]string{
		"session_name": "work", "window_index": "2", "pane_title": "a, b", "on": "1", "off": "0", "path": "/usr/local/bin",
		"nested": "#{session_name}!", "at": "86400", "window_name": "vim", "pane_id": "%3",
	}
	return Scope{Now: time.Unix(200000, 0), Lookup: func(name string) (string, bool) { v, ok := values[name]; return v, ok }}
}

// What is expected was printed by tmux 3.3a.
func TestFormatsExpandAsInTmux(t *testing.T) {
	for _, c := range [][2]string{
		{"plain", "plain"},
		{"#S:#I", "work:2"},
		{"#{session_name}:#{window_index}", "work:2"},
		{"[#{unknown}]", "[]"},
		{"##S ###S", "#S #work"},
		{"#,", ","},
		{"#{?on,yes,no} #{?off,yes,no} #{?unknown,yes,no}", "yes no no"},
		{"#{?on,#{session_name},#{window_name}}", "work"},
		{"#{?#{==:#{session_name},work},a,b}", "a"},
		{"#{==:work,#{session_name}}", "1"},
		{"#{!=:a,a}", "0"},
		{"#{m:w*,#{session_name}} #{m:x*,#{session_name}}", "1 0"},
		{"#{m/r:^w.r,#{session_name}}", "1"},
		{"#{m/ri:^W.R,#{session_name}}", "1"},
		{"#{||:#{off},#{on}} #{&&:#{off},#{on}}", "1 0"},
		{"#{=2:session_name} #{=-2:session_name} #{=/2/…:session_name}", "wo rk wo…"},
		{"#{p6:session_name}|#{p-6:session_name}|", "work  |  work|"},
		{"#{s/o/0/:session_name}", "w0rk"},
		{"#{s/(.)o/<\\1>/:session_name}", "<w>rk"},
		{"#{b:path} #{d:path}", "bin /usr/local"},
		{"#{q:pane_title}", "a,\\ b"},
		{"#{l:a#,b}", "a,b"},
		{"#{E:nested}", "work!"},
		{"#{n:session_name} #{w:session_name}", "4 4"},
		{"#{=3;s/o/0/:session_name}", "w0r"},
		{"#[fg=red]x", "#[fg=red]x"},
		{"#{?on,a#,b,c}", "a,b"},
	} {
		if got := scope().Expand(c[0]); got != c[1] {
			t.Errorf("%s is %q, want %q", c[0], got, c[1])
		}
	}
}

func TestFormatThatNamesItselfEnds(t *testing.T) {
	s := Scope{}
	s.Lookup = func(string) (string, bool) { return "#{E:again}", true }
	s.Expand("#{E:again}")
}

func TestTimesInMessages(t *testing.T) {
	s := scope()
	s.Now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	if got := s.Time("%H:%M %d-%b-%y 100%"); got != "05:06 04-Mar-26 100%" {
		t.Errorf("the time is %q", got)
	}
}

func TestUnsupportedPartsOfFormatsAreRefusedByName(t *testing.T) {
	for _, c := range [][2]string{
		{"#{e|+|:3,4}", "modifier e"}, {"x#{W:#{window_name}}", "modifier W"}, {"#{?#{C:text},a,b}", "modifier C"},
		{"#{t/p:at}", "modifier t"}, {"#{q/e:path}", "modifier q"}, {"#(date)", "#(…)"},
	} {
		var refused []string
		s := scope()
		s.Refuse = func(what string) { refused = append(refused, what) }
		s.Expand(c[0])
		if len(refused) != 1 || refused[0] != c[1] {
			t.Errorf("%s refuses %q, want %q", c[0], refused, c[1])
		}
	}
}

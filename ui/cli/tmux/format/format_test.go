package format

import (
	"testing"
	"time"
)

func newScope() Scope {
	values := map[string]string{
		"session_name": "work", "window_index": "2", "pane_title": "a, b", "on": "1", "off": "0", "path": "/usr/local/bin",
		"nested": "#{session_name}!", "at": "86400", "window_name": "vim", "pane_id": "%3",
	}
	return Scope{Now: time.Unix(200000, 0), Lookup: func(name string) (string, bool) { v, ok := values[name]; return v, ok }}
}

// The expected values were printed by tmux 3.3a.
func TestExpandAgreesWithTmux(t *testing.T) {
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
		{"#{||:#{off},#{on}} #{&&:#{off},#{on}}", "1 0"},
		{"#{=2:session_name} #{=-2:session_name} #{=1;p3:session_name}|", "wo rk w  |"},
		{"#{p6:session_name}|#{p-6:session_name}|", "work  |  work|"},
		{"#{b:path} #{d:path}", "bin /usr/local"},
		{"#{q:pane_title}", "a,\\ b"},
		{"#[fg=red]x", "#[fg=red]x"},
		{"#{?on,a#,b,c}", "a,b"},
	} {
		if got := newScope().Expand(c[0]); got != c[1] {
			t.Errorf("Expand(%s) = %q, want %q", c[0], got, c[1])
		}
	}
}

func TestExpandStopsAtDeeplyNestedFormats(t *testing.T) {
	text := "#{session_name}"
	for range maxDepth + 1 {
		text = "#{b:" + text + "}"
	}
	if got := newScope().Expand(text); got != "" {
		t.Errorf("Expand of %d nested formats = %q, want nothing", maxDepth+2, got)
	}
}

func TestExpandTimeReplacesConversions(t *testing.T) {
	s := newScope()
	s.Now = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	if got := s.ExpandTime("%H:%M %d-%b-%y 100%"); got != "05:06 04-Mar-26 100%" {
		t.Errorf("ExpandTime = %q", got)
	}
}

func TestExpandReportsUnsupportedFeatures(t *testing.T) {
	for _, c := range [][2]string{
		{"#{e|+|:3,4}", "modifier e"}, {"x#{W:#{window_name}}", "modifier W"}, {"#{?#{C:text},a,b}", "modifier C"},
		{"#{s/o/0/:session_name}", "modifier s"}, {"#{m/r:^w,#{session_name}}", "modifier m"}, {"#{E:nested}", "modifier E"},
		{"#{l:a#,b}", "modifier l"}, {"#{n:path}", "modifier n"}, {"#{=/2/…:path}", "modifier ="}, {"#{=3;w:path}", "modifier w"}, {"#{<=:a,b}", "modifier <="},
		{"#{t/p:at}", "modifier t"}, {"#{q/e:path}", "modifier q"}, {"#(date)", "#(…)"},
	} {
		var reported []string
		s := newScope()
		s.Unsupported = func(feature string) { reported = append(reported, feature) }
		s.Expand(c[0])
		if len(reported) != 1 || reported[0] != c[1] {
			t.Errorf("Expand(%s) reports %q as unsupported, want %q", c[0], reported, c[1])
		}
	}
}

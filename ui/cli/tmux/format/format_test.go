package format

import "testing"

func newScope() Scope {
	values := map[string]string{"session_name": "work", "window_index": "2", "on": "1", "off": "0", "window_name": "vim"}
	return Scope{Lookup: func(name string) (string, bool) { v, ok := values[name]; return v, ok }}
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
		{"#{==:a,b}", "0"},
		{"#{t:unknown}", ""},
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
		text = "#{?on," + text + ",}"
	}
	if got := newScope().Expand(text); got != "" {
		t.Errorf("Expand of %d nested formats = %q, want nothing", maxDepth+2, got)
	}
}

func TestExpandReportsUnsupportedFeatures(t *testing.T) {
	for _, c := range [][2]string{
		{"#{e|+|:3,4}", "modifier e|+|"}, {"x#{W:#{window_name}}", "modifier W"}, {"#{?#{C:text},a,b}", "modifier C"},
		{"#{s/o/0/:session_name}", "modifier s/o/0/"}, {"#{m:w*,#{session_name}}", "modifier m"}, {"#{!=:a,b}", "modifier !="},
		{"#{||:#{on},#{off}}", "modifier ||"}, {"#{=3:session_name}", "modifier =3"}, {"#{b:#{session_name}}", "modifier b"},
		{"#{t/p:at}", "modifier t/p"}, {"#(date)", "#(…)"},
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

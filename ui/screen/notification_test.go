package screen

import (
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

func TestNotificationUsesSequenceOfTerminal(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{nil, "\x1b]9;Tandem: web failed, 1\x1b\\"},
		{map[string]string{"TERM": "xterm-kitty"}, "\x1b]99;i=tandem:d=0;Tandem\x1b\\\x1b]99;i=tandem:p=body;web failed, 1\x1b\\"},
		{map[string]string{"VTE_VERSION": "7600"}, "\x1b]777;notify;Tandem;web failed, 1\x1b\\"},
		{map[string]string{"TMUX": "/tmp/x"}, "\x1bPtmux;\x1b\x1b]9;Tandem: web failed, 1\x1b\x1b\\\x1b\\"},
	} {
		if got := notifySequence("web failed; 1", func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %q, want %q", c.env, got, c.want)
		}
	}
}

func FuzzNotification(f *testing.F) {
	f.Add("a\x1b\\b\x07;\u202ec\x9c")
	f.Fuzz(func(t *testing.T, text string) {
		inside := strings.TrimSuffix(strings.TrimPrefix(notifySequence(text, func(string) string { return "" }), "\x1b]9;Tandem: "), "\x1b\\")
		if strings.ContainsAny(inside, "\x1b\x07\u009c;\n") || !utf8.ValidString(inside) || len(inside) > 20*maxNotice {
			t.Errorf("%q gets into the sequence: %q", text, inside)
		}
	})
}

func TestProgressIsSentOnlyToSupportingTerminals(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want bool
	}{
		"Windows Terminal":         {map[string]string{"WT_SESSION": "x"}, true},
		"Ghostty":                  {map[string]string{"TERM": "xterm-ghostty"}, true},
		"Ghostty behind tmux":      {map[string]string{"TERM": "tmux-256color", "TMUX": "x", "WT_SESSION": "x"}, false},
		"one that would notify it": {map[string]string{"TERM": "xterm-256color"}, false},
	} {
		if got := showsProgress(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for want, bar := range map[string]*tea.ProgressBar{
		"\x1b]9;4;0\a": nil, "\x1b]9;4;1;42\a": tea.NewProgressBar(tea.ProgressBarDefault, 42),
		"\x1b]9;4;2;1\a": tea.NewProgressBar(tea.ProgressBarError, 1), "\x1b]9;4;3\a": tea.NewProgressBar(tea.ProgressBarIndeterminate, 1),
	} {
		if got := progressSequence(bar); got != want {
			t.Errorf("%+v: got %q, want %q", bar, got, want)
		}
	}
}

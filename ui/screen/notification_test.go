package screen

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNotificationsSpeakTheTerminalsLanguage(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{nil, "\x1b]9;Tandem: web failed, 1\x1b\\"},
		{map[string]string{"TERM": "xterm-kitty"}, "\x1b]99;i=tandem:d=0;Tandem\x1b\\\x1b]99;i=tandem:p=body;web failed, 1\x1b\\"},
		{map[string]string{"VTE_VERSION": "7600"}, "\x1b]777;notify;Tandem;web failed, 1\x1b\\"},
		{map[string]string{"TMUX": "/tmp/x"}, "\x1bPtmux;\x1b\x1b]9;Tandem: web failed, 1\x1b\x1b\\\x1b\\"},
	} {
		if got := notification("web failed; 1", func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: %q, want %q", c.env, got, c.want)
		}
	}
}

func FuzzNotification(f *testing.F) {
	f.Add("a\x1b\\b\x07;\u202ec\x9c")
	f.Fuzz(func(t *testing.T, text string) {
		inside := strings.TrimSuffix(strings.TrimPrefix(notification(text, func(string) string { return "" }), "\x1b]9;Tandem: "), "\x1b\\")
		if strings.ContainsAny(inside, "\x1b\x07\u009c;\n") || !utf8.ValidString(inside) || len(inside) > 20*mostNotice {
			t.Errorf("%q gets into the sequence: %q", text, inside)
		}
	})
}

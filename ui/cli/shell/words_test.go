package shell

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitWordsFollowsShellQuoting(t *testing.T) {
	env := func(name string) string { return map[string]string{"HOME": "/home/u", "X": "a b"}[name] }
	for line, want := range map[string][]string{
		"ps":                           {"ps"},
		"  start --name 'a b' -- x ":   {"start", "--name", "a b", "--", "x"},
		`logs "web log" -n 5`:          {"logs", "web log", "-n", "5"},
		`cd $HOME/x "${X}"`:            {"cd", "/home/u/x", "a b"},
		`send s '$X' "\$X" a\ b "c\d"`: {"send", "s", "$X", "$X", "a b", `c\d`},
		"":                             nil,
	} {
		got, err := splitWords(line, env)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", line, err, diff)
		}
	}
	for _, line := range []string{"'open", "ps $(rm x)", "ps ${X:-y}", "ps `x`"} {
		if got, err := splitWords(line, env); err == nil {
			t.Errorf("%s gives %q", line, got)
		}
	}
}

func FuzzSplitWords(f *testing.F) {
	f.Add(`start --name "a $X" -- 'b'`)
	f.Fuzz(func(t *testing.T, line string) {
		_, _ = splitWords(line, func(string) string { return "" })
	})
}

package toolkit

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
)

func TestExitOfAProcessIsDescribed(t *testing.T) {
	code := func(n int) *int { return &n }
	for _, c := range []struct {
		in                   api.Process
		exit, outcome, state string
	}{
		{api.Process{State: api.StateExited, ExitCode: code(0)}, "0", "exit code 0", "exited, exit code 0"},
		{api.Process{State: api.StateExited, ExitCode: code(255)}, "255", "exit code 255", "exited, exit code 255"},
		{api.Process{State: api.StateStopped, ExitSignal: "SIGKILL"}, "137", "ended by SIGKILL", "stopped, ended by SIGKILL"},
		{api.Process{State: api.StateExited, ExitSignal: "SIGODD"}, "unknown", "ended by SIGODD", "exited, ended by SIGODD"},
		{api.Process{State: api.StateFailed, Error: "not ready"}, "unknown", "failed: not ready", "failed"},
		{api.Process{State: api.StateExited, ExitUnknown: true}, "unknown", "exit code unknown", "exited"},
		{api.Process{State: api.StateRunning, PID: 7}, "unknown", "exit code unknown", "running, pid 7"},
	} {
		if got := [3]string{ExitText(c.in), Outcome(c.in), StateText(c.in)}; got != [3]string{c.exit, c.outcome, c.state} {
			t.Errorf("%+v: %q", c.in, got)
		}
	}
	for name, want := range map[string]bool{"": false, string(api.StateRunning): true, string(api.StateStopped): true, string(api.StateExited): false} {
		if got := IsTimedOut(api.ExecOutput{TimedOut: true, Process: api.Process{State: api.State(name)}}); got != want && name != "" {
			t.Errorf("%s: timed out %v", name, got)
		}
	}
}

func TestFailedStartNamesTheProgramOnce(t *testing.T) {
	argv := []string{"/bin/x \x1b"}
	for message, want := range map[string]string{
		`start "/bin/x \x1b": no such file`: "/bin/x \x1b: no such file",
		`start "/bin/y": no such file`:      `start "/bin/y": no such file`,
		"it broke":                          "it broke",
	} {
		if got := StartFailure(argv, api.Errorf(api.CodeInvalid, "%s", message)); got != want {
			t.Errorf("%s: %q", message, got)
		}
	}
	if got := StartFailure(nil, errors.New("it broke")); got != "it broke" {
		t.Errorf("%q", got)
	}
}

func TestTextIsSplitIntoLinesAndWords(t *testing.T) {
	for _, c := range []struct {
		text, want string
		n          int
		cut        bool
	}{
		{"a\nb\nc\n", "b\nc\n", 2, true}, {"a\nb\nc", "b\nc", 2, true}, {"a\nb\n", "a\nb\n", 2, false}, {"", "", 2, false},
		{"a", "", 0, true}, {"", "", 0, false}, {"\n\n\n", "\n\n", 2, true}, {"a\n", "a\n", 1, false},
	} {
		if got, cut := LastLines(c.text, c.n); got != c.want || cut != c.cut {
			t.Errorf("last %d of %q: %q, %v", c.n, c.text, got, cut)
		}
	}
	for line, want := range map[string][]string{
		"":                nil,
		" \t":             nil,
		" ls  -l ":        {"ls", "-l"},
		"a|b":             {"/bin/sh", "-c", "a|b"},
		"A=1 ls":          {"/bin/sh", "-c", "A=1 ls"},
		"grep 'a b' c":    {"grep", "a b", "c"},
		"echo 'a b'":      {"/bin/sh", "-c", "echo 'a b'"},
		"grep 'a":         {"/bin/sh", "-c", "grep 'a"},
		"ls ~":            {"/bin/sh", "-c", "ls ~"},
		"a\nb":            {"/bin/sh", "-c", "a\nb"},
		"make -j2 x,y:z@": {"make", "-j2", "x,y:z@"},
		"make ä":          {"/bin/sh", "-c", "make ä"},
		"source env.sh":   {"/bin/sh", "-c", "source env.sh"},
		". ./env.sh":      {"/bin/sh", "-c", ". ./env.sh"},
		"exit 3":          {"/bin/sh", "-c", "exit 3"},
		"cd /tmp":         {"/bin/sh", "-c", "cd /tmp"},
	} {
		if got := Argv(line); !slices.Equal(got, want) {
			t.Errorf("%q: %q", line, got)
		}
	}
	if got := NoteOmitted(5, "") + NoteOmitted(0, "x") + NoteOmitted(7, "/log"); got != "[5 bytes before this are in the log]\n[7 bytes before this are in /log]\n" {
		t.Errorf("%q", got)
	}
}

func TestWaitInTurnsRepeatsUntilItsTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		timeoutMS int
		over      int // the turn that ends the wait; 0: none
		err       error
		turns     []int // timeouts passed on
	}{
		"over at once":     {timeoutMS: 1000, over: 1, turns: []int{1000}},
		"an error":         {timeoutMS: 1000, err: errors.New("it broke"), turns: []int{1000}},
		"the default":      {turns: []int{50_000}},
		"several turns":    {timeoutMS: 120_000, turns: []int{50_000, 50_000, 20_000}},
		"a short rest":     {timeoutMS: 50_001, turns: []int{50_000, 1}},
		"over in the next": {timeoutMS: 120_000, over: 2, turns: []int{50_000, 50_000}},
		"the maximum":      {timeoutMS: 1 << 40, turns: slices.Repeat([]int{50_000}, 12)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var turns []int
				last, err := WaitInTurns(c.timeoutMS, func(timeoutMS int) (int, bool, error) {
					turns = append(turns, timeoutMS)
					if c.err == nil && len(turns) != c.over {
						time.Sleep(time.Duration(timeoutMS) * time.Millisecond)
					}
					return len(turns), len(turns) == c.over, c.err
				})
				if !errors.Is(err, c.err) || last != len(c.turns) || !slices.Equal(turns, c.turns) {
					t.Errorf("turns %v, %v", turns, err)
				}
			})
		})
	}
	if _, err := WaitInTurns[int](-1, nil); !errors.Is(err, api.CodeInvalid) {
		t.Errorf("%v", err)
	}
}

// A message may quote text of an agent or a program.
func TestMakeLegibleEscapesAndTruncates(t *testing.T) {
	for in, want := range map[string]string{
		"plain ä\n\ttext": "plain ä\n\ttext",
		"a\x1b[2Jb\r":     `a\x1b[2Jb\r`,
		"a\u202eb\u200d":  `a\u202eb\u200d`,
		"it's \x7f":       `it's \x7f`,
		"\xff":            "\uFFFD",
	} {
		if got := MakeLegible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := MakeLegible(strings.Repeat("ä", 1<<20)); len(got) > maxMessage || !strings.Contains(got, "…") {
		t.Errorf("%d bytes", len(got))
	}
	for in, want := range map[string]string{strings.Repeat("ä", 41): strings.Repeat("ä", 40) + "…", "a\xff": "a\uFFFD", strings.Repeat("x", 80): strings.Repeat("x", 80)} {
		if got := Abbreviate(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

func TestHintsNameToolsThatAreOffered(t *testing.T) {
	tools := map[string]string{"process_list": "p_list", "process_log": "p_log", "session_screen": "s_screen"}
	lookup := func(tool string) (string, bool) {
		name, ok := tools[tool]
		return name, ok
	}
	for hint, want := range map[string]string{
		"":                                     "",
		"write it to a file":                   "write it to a file",
		"tandem ls shows all":                  "p_list shows all",
		"`tandem logs web` has the reason":     "p_log has the reason",
		"tandem screen shows its last screen":  "s_screen shows its last screen",
		"use session.write to type keys":       "",
		"wait; use session.write; or give up":  "wait; or give up",
		"tandem env lists those that are":      "",
		"process.log has it; session.list too": "p_log has it",
	} {
		if got := RewriteHint(hint, lookup); got != want {
			t.Errorf("%q: %q, want %q", hint, got, want)
		}
	}
}

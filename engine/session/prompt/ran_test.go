package prompt

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/system/pty"
)

// shownCommands returns commands as "line=status", with ! for one that was stopped.
func shownCommands(all []Command) (shown []string) {
	for _, c := range all {
		status := "?"
		if c.ExitCode != nil {
			status = strconv.Itoa(*c.ExitCode)
		}
		if c.Stopped {
			status += "!"
		}
		shown = append(shown, c.Line+"="+status)
	}
	return shown
}

func TestCommandsAreReportedFromMarks(t *testing.T) {
	const (
		line     = "\x1b]633;E;make;n\a"
		exits2   = "\x1b]133;D;2;aid=n\a"
		noStatus = "\x1b]133;D;aid=n\a"
	)
	type step struct{ typed, printed string }
	for name, c := range map[string]struct {
		steps []step
		exit  func(s *screen) // of the shell
		want  []string
	}{
		"a reported line":             {steps: []step{{"make\r", marked + line + starts + "out\r\n" + exits2 + marked}}, want: []string{"make=2"}},
		"a typed line":                {steps: []step{{"", marked}, {"make\r", "make\r\n" + starts + exits0 + marked}}, want: []string{"make=0"}},
		"a line edited":               {steps: []step{{"", marked}, {"mb\x7fake\r", "mb\b \bake\r\n" + starts + exits0 + marked}}, want: []string{"make=0"}},
		"a continued line":            {steps: []step{{"", marked}, {"if a\r", "if a\r\n> \x1b]133;P;k=s;aid=n\a"}, {"fi\r", "fi\r\n" + starts + exits0 + marked}}, want: []string{"if a\nfi=0"}},
		"no status":                   {steps: []step{{"x\r", marked + line + starts + noStatus + marked}}, want: []string{"make=?"}},
		"no end but the next prompt":  {steps: []step{{"x\r", marked + line + starts + "out\r\n" + marked}}, want: []string{"make=?"}},
		"no end but the next command": {steps: []step{{"x\r", marked + line + starts + "\x1b]633;E;ls;n\a" + starts + exits0 + marked}}, want: []string{"make=?", "ls=0"}},
		"an empty line":               {steps: []step{{"", marked}, {"\r", "\r\n" + exits0 + marked}}},
		"a line dropped by ctrl+c":    {steps: []step{{"", marked}, {"mak\x03", "mak^C\r\n" + exits2 + marked}}},
		"two hooks at the end":        {steps: []step{{"x\r", marked + line + starts + exits2 + exits0 + marked}}, want: []string{"make=2"}},
		"marks of another program":    {steps: []step{{"x\r", marked + "\x1b]633;E;evil;x\a\x1b]133;C;aid=x\a\x1b]133;D;0\a\x1b]133;C\a\x1b]133;A\a"}}},
		"the same history entry": {steps: []step{{"", marked}, {"make\r", "make\r\n\x1b]633;E;make;n;n=5\a" + starts + exits0 + marked}, {" ls\r", " ls\r\n\x1b]633;E;make;n;n=5\a" + starts + exits0 + marked}},
			want: []string{"make=0", " ls=0"}},
		"no start marks":          {steps: []step{{"", noStart}, {"make\r", "make\r\nout\r\n" + exits2 + noStart}}, want: []string{"make=2"}},
		"no start marks, nothing": {steps: []step{{"", noStart}, {"\r", "\r\n" + exits0 + noStart}}},
		"an interrupt":            {steps: []step{{"x\r", marked + line + starts}, {"\x03", "^C\r\n\x1b]133;D;130;aid=n\a" + marked}}, want: []string{"make=130!"}},
		"an interrupt too early":  {steps: []step{{"x\r", marked}, {"\x03", "^C\r\n" + marked}, {"x\r", line + starts + exits2 + marked}}, want: []string{"make=2"}},
		"the shell exits": {steps: []step{{"x\r", marked + line + starts + "out\r\n"}}, exit: func(s *screen) { s.shell.NoteExit(Spot{Offset: s.End()}, new(int), false) },
			want: []string{"make=0"}},
		"the session is stopped": {steps: []step{{"x\r", marked + line + starts}}, exit: func(s *screen) { s.shell.NoteExit(Spot{Offset: s.End()}, new(int), true) },
			want: []string{"make=?!"}},
		"the shell exits at its prompt": {steps: []step{{"", marked}}, exit: func(s *screen) { s.shell.NoteExit(Spot{Offset: s.End()}, new(int), false) }},
		"exit without start marks": {steps: []step{{"", noStart}, {"exit 3\r", "exit 3\r\n"}}, exit: func(s *screen) {
			code := 3
			s.shell.NoteExit(Spot{Offset: s.End(), Cols: 80, Rows: 24}, &code, false)
		}, want: []string{"exit 3=3"}},
		"commands of a replay": {steps: []step{{"", marked}}, exit: func(s *screen) {
			s.shell.NoteReplay(false)
			s.print(line + starts + exits0 + marked)
		}, want: []string{"make=0"}},
		"many continuation prompts": {steps: []step{{"", marked + strings.Repeat("\x1b]133;P;k=s;aid=n\a", 3*maxContinued) + line + starts + exits0 + marked}}, want: []string{"make=0"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScreen(t, screenOptions{kind: Bash})
				for _, step := range c.steps {
					if step.typed != "" {
						s.shell.NoteInput([]byte(step.typed), step.typed == "\x03")
					}
					s.print(step.printed)
					time.Sleep(time.Second)
				}
				if c.exit != nil {
					c.exit(s)
				}
				if got := shownCommands(s.ran); !slices.Equal(got, c.want) {
					t.Errorf("ran %q, want %q", got, c.want)
				}
			})
		})
	}
}

func TestFinishedCommandReportsTheLogRangeOfItsOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(t, screenOptions{kind: Bash})
		const line = "\x1b]633;E;make;n\a"
		s.print(marked + "make\r\n" + line + starts + "out\r\n" + exits0 + marked)
		s.print("ls\r\n" + line + starts + "a file\r\n" + exits0 + marked)
		var outputs []string
		for _, c := range s.ran {
			outputs = append(outputs, strings.TrimSuffix(string(s.log[c.LogStart:c.LogEnd]), exits0))
		}
		if want := []string{"out\r\n", "a file\r\n"}; !slices.Equal(outputs, want) {
			t.Errorf("the outputs are %q, want %q", outputs, want)
		}
	})
}

// A replay from a checkpoint begins with the state produced by the marks before it.
func TestStateSurvivesACheckpoint(t *testing.T) {
	for name, printed := range map[string]string{
		"none": "text", "a prompt": marked, "a prompt of a shell without start marks": noStart,
		"a command": marked + "\x1b]633;E;ma\\x3bke;n\a" + starts + "out", "between": marked + starts + exits0,
	} {
		before, after := newScreen(t, screenOptions{kind: Bash}), newScreen(t, screenOptions{kind: Bash})
		before.print(printed)
		after.print(string(before.shell.AppendState(nil)))
		want, got := before.shell.marks.snapshot(), after.shell.marks.snapshot()
		if got.phase != want.phase || got.noStart != want.noStart || got.line != want.line {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestInvalidWaitConditionsAreRejected(t *testing.T) {
	for _, c := range []struct {
		in   api.SessionWaitInput
		want string
	}{
		{api.SessionWaitInput{ID: "a\x1b"}, `wait for "a\x1b": no condition given`},
		{api.SessionWaitInput{Port: -1}, "must be between 1 and 65535"},
		{api.SessionWaitInput{Port: 65536}, "must be between 1 and 65535"},
		{api.SessionWaitInput{Exit: true, IdleMS: -1}, "cannot be negative"},
		{api.SessionWaitInput{Output: "("}, "wait for output: "},
		{api.SessionWaitInput{Screen: "a{2,1}"}, "wait for screen: "},
		{api.SessionWaitInput{Output: strings.Repeat("a", 1<<20)}, "wait for output: "},
	} {
		if _, err := NewConditions(c.in, nil); !errors.Is(err, api.CodeInvalid) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.in, err)
		}
	}
}

// The more a row looks like the program's prompt, the sooner it counts as a question.
func TestQuietTimeDependsOnTheQuestion(t *testing.T) {
	polls, lines := pty.Look{PID: childPID, Polls: true}, pty.Look{PID: childPID}
	for _, c := range []struct {
		child       string
		before, row string
		look        pty.Look
		plain       bool
		want        time.Duration
	}{
		{"psql", "db=# ", "db=# ", polls, true, repeatQuiet},
		{"python3", "In [1]: ", "In [12]: ", polls, true, repeatQuiet},
		{"psql", "db=# ", "Name: ", lines, true, minQuietTime},
		{"psql", "db=# ", "", polls, true, maxPollerQuiet},
		{"menu", "", "", polls, false, pollerQuiet},
		{"menu", "", "choose", polls, false, minQuietTime},
		{"ssh host", "far$ ", "far$ ", polls, true, pollerQuiet},
		{"ssh host", "", "", polls, false, maxTimeout},
	} {
		s := newScreen(t, screenOptions{kind: Bash, child: strings.Fields(c.child)})
		e := &execution{s: s.shell, before: c.before, plain: c.plain}
		if got := e.questionQuiet(c.row, c.look); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

package prompt

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/engine/system/pty"
)

const (
	marked  = "\x1b]133;A;aid=n\a$ \x1b]133;B;aid=n\a" // a prompt
	starts  = "\x1b]133;C;aid=n\a"                     // a command
	exits0  = "\x1b]133;D;0;aid=n\a"
	noStart = "\x1b]133;A;c=0;aid=n\a$ \x1b]133;B;aid=n\a" // of a shell that marks no starts
)

func TestNeedReportsTheInputTheForegroundProgramWaitsFor(t *testing.T) {
	own := func(change func(*pty.Look)) pty.Look {
		look := shellWait
		change(&look)
		return look
	}
	child := func(change func(*pty.Look)) pty.Look {
		look := readsLine
		change(&look)
		return look
	}
	for name, c := range map[string]struct {
		kind    Kind
		shell   string // arguments of the session's program
		printed string
		typed   string
		look    pty.Look
		over    bool
		want    Need
		listed  bool // Need returns it too
	}{
		"a marked prompt":                  {kind: Bash, printed: marked, want: NeedPrompt, listed: true},
		"a command that runs":              {kind: Bash, printed: marked + starts, look: pty.Look{PID: childPID}},
		"a command that reads":             {kind: Bash, printed: marked + starts, look: readsLine, want: NeedInput, listed: true},
		"a command that asks for a secret": {kind: Bash, printed: marked + starts, look: child(func(l *pty.Look) { l.Hidden = true }), want: NeedSecret},
		"a builtin that reads":             {kind: Bash, printed: marked + starts + "name: ", look: own(func(l *pty.Look) { l.Polls = false; l.Canonical = true }), want: NeedInput},
		"a program in its own screen":      {kind: Bash, printed: marked + starts + "\x1b[?1049h", look: child(func(l *pty.Look) { l.Canonical = false }), want: NeedInput},
		"a poll with a question":           {kind: Bash, printed: marked + starts + "continue? ", look: child(func(l *pty.Look) { l.Alone = true }), want: NeedInput},
		"a poll without a question":        {kind: Bash, printed: marked + starts + "line\r\n", look: child(func(l *pty.Look) { l.Alone = true })},
		"a line just sent":                 {kind: Bash, printed: marked, typed: "ls\r", look: shellWait},
		"the rest of a command":            {kind: Bash, printed: marked, typed: "if\r\x00", look: shellWait, want: NeedPrompt},
		"a shell that makes no marks":      {kind: POSIX, printed: "$ ", look: shellWait, want: NeedPrompt, listed: true},
		"a program that is no shell":       {kind: None, shell: "psql", printed: "db=# ", look: shellWait, want: NeedInput},
		"a shell before its first prompt":  {kind: Bash, look: pty.Look{}},
		"a shell that has lost its marks":  {kind: Bash, printed: marked + starts + "\r\nother$ ", look: shellWait, want: NeedPrompt},
		"a session that is over":           {kind: Bash, printed: marked, look: shellWait, over: true},
		"a program that is over":           {kind: Bash, printed: marked + starts, look: readsLine, over: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := screenOptions{kind: c.kind}
				if c.shell != "" {
					o.shell = strings.Fields(c.shell)
				}
				s := newScreen(t, o)
				s.print(c.printed)
				if typed, later := strings.CutSuffix(c.typed, "\x00"); typed != "" {
					s.shell.NoteInput([]byte(typed), false)
					s.shell.NoteOutput()
					if later {
						time.Sleep(enterSettles)
					}
				}
				if !strings.HasSuffix(c.typed, "\r") {
					time.Sleep(time.Minute)
				}
				s.programs.set(c.look)
				if c.over {
					close(s.over)
				}
				if got := s.shell.UpdateNeed(); got != c.want || c.listed && s.shell.Need() != c.want {
					t.Errorf("waits for %q, then %q, want %q", got, s.shell.Need(), c.want)
				}
			})
		})
	}
}

// await waits for conditions in a bubble of fake time, and returns a function for the result.
func await(t *testing.T, s *screen, in api.SessionWaitInput) func() api.SessionWaitOutput {
	t.Helper()
	w, err := NewConditions(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	waited := make(chan api.SessionWaitOutput, 1)
	go func() {
		out, err := s.shell.Await(t.Context(), w)
		if err != nil {
			t.Error(err)
		}
		waited <- out
	}()
	return func() api.SessionWaitOutput { return <-waited }
}

func TestWaitForInputSkipsStatesThatMayChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(t, screenOptions{kind: Bash})
		s.print(marked + starts + "Password: ")
		result := await(t, s, api.SessionWaitInput{Input: true})
		secret := readsLine
		secret.Hidden = true
		// Unread output may contain the next question.
		s.programs.unread = true
		s.programs.set(secret)
		time.Sleep(time.Second)
		s.programs.mu.Lock()
		s.programs.unread = false
		s.programs.mu.Unlock()
		if out := result(); out.Met != "input" || !out.Secret || out.NextCursor != s.End() {
			t.Errorf("%+v", out)
		}
		s.programs.set(pty.Look{PID: childPID})
		result = await(t, s, api.SessionWaitInput{Input: true, Prompt: true})
		time.Sleep(time.Second)
		s.print("\r\n" + exits0 + marked)
		if out := result(); out.Met != "input" && out.Met != "prompt" || out.Secret {
			t.Errorf("%+v", out)
		}
		result = await(t, s, api.SessionWaitInput{Screen: "never", Output: "never"})
		synctest.Wait()
		close(s.over)
		if out := result(); out.Met != "" {
			t.Errorf("after the end: %+v", out)
		}
	})
}

func TestWaitConditionsAreMetByOutputAndTime(t *testing.T) {
	zero, back := int64(0), int64(-6)
	for name, c := range map[string]struct {
		in           api.SessionWaitInput
		before, then string
		over         bool
		met, text    string
		cursor       int64 // 0: the end
	}{
		"later output":              {in: api.SessionWaitInput{Output: "a+"}, before: "aaa\r\n", then: "xaa.", met: "output", text: "aa", cursor: 8},
		"earlier output":            {in: api.SessionWaitInput{Output: "^b$", Since: &zero}, before: "a\r\nb\r\nc\r\n", met: "output", text: "b", cursor: 4},
		"the last bytes":            {in: api.SessionWaitInput{Output: "[a-c]", Since: &back}, before: "a\r\nb\r\nc\r\n", met: "output", text: "b", cursor: 4},
		"at the end, after a rest":  {in: api.SessionWaitInput{Output: "a+"}, then: "aaa", met: "output", text: "aaa", cursor: 3},
		"in colour":                 {in: api.SessionWaitInput{Output: "done"}, then: "\x1b[1mdo\x1b[31mne\x1b[m\r\n", met: "output", text: "done", cursor: 15 - 4 + 2},
		"the screen":                {in: api.SessionWaitInput{Screen: "^b c$"}, before: "a\r\n", then: "b\x1b[1Cc", met: "screen", text: "b c"},
		"the end":                   {in: api.SessionWaitInput{Exit: true}, over: true, met: "exit"},
		"output before the end":     {in: api.SessionWaitInput{Output: "last$"}, then: "last", over: true, met: "output", text: "last", cursor: 4},
		"the screen before the end": {in: api.SessionWaitInput{Screen: "last$"}, then: "last", over: true, met: "screen", text: "last"},
		"no output before the end":  {in: api.SessionWaitInput{Output: "never", IdleMS: 3_600_000}, then: "last", over: true},
		"idle":                      {in: api.SessionWaitInput{IdleMS: 60_000}, before: "a", met: "idle"},
		"hostile text":              {in: api.SessionWaitInput{Output: "x"}, then: strings.Repeat("\x1b]0;", 50_000) + "\ax.", met: "output", text: "x", cursor: 200_002},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScreen(t, screenOptions{kind: Bash})
				s.print(c.before)
				result := await(t, s, c.in)
				synctest.Wait()
				s.print(c.then)
				if c.over {
					synctest.Wait()
					close(s.over)
				}
				out := result()
				if c.cursor == 0 {
					c.cursor = s.End()
				}
				if out.Met != c.met || out.Text != c.text || out.NextCursor != c.cursor {
					t.Errorf("%+v", out)
				}
			})
		})
	}
}

func TestForegroundNamesTheProgram(t *testing.T) {
	for name, c := range map[string]struct {
		kind         Kind
		shell, child string
		printed      string
		look         pty.Look
		prompt       bool
		program      string
	}{
		"a marked prompt":        {kind: Bash, printed: marked, look: shellWait, prompt: true},
		"a child":                {kind: Bash, child: "/usr/bin/vim x", printed: marked + starts, look: pty.Look{PID: childPID}, program: "vim"},
		"a child that reads":     {kind: Bash, child: "psql", printed: marked + starts + "db=# ", look: readsLine, program: "psql"},
		"a builtin":              {kind: Bash, printed: marked + "\x1b]633;E;read -r x;n\a" + starts, look: pty.Look{Reads: true, Own: true, PID: shellPID, Canonical: true}, program: "read"},
		"a shell in the shell":   {kind: Bash, child: "sh", printed: marked + starts + "$ ", look: pty.Look{Reads: true, PID: childPID, Canonical: true}, prompt: true},
		"a remote prompt":        {kind: Bash, child: "ssh host", printed: marked + starts + "far$ ", look: pty.Look{Reads: true, PID: childPID, Polls: true}, prompt: true},
		"a remote program":       {kind: Bash, child: "ssh host", printed: marked + starts + "Name: ", look: pty.Look{Reads: true, PID: childPID, Polls: true}, program: "ssh"},
		"a shell without marks":  {kind: None, shell: "sh", printed: "$ ", look: shellWait, prompt: true},
		"a program of its own":   {kind: None, shell: "top -d 1", printed: "x", look: pty.Look{Own: true, PID: shellPID}, program: "top"},
		"a login shell's secret": {kind: Bash, child: "-su", printed: marked + starts + "Password: ", look: pty.Look{Reads: true, Hidden: true, PID: childPID}, program: "su"},
		"nothing known":          {kind: Bash, printed: marked + starts, look: pty.Look{}},
		"its own screen":         {kind: Bash, child: "bash", printed: marked + starts + "\x1b[?1049h$ ", look: readsLine, program: "bash"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScreen(t, screenOptions{kind: c.kind, shell: strings.Fields(c.shell), child: strings.Fields(c.child)})
				s.print(c.printed)
				time.Sleep(time.Minute)
				s.programs.set(c.look)
				out, err := s.shell.Foreground(t.Context())
				if err != nil || out.Prompt != c.prompt || out.Program != c.program {
					t.Errorf("%+v, %v", out, err)
				}
			})
		})
	}
}

func TestQuestionOfStartupFilesIsNotTakenForAPrompt(t *testing.T) {
	for printed, prompt := range map[string]bool{"update? [y/N] ": false, "": false, "me@host:~$ ": true} {
		synctest.Test(t, func(t *testing.T) {
			s := newScreen(t, screenOptions{kind: Bash})
			s.shell.o.Nonce = ""
			s.print(printed)
			s.programs.set(shellWait) // also of read -t, which polls
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := s.shell.AwaitPrompt(ctx); (err == nil) != prompt {
				t.Errorf("after %q: %v", printed, err)
			}
		})
	}
}

// A program need not print anything when it gets an answer.
func TestNeedIsPolledUntilTheInputHasItsEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(t, screenOptions{kind: Bash})
		var changes atomic.Int32 // of the need: the program may be named at the same time
		var last atomic.Value
		last.Store(NeedNothing)
		s.shell.o.Changed = func() {
			if need := s.shell.Need(); last.Swap(need) != need {
				changes.Add(1)
			}
		}
		s.print(marked + starts + "Name: ")
		changes.Store(0)
		s.programs.set(readsLine)
		time.Sleep(time.Second)
		if s.shell.Need() != NeedInput || changes.Load() != 1 {
			t.Errorf("waits for %q after its question, %d changes", s.shell.Need(), changes.Load())
		}
		s.shell.NoteInput([]byte("x\r"), false)
		time.Sleep(quietGap + quietGap/2)
		s.programs.set(pty.Look{PID: childPID})
		time.Sleep(maxAnswerWait)
		if s.shell.Need() != NeedNothing || changes.Load() != 2 {
			t.Errorf("waits for %q after its answer, %d changes", s.shell.Need(), changes.Load())
		}
		s.programs.set(readsLine)
		UpdateNeeds(t.Context(), []*Shell{s.shell})
		if s.shell.Need() != NeedInput {
			t.Error("a listing does not poll it")
		}
		s.programs.set(pty.Look{})
		if UpdateNeeds(t.Context(), []*Shell{s.shell}); s.shell.Need() != NeedInput {
			t.Error("a listing polls again at once")
		}
		time.Sleep(2 * needFresh)
		if UpdateNeeds(t.Context(), []*Shell{s.shell}); s.shell.Need() != NeedNothing {
			t.Error("a later listing does not poll again")
		}
	})
}

func TestCursorOfAnExitedSessionIsAfterAllOutput(t *testing.T) {
	term := newScreen(t, screenOptions{})
	term.print("done\r\n")
	term.shown = 0 // the screen has shown none of it yet
	close(term.over)
	w, err := NewConditions(api.SessionWaitInput{Exit: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := term.shell.Await(t.Context(), w); err != nil || out.Met != "exit" || out.NextCursor != term.End() {
		t.Errorf("got %+v, %v; want cursor %d", out, err, term.End())
	}
}

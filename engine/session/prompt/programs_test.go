package prompt

import (
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

func TestNeedOfAProgramInATerminalIsDetected(t *testing.T) {
	needs.FullRun(t)
	for name, c := range map[string]struct {
		need Need
		argv []string
	}{
		"cat":                 {NeedInput, []string{"cat"}},
		"no echo":             {NeedSecret, []string{"sh", "-c", "stty -echo; read x"}},
		"pipeline":            {NeedInput, []string{"sh", "-c", "cat | cat"}},
		"shell":               {NeedPrompt, []string{"bash", "--norc"}},
		"shell without marks": {NeedInput, []string{"sh", "-c", "exec bash --norc"}},
		"select":              {NeedInput, []string{"python3", "-c", "import select,sys,tty; tty.setraw(0); select.select([0],[],[])"}},
		"poll":                {NeedInput, []string{"python3", "-c", "import select,sys,tty; tty.setraw(0); p=select.poll(); p.register(0, select.POLLIN); p.poll()"}},
		"epoll":               {NeedInput, []string{"python3", "-c", "import select,sys,tty; tty.setraw(0); p=select.epoll(); p.register(0, select.EPOLLIN); p.poll()"}},
		"sleep":               {NeedNothing, []string{"sleep", "100"}},
		"loop":                {NeedNothing, []string{"sh", "-c", "while :; do :; done"}},
		"wait":                {NeedNothing, []string{"sh", "-c", "sleep 100 & wait"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			startLive(t, program(c.argv...)).wantNeed(c.need)
		})
	}
}

// wantNeed fails unless the program waits for need.
func (s *session) wantNeed(need Need) {
	s.t.Helper()
	in := api.SessionWaitInput{Input: true}
	if need == NeedNothing {
		in.TimeoutMS = 400
	}
	w := s.wait(in)
	if (w.Met == "input") != (need != NeedNothing) || w.Secret != (need == NeedSecret) || s.shell.Need() != need {
		s.t.Errorf("%+v, waits for %q, want %q", w, s.shell.Need(), need)
	}
}

func TestProgramPollingOnlyItsTerminalWaitsForInput(t *testing.T) {
	const socket = "import select,socket; s=socket.socket(); s.bind(('127.0.0.1',0)); s.listen(); "
	for name, c := range map[string]struct {
		need Need
		argv []string
	}{
		"read with a timeout":    {NeedInput, []string{"bash", "-c", "read -t 1000 -p 'Continue? ' x"}},
		"select with a question": {NeedInput, []string{"python3", "-c", "import select; print('Continue? ', end='', flush=True); select.select([0],[],[],1000)"}},
		"node with a question":   {NeedInput, []string{"node", "-e", "process.stdout.write('Continue? '); process.stdin.once('data', () => process.exit())"}},
		"select after a line":    {NeedNothing, []string{"python3", "-c", "import select; print('Working.', flush=True); select.select([0],[],[],1000)"}},
		"select with a socket":   {NeedNothing, []string{"python3", "-c", socket + "print('server> ', end='', flush=True); select.select([0,s],[],[],1000)"}},
		"node with a socket":     {NeedNothing, []string{"node", "-e", "require('net').createServer().listen(0, '127.0.0.1'); process.stdout.write('server> '); process.stdin.on('data', () => {})"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startLive(t, program(c.argv...))
			s.wait(api.SessionWaitInput{Output: "[?.>]", Since: new(int64)})
			s.wantNeed(c.need)
		})
	}
}

// A program's question is noticed, and so is its reaction to an answer, although it prints nothing
// and nobody asks.
func TestChangedNeedIsNoticed(t *testing.T) {
	for _, script := range []string{
		"stty -echo; read x; exec sleep 1000",
		"stty -echo; printf 'Password: '; read x; sleep 1000",
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			s := startLive(t, program("sh", "-c", script))
			if strings.Contains(script, "printf") {
				s.awaitChangedNeed(NeedSecret)
			} else {
				s.wantNeed(NeedSecret)
				s.wait(api.SessionWaitInput{IdleMS: 400}) // no further poll is scheduled
			}
			s.write("word\n")
			s.awaitChangedNeed(NeedNothing)
		})
	}
}

// awaitChangedNeed waits until the shell reports a change and its need is want.
func (s *session) awaitChangedNeed(want Need) {
	s.t.Helper()
	for s.shell.Need() != want {
		wait.Receive(s.t, "a change of what the program needs", s.changed)
	}
}

func TestForegroundReportsTheProgramOfATerminal(t *testing.T) {
	needs.FullRun(t)
	for _, c := range []struct {
		argv []string
		want api.SessionForegroundOutput
	}{
		{[]string{"cat"}, api.SessionForegroundOutput{Program: "cat"}},
		{[]string{"sleep", "100"}, api.SessionForegroundOutput{Program: "sleep"}},
		{[]string{"bash", "--norc"}, api.SessionForegroundOutput{Prompt: true}},
		{[]string{"sh", "-c", "exec bash --norc"}, api.SessionForegroundOutput{Prompt: true}}, // prints no marks
		{[]string{"sh", "-c", "stty -echo; read x"}, api.SessionForegroundOutput{Program: "sh"}},
	} {
		t.Run(strings.Join(c.argv, " "), func(t *testing.T) {
			t.Parallel()
			startLive(t, program(c.argv...)).awaitForeground(c.want)
		})
	}
}

func TestForegroundReportsTheProgramRunByAShell(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	s := startLive(t, program("bash", "--norc"))
	s.awaitPrompt()
	for _, c := range [][2]string{{"cat", "cat"}, {"read x", "read"}, {"sleep 100", "sleep"}} {
		s.write(c[0] + "\r")
		s.awaitForeground(api.SessionForegroundOutput{Program: c[1]})
		s.write("\x03")
		s.awaitForeground(api.SessionForegroundOutput{Prompt: true})
	}
}

// awaitForeground waits until a program has the terminal, which no event reports.
func (s *session) awaitForeground(want api.SessionForegroundOutput) {
	s.t.Helper()
	wait.Poll(s.t, "the program in the foreground", func() (api.SessionForegroundOutput, bool) {
		got, err := s.shell.Foreground(s.t.Context())
		return got, err == nil && got == want
	})
}

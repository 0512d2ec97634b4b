package prompt

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/system/pty"
)

func TestRunningNamesTheCommandTheShellRuns(t *testing.T) {
	secret := strings.Repeat("v", maxRunning)
	const line = "\x1b]633;E;make test;n\a"
	for name, c := range map[string]struct {
		printed string
		argv    []string
		look    pty.Look
		want    string
	}{
		"a command":             {printed: marked + line + starts, look: pty.Look{PID: childPID}, want: "make test"},
		"a builtin":             {printed: marked + line + starts, look: pty.Look{PID: shellPID, Own: true}, want: "make test"},
		"several lines":         {printed: marked + "\x1b]633;E;for i in 1 2\\x0ado echo $i\\x0adone;n\a" + starts, want: "for i in 1 2"},
		"at the prompt":         {printed: marked + line + starts + "ok\r\n\x1b]133;D;0;aid=n\a" + marked, look: shellWait},
		"without marks":         {argv: []string{"/usr/bin/vim", "a b.go"}, look: pty.Look{PID: childPID}, want: "vim 'a b.go'"},
		"prompt without marks":  {look: shellWait},
		"line is not reported":  {printed: marked + starts, argv: []string{"/bin/deploy", "k1"}, look: pty.Look{PID: childPID}, want: "deploy"},
		"a password":            {printed: marked + "\x1b]633;E;deploy --token " + secret + ";n\a" + starts, want: "deploy --token ***"},
		"a private command":     {printed: marked + "\x1b]633;E; deploy k1;n\a" + starts, argv: []string{"deploy", "k1"}, look: pty.Look{PID: childPID}},
		"a private program":     {argv: []string{"vault", "k1"}, look: pty.Look{PID: childPID}},
		"a mark without secret": {printed: marked + "\x1b]633;E;rm -rf;x\a\x1b]133;C;aid=x\a", look: shellWait},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScreen(t, screenOptions{kind: Bash, child: c.argv})
				s.shell.o.Show = func(line string) string {
					if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "vault") {
						return ""
					}
					return strings.ReplaceAll(line, secret, "***")
				}
				s.programs.set(c.look)
				s.print(c.printed)
				time.Sleep(time.Second)
				if got := s.shell.Running(); got != c.want {
					t.Errorf("it runs %q, want %q", got, c.want)
				}
			})
		})
	}
}

// Most commands take no time, and their names would only flicker.
func TestShortCommandIsNotNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(t, screenOptions{kind: Bash})
		var named atomic.Int32
		s.shell.o.Changed = func() {
			if s.shell.Running() != "" {
				named.Add(1)
			}
		}
		s.print(marked)
		time.Sleep(time.Minute)
		s.print("\x1b]633;E;ls;n\a" + starts)
		time.Sleep(runningAfter / 2)
		s.print("\x1b]133;D;0;aid=n\a" + marked)
		time.Sleep(time.Minute)
		if named.Load() > 0 {
			t.Error("a command of 100 ms was named")
		}
		s.print("\x1b]633;E;sleep 1;n\a" + starts)
		time.Sleep(time.Minute)
		if named.Load() == 0 {
			t.Error("a longer one was not")
		}
	})
}

func TestCommandIsNamedAfterShortOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(t, screenOptions{kind: Bash})
		var named atomic.Value
		s.shell.o.Changed = func() { named.Store(s.shell.Running()) }
		s.print(marked)
		time.Sleep(time.Minute)
		for range 3 {
			s.print("\x1b]633;E;true;n\a" + starts)
			time.Sleep(runningAfter / 4)
			s.print("\x1b]133;D;0;aid=n\a" + marked)
		}
		s.print("\x1b]633;E;sleep 25;n\a" + starts)
		time.Sleep(2 * runningAfter)
		if got := named.Load(); got != "sleep 25" {
			t.Errorf("the last change announced %q", got)
		}
	})
}

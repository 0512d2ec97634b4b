package terminal

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tandem/tests/places"
)

func TestRemoteFolderIsNotMistakenForALocalOne(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{
		own: true, "LOCALHOST": true, "localhost.localdomain": true, "": true, "far." + own: false, own + "-2": false,
	} {
		if got := isLocal(host); got != want {
			t.Errorf("%q is here: %v", host, got)
		}
	}
	for _, test := range []struct {
		a, b string
		want bool
	}{{"box", "box.lan", true}, {"Box.LAN", "box.lan", true}, {"box.lan", "box.work", false}, {"box", "boxes", false}} {
		if got := sameHost(test.a, test.b); got != test.want {
			t.Errorf("%q is %q: %v", test.a, test.b, got)
		}
	}
}

func TestFolderReportNeedsTheShellOrTheKernel(t *testing.T) {
	const between, running = "\x1b]133;D;0;aid=n\a", "\x1b]633;E;cat f;n\a\x1b]133;C;aid=n\a"
	for name, c := range map[string]struct{ output, want string }{
		"by the shell":                {between + "\x1b]7;file:///shell\a", "/shell"},
		"by a command":                {between + running + "\x1b]7;file:///evil\a", "/before"},
		"by a command, with a mark":   {between + running + "\x1b]133;D;0;aid=x\a\x1b]7;file:///evil\a", "/before"},
		"by a job at the prompt":      {between + "\x1b]133;A;aid=n\a$ \x1b]133;B;aid=n\a\x1b]7;file:///evil\a", "/before"},
		"without marks":               {"\x1b]7;file:///evil\a\x1b]9;9;/evil\a\x1b]1337;CurrentDir=/evil\a\x1b]633;P;Cwd=/evil\a", "/before"},
		"by a shell of another host":  {between + "\x1b]7;file://far.example/evil\a", "/before"},
		"by a shell, in another form": {between + "\x1b]633;P;Cwd=/shell\a", "/shell"},
	} {
		l := &memoryLog{}
		s := newMemorySession(t, l, func(o *testOptions) { o.Nonce = "n" })
		s.SetCWD("/before")
		s.output(l, c.output)
		if _, err := s.Rows(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := s.CWD(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestFolderReportOfTheForegroundProgramIsAccepted(t *testing.T) {
	places.Take(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	master, slave := rawPTY(t)
	child := exec.Command("sleep", "1000")
	child.Dir, child.Stdin, child.SysProcAttr = dir, slave, &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = child.Process.Kill() // fails only if it has exited
		_ = child.Wait()
	})
	l := &memoryLog{}
	s := newMemorySession(t, l, func(o *testOptions) { o.Master = master })
	for _, path := range []string{dir, filepath.Dir(dir)} {
		s.output(l, "\x1b]7;file://"+path+"\a")
		if _, err := s.Rows(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := s.CWD(); got != dir {
			t.Errorf("after a report of %s: %q", path, got)
		}
	}
}

func TestLastStateIsReadFromTheLog(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	at := func(folder string) string { return "\x1b]133;D;aid=n\a\x1b]7;file://" + own + folder + "\a" }
	const shown, running = "\x1b]133;A;aid=n\a$ \x1b]133;B;aid=n\a", "\x1b]633;E;vim -p a b;n\a\x1b]133;C;aid=n\a"
	for name, c := range map[string]struct {
		log             string
		folder, command string
	}{
		"at the prompt":              {at("/a") + shown + running + "\x1b]133;D;0;aid=n\a" + at("/b c") + shown, "/b c", ""},
		"running":                    {at("/a") + shown + running + "\x1b[?1049hscreen", "/a", "vim -p a b"},
		"terminated by ST":           {strings.ReplaceAll(at("/a")+shown+running, "\a", "\x1b\\"), "/a", "vim -p a b"},
		"on another machine":         {at("/a") + shown + running + "\x1b]7;file://far.example/b\a\x1b]133;A;aid=other\a", "/a", "vim -p a b"},
		"marks of another shell":     {at("/a") + "\x1b]633;E;rm;x\a\x1b]133;C;aid=x\a", "/a", ""},
		"no reports":                 {"plain text\r\n", "", ""},
		"cut off report":             {at("/a") + shown + "\x1b]7;file://" + own + "/b", "/a", ""},
		"report without end, output": {at("/a") + "\x1b]7;" + strings.Repeat("x", 2*maxReport) + at("/b"), "/b", ""},
		"Visual Studio Code's marks": {"\x1b]633;D;aid=n\a\x1b]1337;RemoteHost=me@" + own + "\a\x1b]633;P;Cwd=/c\a", "/c", ""},
		"output of a command":        {at("/a") + shown + running + "\x1b]7;file://" + own + "/evil\a", "/a", "vim -p a b"},
		"output without marks":       {"\x1b]7;file://" + own + "/evil\a", "", ""},
	} {
		l := &memoryLog{}
		l.add(c.log)
		if got := ReadLastState(l, 0, nil, "n"); got.Folder != c.folder || got.Command != c.command {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestCheckpointContainsTheLastState(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	l := &memoryLog{}
	s := newMemorySession(t, l, func(o *testOptions) { o.Nonce = "n" })
	s.output(l, "\x1b]133;D;aid=n\a\x1b]7;file://"+own+"/a%20b\a\x1b]633;E;make;n\a\x1b]133;C;aid=n\a")
	for l.End() < checkpointGap {
		s.output(l, fmt.Sprintln("compiling", l.End()))
	}
	s.onScreen(t.Context(), func(Emulator) { s.screen.catchUp(); s.screen.maybeCheckpoint(); s.screen.saves.Wait() })
	saved, _ := l.ReadCheckpoints("a")
	if len(saved) == 0 {
		t.Fatal("no checkpoint")
	}
	after := &memoryLog{text: make([]byte, l.End())} // the reports are only in the checkpoint
	if got := ReadLastState(after, 0, saved, "n"); got.Folder != "/a b" || got.Command != "make" {
		t.Errorf("read %+v", got)
	}
}

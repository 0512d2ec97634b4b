package terminal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/vt"
)

func TestRemoteFolderIsNotMistakenForALocalOne(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		host, path string
		want       bool
	}{
		{own, "/wherever", true}, {"LOCALHOST", "/wherever", true}, {"localhost.localdomain", "/wherever", true},
		{"far." + own, dir, false}, {own + "-2", dir, false},
		{"", dir, true}, {"", file, false}, {"", filepath.Join(dir, "gone"), false},
	} {
		if got := isLocalFolder(vt.CWDEvent{Host: test.host, Path: test.path}); got != test.want {
			t.Errorf("%q on %q is here: %v", test.path, test.host, got)
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

func TestRemoteFoldersDoNotChangeTheSessionsFolder(t *testing.T) {
	dir := t.TempDir()
	k := newFacts(Options{Touched: func() {}})
	k.setCWD(dir)
	for _, e := range []vt.CWDEvent{{Host: "far.example", Path: "/"}, {Path: filepath.Join(dir, "gone")}} {
		if k.noteEvent(e); k.all().CWD != dir {
			t.Errorf("%+v made it go to %s", e, k.all().CWD)
		}
	}
}

func TestLastStateIsReadFromTheLog(t *testing.T) {
	own, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	at := func(folder string) string { return "\x1b]7;file://" + own + folder + "\a" }
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
		"Visual Studio Code's marks": {"\x1b]1337;RemoteHost=me@" + own + "\a\x1b]633;P;Cwd=/c\a", "/c", ""},
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
	s := newMemorySession(t, l, func(o *Options) { o.Nonce = "n" })
	s.output(l, "\x1b]7;file://"+own+"/a%20b\a\x1b]633;E;make;n\a\x1b]133;C;aid=n\a")
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

package terminal

import (
	"os"
	"path/filepath"
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

package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// giveAway makes path belong to a user other than me, the uid it returns.
func giveAway(t *testing.T, path string) (me int) {
	t.Helper()
	if me = os.Geteuid(); me != 0 {
		return me + 1
	}
	if err := os.Lchown(path, 4242, 4242); err != nil {
		t.Fatal(err)
	}
	return 0
}

// makeOwned creates a project file of this user, two folders above the start of the search.
func makeOwned(t *testing.T) (file, middle, from string) {
	t.Helper()
	top := t.TempDir()
	middle = filepath.Join(top, "a")
	file, from = filepath.Join(top, "Procfile"), filepath.Join(middle, "b")
	if err := os.MkdirAll(from, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("web: sleep 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return file, middle, from
}

func TestProjectFilesOfOthersAreNotTrusted(t *testing.T) {
	file, _, from := makeOwned(t)
	if err := CheckTrust(file, from); err != nil {
		t.Errorf("own file: %v", err)
	}
	for name, pick := range map[string]func(file, middle, from string) string{
		"file":                 func(file, _, _ string) string { return file },
		"folder of the file":   func(file, _, _ string) string { return filepath.Dir(file) },
		"folder between":       func(_, middle, _ string) string { return middle },
		"folder of the search": func(_, _, from string) string { return from },
	} {
		file, middle, from := makeOwned(t)
		path := pick(file, middle, from)
		me := giveAway(t, path)
		err := checkTrustAs(file, from, me)
		if err == nil || !strings.Contains(err.Error(), "owned by ") || !strings.Contains(err.(*Error).Hint, "--trust") {
			t.Errorf("%s: %v", name, err)
		}
		if me == 0 && !strings.Contains(err.Error(), path+": owned by user 4242") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLinkOfAnotherUserIsNotTrusted(t *testing.T) {
	file, _, from := makeOwned(t)
	link := filepath.Join(from, "Procfile")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := CheckTrust(link, from); err != nil {
		t.Errorf("own file: %v", err)
	}
	if err := checkTrustAs(link, from, giveAway(t, link)); err == nil || !strings.Contains(err.Error(), "owned by ") {
		t.Errorf("%v", err)
	}
}

func TestRootsProjectFilesAreTrusted(t *testing.T) {
	if err := checkTrustAs("/etc/passwd", "/etc", 4242); err != nil {
		t.Error(err)
	}
}

func TestWorldWritableProjectFilesAreNotTrusted(t *testing.T) {
	for _, c := range []struct {
		mode os.FileMode
		bad  bool
	}{{0o777, true}, {0o772, true}, {0o777 | os.ModeSticky, false}, {0o775, false}} {
		file, middle, from := makeOwned(t)
		if err := os.Chmod(middle, c.mode); err != nil {
			t.Fatal(err)
		}
		err := CheckTrust(file, from)
		if (err != nil) != c.bad || err != nil && !strings.Contains(err.Error(), middle+": anyone can write to it") {
			t.Errorf("a folder with %v: %v", c.mode, err)
		}
	}
	file, _, from := makeOwned(t)
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := CheckTrust(file, from); err == nil || !strings.Contains(err.Error(), file+": anyone can write to it") {
		t.Errorf("a file: %v", err)
	}
}

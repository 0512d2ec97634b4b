package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// somebody makes path belong to another user than the one who is returned.
func somebody(t *testing.T, path string) (me int) {
	t.Helper()
	if me = os.Geteuid(); me != 0 {
		return me + 1
	}
	if err := os.Lchown(path, 4242, 4242); err != nil {
		t.Fatal(err)
	}
	return 0
}

// owned makes a project file two folders above where the search begins, of the
// user who runs the test.
func owned(t *testing.T) (file, middle, from string) {
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
	file, _, from := owned(t)
	if err := Trusted(file, from); err != nil {
		t.Errorf("one's own: %v", err)
	}
	for name, pick := range map[string]func(file, middle, from string) string{
		"file":                 func(file, _, _ string) string { return file },
		"folder of the file":   func(file, _, _ string) string { return filepath.Dir(file) },
		"folder between":       func(_, middle, _ string) string { return middle },
		"folder of the search": func(_, _, from string) string { return from },
	} {
		file, middle, from := owned(t)
		path := pick(file, middle, from)
		me := somebody(t, path)
		err := trusted(file, from, me)
		if err == nil || !strings.Contains(err.Error(), "owned by ") || !strings.Contains(err.(*Error).Hint, "--trust") {
			t.Errorf("%s: %v", name, err)
		}
		if me == 0 && !strings.Contains(err.Error(), path+": owned by user 4242") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestALinkOfAnotherUserIsNotTrusted(t *testing.T) {
	file, _, from := owned(t)
	link := filepath.Join(from, "Procfile")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := Trusted(link, from); err != nil {
		t.Errorf("one's own: %v", err)
	}
	if err := trusted(link, from, somebody(t, link)); err == nil || !strings.Contains(err.Error(), "owned by ") {
		t.Errorf("%v", err)
	}
}

func TestRootsProjectFilesAreTrusted(t *testing.T) {
	if err := trusted("/etc/passwd", "/etc", 4242); err != nil {
		t.Error(err)
	}
}

func TestProjectFilesThatEverybodyWritesAreNotTrusted(t *testing.T) {
	for _, c := range []struct {
		mode os.FileMode
		bad  bool
	}{{0o777, true}, {0o772, true}, {0o777 | os.ModeSticky, false}, {0o775, false}} {
		file, middle, from := owned(t)
		if err := os.Chmod(middle, c.mode); err != nil {
			t.Fatal(err)
		}
		err := Trusted(file, from)
		if (err != nil) != c.bad || err != nil && !strings.Contains(err.Error(), middle+": anyone can write to it") {
			t.Errorf("a folder with %v: %v", c.mode, err)
		}
	}
	file, _, from := owned(t)
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Trusted(file, from); err == nil || !strings.Contains(err.Error(), file+": anyone can write to it") {
		t.Errorf("a file: %v", err)
	}
}

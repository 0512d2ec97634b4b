package trust

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestFileOfAnotherUserIsNotTrusted(t *testing.T) {
	dir := t.TempDir()
	folder, linked := filepath.Join(dir, "folder"), filepath.Join(dir, "linked")
	path, target := filepath.Join(folder, "config.toml"), filepath.Join(linked, "config.toml")
	reset := func() {
		t.Helper()
		for _, d := range []string{folder, linked} {
			if err := os.RemoveAll(d); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, nil, 0o664); err != nil {
			t.Fatal(err)
		}
	}
	chmod := func(path string, mode os.FileMode) func() error {
		return func() error { return os.Chmod(path, mode) }
	}
	link := func() error {
		if err := os.Rename(path, target); err != nil {
			return err
		}
		return os.Symlink(target, path)
	}
	all := func(steps ...func() error) func() error {
		return func() error {
			for _, s := range steps {
				if err := s(); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for name, c := range map[string]struct {
		do   func() error
		want string
	}{
		"as it should be":          {all(), ""},
		"everybody's":              {chmod(path, 0o666), "anyone can write to it; run chmod o-w " + path},
		"everybody's folder":       {chmod(folder, 0o777), folder + ": anyone can write to it"},
		"a sticky folder":          {chmod(folder, 0o777|os.ModeSticky), ""},
		"a link":                   {link, ""},
		"a link to everybody's":    {all(link, chmod(target, 0o666)), "anyone can write to it"},
		"a link into their folder": {all(link, chmod(linked, 0o777)), linked + ": anyone can write to it"},
		"no file":                  {func() error { return os.Remove(path) }, ""},
	} {
		reset()
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		err := check(path, os.Geteuid())
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	reset()
	me := os.Geteuid()
	if me == 0 { // root's files are everybody's friends
		me = 4242
		if err := os.Chown(path, 4243, -1); err != nil {
			t.Fatal(err)
		}
	} else {
		me++
	}
	if err := check(path, me); err == nil || !strings.Contains(err.Error(), "owned by ") || !strings.Contains(err.Error(), "chown") {
		t.Errorf("another user's: %v", err)
	}
	if info, err := os.Stat("/"); err == nil && info.Sys().(*syscall.Stat_t).Uid == 0 && Owner(info, 4242) != nil {
		t.Error("root's is not trusted")
	}
}

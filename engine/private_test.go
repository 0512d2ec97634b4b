package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
)

func TestDataFolderIsClosedAgain(t *testing.T) {
	m := startInMemory(t)
	for _, mode := range []os.FileMode{0o777, 0o750} {
		opened := false
		for e, err := range m.client.Watch(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == api.EventNotice && strings.HasSuffix(e.Notice, "; it is closed again") {
				break
			}
			if !opened { // the watch has begun
				opened = true
				if err := os.Chmod(m.dir, mode); err != nil {
					t.Fatal(err)
				}
			}
		}
		if info, err := os.Stat(m.dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("opened with %v, it is %v, %v", mode, info.Mode(), err)
		}
	}
}

func TestConfigurationFolderIsNotOpenedFurther(t *testing.T) {
	for _, test := range []struct{ before, changed, after os.FileMode }{
		{0o700, 0o755, 0o700}, {0o755, 0o755, 0o755}, {0o755, 0o775, 0o700}, {0o750, 0o755, 0o700}, {0o777, 0o777, 0o700}, {0o755, 0o700, 0o700},
	} {
		dir := t.TempDir()
		set := func(mode os.FileMode) {
			if err := os.Chmod(dir, mode); err != nil {
				t.Fatal(err)
			}
		}
		set(test.before)
		modes := Options{DataDir: t.TempDir(), Policy: filepath.Join(dir, "policy.toml")}.folderModes()
		set(test.changed)
		var told []string
		modes.restore(func(text string) { told = append(told, text) })
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != test.after {
			t.Errorf("%04o, then %04o: it is %v, %v", test.before, test.changed, info.Mode(), err)
		}
		// The data folder lies in a folder of t.TempDir, which is open to others.
		if n := strings.Count(strings.Join(told, "\n"), dir); (n == 1) != (test.after != test.changed) {
			t.Errorf("%04o, then %04o: told %q", test.before, test.changed, told)
		}
	}
}

package files

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/panestest"
)

// A slowFile is an engine with one file, which takes a second to write.
type slowFile struct {
	panes.Engine
	fails string // text that cannot be written

	mu     sync.Mutex
	text   string
	writes int
}

func (f *slowFile) ReadFile(context.Context, string, int64, int64) (api.FilesReadOutput, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return api.FilesReadOutput{Text: f.text}, nil
}

func (f *slowFile) WriteFile(_ context.Context, _ string, data []byte, _ bool) error {
	time.Sleep(time.Second)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.writes++; string(data) == f.fails {
		return api.Errorf(api.CodeUnavailable, "disk full")
	}
	f.text = string(data)
	return nil
}

func (f *slowFile) countWrites() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.writes
}

func TestQuickChangesOfBookmarksAreAllSaved(t *testing.T) {
	for name, test := range map[string]struct {
		toggles []string
		fails   string
		want    string
	}{
		"two removed":         {[]string{"/one", "/two"}, "", "/three\n"},
		"two added":           {[]string{"/four", "/five"}, "", "/one\n/two\n/three\n/four\n/five\n"},
		"one of each":         {[]string{"/two", "/four"}, "", "/one\n/three\n/four\n"},
		"one there and back":  {[]string{"/four", "/one", "/four"}, "", "/two\n/three\n"},
		"one after a failure": {[]string{"/one", "/two"}, "/two\n/three\n", "/one\n/three\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			env, engine := &panestest.Env{SessionID: "1"}, &slowFile{text: "/one\n/two\n/three\n", fails: test.fails}
			env.API = engine
			d := panestest.DriveDialogs(t, env, 80, 24)
			b := bookmarks{env: env}
			for _, path := range test.toggles {
				d.Run(b.toggle(path))
			}
			d.Wait(name, func() bool { return engine.countWrites() == len(test.toggles) && len(b.toggles) == 0 })
			if engine.text != test.want {
				t.Errorf("%s: saved %q, want %q", name, engine.text, test.want)
			}
		})
	}
}

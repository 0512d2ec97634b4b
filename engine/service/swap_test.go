package service

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tandem/engine/api"
)

// A swapping is a machine on which a program swaps a file or folder with a link before one of the
// calls. It swaps them back before the next call, or never.
type swapping struct {
	client
	mu      sync.Mutex
	find    func() string // the path to swap; "" if nothing is there yet
	link    string        // target of the link
	at      int           // the call to swap before, from 1
	undo    bool
	calls   int
	swapped string
}

func (s *swapping) Do(ctx context.Context, name string, effect api.Effect, in, out any) error {
	if err := s.beforeCall(); err != nil {
		return err
	}
	return s.client.Do(ctx, name, effect, in, out)
}

func (s *swapping) beforeCall() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	switch {
	case s.calls == s.at:
		if s.swapped = s.find(); s.swapped != "" {
			return errors.Join(os.Rename(s.swapped, s.link+".aside"), os.Symlink(s.link, s.swapped))
		}
	case s.calls == s.at+1 && s.undo && s.swapped != "":
		return errors.Join(os.Remove(s.swapped), os.Rename(s.link+".aside", s.swapped))
	}
	return nil
}

// A program swaps the source or the destination of a copy with a link to the outside.
func TestSwappedLinkCannotRedirectATransferBetweenMachines(t *testing.T) {
	s := &swapping{}
	c, dir := startWithBox(t, func(c client) api.Engine { s.client = c; return s })
	outside := dir + "/outside"
	glob := func(pattern string) func() string {
		return func() string {
			found, _ := filepath.Glob(dir + pattern) // a valid pattern
			return strings.Join(found, "")
		}
	}
	for name, test := range map[string]struct {
		find  func() string
		to    string // what the link leads to, below outside
		first int    // the first call to swap before; earlier links are those that the user names
	}{
		"the source":               {glob("/here/from"), "", 1},
		"a folder of the source":   {glob("/here/from/sub"), "", 1},
		"the folder of the source": {glob("/here"), "/here", 4},
		"the temporary folder":     {glob("/to/.*.tmp"), "", 1},
		"the copy":                 {glob("/to/.*.tmp/new"), "", 1},
		"a folder of the copy":     {glob("/to/.*.tmp/new/sub"), "", 1},
		"the folder of the copy":   {glob("/to"), "/to", 2},
	} {
		t.Run(name, func(t *testing.T) {
			for s.at = test.first; s.at == test.first || s.calls >= s.at; s.at++ {
				for _, s.undo = range []bool{false, true} {
					for _, part := range []string{"/here", "/to", "/outside", "/outside.aside", "/outside/here.aside", "/outside/to.aside"} {
						if err := os.RemoveAll(dir + part); err != nil {
							t.Fatal(err)
						}
					}
					for _, file := range []string{"/here/from/a", "/here/from/sub/secret", "/to/x"} {
						writeFile(t, dir+file, "own")
					}
					for _, file := range []string{"/secret", "/sub/secret", "/here/from/secret", "/to/x"} {
						writeFile(t, outside+file, "secret")
					}
					s.find, s.link, s.calls, s.swapped = test.find, outside+test.to, 0, ""
					in := api.FilesTransferInput{Kind: api.TransferMove, Items: []api.FileMove{{Path: "/box:" + dir + "/here/from", To: "/box:" + dir + "/to/new"}}}
					if out, err := api.FilesTransferBetween.Call(t.Context(), c, in); err == nil && out.Job != "" {
						call(t, c, api.FilesJob, api.FileJobInput{ID: out.Job, WaitMS: 60_000})
					}
					checkSecrets(t, dir, outside)
					if t.Failed() {
						t.Fatalf("swapped before call %d, and back: %t", s.at, s.undo)
					}
				}
			}
		})
	}
}

// checkSecrets fails if a secret is anywhere but in the folder outside, or something else is there.
func checkSecrets(t *testing.T, dir, outside string) {
	t.Helper()
	inside := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || strings.Contains(path, ".aside/") {
			return err
		}
		_, isOutside := strings.CutPrefix(path, outside+"/")
		if isOutside {
			inside++
		}
		if text := readText(t, path); (text == "secret") != isOutside {
			t.Errorf("%s has %q", path, text)
		}
		return nil
	})
	if err != nil || inside != 4 {
		t.Errorf("outside are %d files, %v", inside, err)
	}
}

package startrules

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/persist/store"
)

func newRecord(folder string) *store.Record {
	r := &store.Record{Name: "vault"}
	r.TTY, r.CWD = true, folder
	return r
}

func TestSessionsInPrivateFoldersArePrivate(t *testing.T) {
	home, other := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	for _, dir := range []string{"secrets/deep", "secrets-not", "open"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"secrets/out": other, "open/in": home + "/secrets/deep"} {
		if err := os.Symlink(to, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	var p Privacy
	p.SetFolders([]string{"~/secrets", "/nonexistent"})
	for folder, want := range map[string]bool{
		"/secrets": true, "/secrets/deep": true, "/secrets/out": true, "/open/in": true,
		"": false, "/open": false, "/secrets-not": false, "/open/../secrets": true,
	} {
		r := newRecord(filepath.Clean(home + folder))
		if err := p.Apply(t.Context(), r, Start{}); err != nil || r.Private != want {
			t.Errorf("%s: private %v, %v", folder, r.Private, err)
		}
	}
	p.SetFolders(nil)
	r := newRecord(home + "/secrets")
	if err := p.Apply(t.Context(), r, Start{}); err != nil || r.Private {
		t.Errorf("without private folders: %v, %v", r.Private, err)
	}
}

func TestPrivateSessionIsNotNamedAfterItsCommand(t *testing.T) {
	for named, want := range map[bool]string{false: "private", true: "vault"} {
		r := newRecord("/")
		if err := new(Privacy).Apply(t.Context(), r, Start{Private: true, Named: named}); err != nil || r.Name != want {
			t.Errorf("named %v: %s, %v", named, r.Name, err)
		}
	}
}

func TestStartThatCannotBePrivateIsRejected(t *testing.T) {
	folder := t.TempDir()
	agents := &Privacy{MayUse: func(context.Context, string) error { return errors.New("no") }}
	agents.SetFolders([]string{folder})
	restarts, noTerminal := newRecord("/"), newRecord("/")
	restarts.Restart.Policy, noTerminal.TTY = "always", false
	for name, c := range map[string]struct {
		p    *Privacy
		r    *store.Record
		in   Start
		want string
	}{
		"an agent asks":                {agents, newRecord("/"), Start{Private: true}, "only the user may"},
		"an agent in a private folder": {agents, newRecord(folder), Start{}, "sessions in " + folder + " are private"},
		"a sandbox":                    {new(Privacy), newRecord("/"), Start{Private: true, Sandbox: true}, "cannot have a sandbox"},
		"a restart policy":             {new(Privacy), restarts, Start{Private: true}, "cannot be restarted automatically"},
		"no terminal":                  {new(Privacy), noTerminal, Start{Private: true}, "only a session can be private"},
	} {
		err := c.p.Apply(t.Context(), c.r, c.in)
		if err == nil || !strings.Contains(err.Error(), c.want) || c.r.Private || api.AsError(err).Code == api.CodeInternal {
			t.Errorf("%s: %v", name, err)
		}
	}
	process := newRecord(folder)
	if process.TTY = false; agents.Apply(t.Context(), process, Start{}) != nil || process.Private {
		t.Error("a process without a terminal is private")
	}
}

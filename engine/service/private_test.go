package service

import (
	"context"
	"os"
	"testing"

	"tandem/engine/api"
	"tandem/engine/record/outputs"
)

// newPrivateRig returns a rig with a private session. Agents may not use it.
func newPrivateRig(t *testing.T) (*rig, api.Process) {
	r := newRig(t)
	mayUse := func(ctx context.Context, name string) error {
		if api.CallerOf(ctx).Agent() {
			return api.Errorf(api.CodeForbidden, "use %s: it is private", name)
		}
		return nil
	}
	r.control.Private.MayUse, r.starter.Privacy.MayUse = mayUse, mayUse
	return r, call(t, r, api.SessionStart, api.SessionStartInput{Private: true, Command: []string{"vault", "open"}, CWD: r.work})
}

func TestPrivateSessionIsStartedWithoutItsCommandInItsName(t *testing.T) {
	r, p := newPrivateRig(t)
	if p.Name != "private" || !p.IsPrivate() || p.Command != "vault open" || p.LogPath != "" {
		t.Errorf("started %+v", p)
	}
	tty := r.start(api.ProcessStartInput{TTY: true, Private: true, Name: "keys"})
	if tty.Name != "keys" || !tty.IsPrivate() {
		t.Errorf("started %+v", tty)
	}
	wantError(t, r, api.ProcessStart, api.ProcessStartInput{Private: true, Command: []string{"x"}, CWD: r.work}, api.CodeInvalid, "only a session can be private")
	wantError(t, r.agent(), api.SessionStart, api.SessionStartInput{Private: true, CWD: r.work}, api.CodeForbidden, "only the user may")
	wantError(t, r.agent(), api.SessionGet, api.IDInput{ID: p.ID}, api.CodeForbidden, "it is private")
}

func TestSessionStartedInAPrivateFolderIsPrivate(t *testing.T) {
	r := newRig(t)
	r.starter.Privacy.SetFolders([]string{r.work})
	if p := call(t, r, api.SessionStart, api.SessionStartInput{Command: []string{"vault"}, CWD: r.work}); !p.IsPrivate() {
		t.Errorf("in a private folder: %+v", p)
	}
}

func TestOutputOfPrivateSessionsIsNotSearched(t *testing.T) {
	r, _ := newPrivateRig(t)
	s := &Output{Control: r.control, MayRead: func(context.Context, string) bool { return true }, Searcher: outputs.Searcher{Logs: r.procs.Logs}}
	r.procs.Logs.OpenInMemory = func(string, int) (*os.File, error) {
		t.Error("the log is opened")
		return nil, os.ErrNotExist
	}
	s.Handle(r.mux)
	out := call(t, r, api.OutputSearch, api.OutputSearchInput{Pattern: api.Pattern{Text: "x"}})
	if len(out.Hits) != 0 || out.Skipped != 0 {
		t.Errorf("found %+v", out)
	}
}

func TestInputOfAPrivateSessionIsSecret(t *testing.T) {
	r, p := newPrivateRig(t)
	s := &Approvals{Control: r.control}
	if !s.ReadsSecret(t.Context(), p.ID) {
		t.Error("input of a private session would be recorded")
	}
}

package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/api/server"
)

// fakeRestores are the calls of a fake engine that restore and dismiss sessions.
type fakeRestores struct {
	restored  []api.SessionRestoreInput
	dismissed []api.SessionDismissInput
}

func (r *rig) handleRestores(mux *server.Mux) {
	server.Handle(mux, api.SessionRestore, func(_ context.Context, in api.SessionRestoreInput) (out api.SessionRestoreOutput, err error) {
		r.restored = append(r.restored, in)
		for _, id := range in.IDs {
			if id == "nobody" {
				out.Failed = append(out.Failed, api.RestoreFailure{ID: id, Error: "restore nobody: no reboot or crash ended it"})
				continue
			}
			out.Restored = append(out.Restored, api.RestoredSession{Process: api.Process{ID: "id-of-" + id, Name: id}, Folder: "/src", Note: "/gone is gone; the shell starts in /src."})
		}
		return out, nil
	})
	server.Handle(mux, api.SessionDismiss, func(_ context.Context, in api.SessionDismissInput) (api.Empty, error) {
		r.dismissed = append(r.dismissed, in)
		return api.Empty{}, nil
	})
}

func TestRestoreReportsEachSessionAndPassesVariables(t *testing.T) {
	r := newRig(t)
	if got := r.succeeds("restore", "build"); got != "build: restored in /src\n  /gone is gone; the shell starts in /src.\n" {
		t.Errorf("restore prints %q", got)
	}
	got, stderr, status := r.run("restore", "build", "nobody")
	if status != 1 || !strings.HasPrefix(got, "build: restored") || !strings.Contains(stderr, "restore nobody: no reboot or crash ended it") {
		t.Errorf("one that fails: status %d, %q, %q", status, got, stderr)
	}
	// Failures are errors, not an empty list.
	if got, stderr, status := r.run("restore", "nobody", "--json"); status != 1 || got != "" || readJSON(t, stderr).(map[string]any)["message"] != "restore nobody: no reboot or crash ended it" {
		t.Errorf("as JSON, if all fail: status %d, %q, %q", status, got, stderr)
	}
	if got, stderr, status := r.run("restore", "build", "nobody", "--json"); status != 1 || len(readJSON(t, got).([]any)) != 1 || stderr == "" {
		t.Errorf("as JSON, if one fails: status %d, %q, %q", status, got, stderr)
	}
	if got, stderr, status := r.run("restore", "--all", "--json"); status != 0 || strings.TrimSpace(got) != "[]" || stderr != "" {
		t.Errorf("as JSON, with nothing to restore: status %d, %q, %q", status, got, stderr)
	}
	if got, stderr, status := r.run("new", "--restore", "build"); status != 0 || got != "id-of-build\n" || !strings.HasPrefix(stderr, "/gone is gone") {
		t.Errorf("new --restore: status %d, %q, %q", status, got, stderr)
	}
	if _, stderr, status := r.run("new", "--restore", "nobody"); status != 1 || !strings.Contains(stderr, "restore nobody") {
		t.Errorf("new --restore fails with %d, %q", status, stderr)
	}
	if _, stderr, status := r.run("restore", "--all"); status != 0 || !strings.Contains(stderr, "nothing to restore") {
		t.Errorf("restore --all: status %d, %q", status, stderr)
	}
	if got, _, _ := r.run("new", "--restore", "build", "--json"); !strings.Contains(got, `"id": "id-of-build"`) {
		t.Errorf("as JSON it prints %q", got)
	}
	environ := map[string]string{"SHELL": "/bin/sh", "LANG": "C.UTF-8"}
	var want []api.SessionRestoreInput
	for _, ids := range [][]string{{"build"}, {"build", "nobody"}, {"nobody"}, {"build", "nobody"}, nil, {"build"}, {"nobody"}, nil, {"build"}} {
		want = append(want, api.SessionRestoreInput{IDs: ids, All: ids == nil, Environ: environ, Umask: api.Umask()})
	}
	marks := map[string]bool{}
	for i := range r.restored {
		marks[r.restored[i].RestoreID] = true
		r.restored[i].RestoreID = ""
	}
	if len(marks) != len(want) || marks[""] {
		t.Errorf("%d calls have the marks %v", len(want), marks)
	}
	if diff := cmp.Diff(want, r.restored); diff != "" {
		t.Error(diff)
	}
}

func TestDismissCallsItsOperationWithTheSessions(t *testing.T) {
	r := newRig(t)
	r.succeeds("restore", "--dismiss", "build")
	r.succeeds("restore", "--dismiss", "--all")
	if diff := cmp.Diff([]api.SessionDismissInput{{IDs: []string{"build"}}, {All: true}}, r.dismissed); diff != "" || len(r.restored) > 0 {
		t.Error(diff, r.restored)
	}
}

func TestRestoreListsInterruptedSessions(t *testing.T) {
	r := newRig(t)
	for _, args := range [][]string{{"restore"}, {"restore", "--list"}} {
		if got, stderr, status := r.run(args...); status != 0 || got != "" || !strings.Contains(stderr, "nothing to restore") {
			t.Errorf("%v: status %d, %q, %q", args, status, got, stderr)
		}
	}
	rebooted := &api.Interruption{By: api.ByReboot, At: time.Date(2026, 5, 3, 8, 14, 0, 0, time.Local), Program: "nvim main.go"}
	interrupted := api.Process{ID: "0123456789ab", Kind: api.KindSession, Name: "build", State: api.StateExited, ExitUnknown: true, CWD: "/src", Interrupted: rebooted}
	r.sessions = []api.Process{interrupted, {ID: "ba9876543210", Kind: api.KindSession, Name: "other", State: api.StateRunning}}
	if got := r.succeeds("restore"); !strings.Contains(got, "build  May 3 08:14  reboot  /src    nvim main.go") || strings.Contains(got, "other") {
		t.Errorf("the list:\n%s", got)
	}
	if got := r.succeeds("restore", "--json"); !strings.Contains(got, `"program": "nvim main.go"`) {
		t.Errorf("as JSON:\n%s", got)
	}
	if got, _, _ := r.run("__complete", "restore", ""); !strings.HasPrefix(got, "build\t") || strings.Contains(got, "other") {
		t.Errorf("completions:\n%s", got)
	}
	r.processes = r.sessions
	for _, command := range []string{"ls", "ps"} {
		if got := r.succeeds(command); !strings.Contains(got, "interrupted") || strings.Contains(got, "unknown)") {
			t.Errorf("%s:\n%s", command, got)
		}
	}
}

func TestRestoreRejectsContradictions(t *testing.T) {
	r := newRig(t)
	for _, args := range [][]string{{"restore", "--all", "build"}, {"restore", "--list", "build"}, {"restore", "--list", "--all"}, {"restore", "--dismiss"},
		{"new", "--restore", "build", "sh"}, {"new", "--restore", "build", "--name", "x"}} {
		if _, _, status := r.run(args...); status != 2 {
			t.Errorf("%v: status %d", args, status)
		}
	}
}

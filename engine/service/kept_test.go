package service

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/record/kept"
	"tandem/engine/record/logs"
	"tandem/engine/record/outputs"
)

func TestKeptOutputIsServedByTheIDOfItsProcess(t *testing.T) {
	r := newRig(t)
	ready := make(chan struct{})
	close(ready)
	r.procs.Kept = kept.Start(context.Background(), r.dir, r.procs.Logs, slog.New(slog.DiscardHandler), func(text string) { t.Error(text) }, ready)
	t.Cleanup(r.procs.Kept.Close)
	path := filepath.Join(t.TempDir(), "process.log")
	if err := os.WriteFile(path, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	p := api.Process{ID: "00000000abcd", Name: "gone", Kind: api.KindProcess, State: api.StateExited, Actor: api.Person, StartedAt: at, ExitedAt: &at}
	if r.procs.Kept.Keep([]outputs.Target{{Process: p, Source: logs.Source{Path: path}}}) == nil {
		t.Fatal("nothing was kept")
	}
	if got := call(t, r, api.ProcessGet, api.IDInput{ID: p.ID}); got.Name != "gone" || got.State != api.StateExited {
		t.Errorf("got %+v", got)
	}
	if out := call(t, r, api.ProcessLog, api.ProcessLogInput{ID: p.ID}); out.Data != "one\ntwo\n" || out.Process == nil {
		t.Errorf("read %+v", out)
	}
	if out := call(t, r, api.ProcessLogs, api.ProcessLogsInput{IDs: []string{p.ID}}); out.Data != "one\ntwo\n" {
		t.Errorf("read %+v", out)
	}
	wantError(t, r, api.ProcessLog, api.ProcessLogInput{ID: "00000000dcba"}, api.CodeNotFound, "no session or process")
	call(t, r, api.ProcessRemove, api.IDInput{ID: p.ID})
	wantError(t, r, api.ProcessGet, api.IDInput{ID: p.ID}, api.CodeNotFound, "no session or process")
	wantError(t, r, api.ProcessRemove, api.IDInput{ID: p.ID}, api.CodeNotFound, "no session or process")
}

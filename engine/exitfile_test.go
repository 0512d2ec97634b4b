package engine

import (
	"os"
	"path/filepath"
	"testing"

	"tandem/engine/api"
	"tandem/engine/control/observe"
	"tandem/engine/control/supervise"
	"tandem/engine/system/keeper"
	"tandem/persist/store"
)

func TestExitUnknownToTheKeeperIsReadFromItsFile(t *testing.T) {
	t.Parallel()
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := data.Save(supervise.NewRecord("0123456789ab", api.KindProcess)); err != nil {
		t.Fatal(err)
	}
	text := `{"schema": 1, "identity": {"boot_id": "boot", "pid": 50, "start_time": 7}, "code": 3, "exited_at": "2024-01-02T03:04:05Z"}`
	if err := os.WriteFile(filepath.Join(data.Dir("0123456789ab"), "exit.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	withLoop(t, func(r *loop) {
		rec := record("0123456789ab")
		rec.TTY = false
		r.startRunning(rec)
		o := &observe.Observer{Store: data, Control: r.c}
		o.Report(keeper.Child{ID: rec.ID, PID: 50, StartTime: 7, BootID: "boot", Exit: &keeper.Exit{Unknown: true}})
		if p := r.view(rec.ID); p.State != api.StateExited || p.ExitCode == nil || *p.ExitCode != 3 {
			t.Errorf("ended as %+v", p)
		}
	})
}

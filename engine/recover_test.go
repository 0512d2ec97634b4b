package engine

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/keeper"
	"tandem/engine/supervise"
	"tandem/persist/store"
)

func TestAnExitThatTheKeeperDoesNotKnowIsReadFromItsFile(t *testing.T) {
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
		r.running(rec)
		h := &host{store: data, control: r.c}
		h.exited(keeper.Child{ID: rec.ID, PID: 50, StartTime: 7, BootID: "boot", Exit: &keeper.Exit{Unknown: true}})
		if p := r.view(rec.ID); p.State != api.StateExited || p.ExitCode == nil || *p.ExitCode != 3 {
			t.Errorf("ended as %+v", p)
		}
	})
}

func TestAChildWhoseRecordAndKeeperAreLostIsFoundByItsMark(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.run(api.ProcessStartInput{Command: sh("exec sleep 1000")})
	i := m.info()
	unix.Kill(i.EnginePID, unix.SIGSTOP)
	m.crash(i.KeeperPID)
	m.crash(i.EnginePID)
	record := filepath.Join(filepath.Dir(p.LogPath), "record.json")
	if err := os.WriteFile(record, []byte("not a record"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.activate()
	if now := m.process(p.ID); now.PID != p.PID || now.State != api.StateRunning {
		t.Errorf("became %+v", now)
	}
}

package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/tests/wait"
)

func TestChildWithoutRecordAndKeeperIsFoundByItsMark(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.startProcess(api.ProcessStartInput{Command: sh("exec sleep 1000")})
	i := m.info()
	unix.Kill(i.EnginePID, unix.SIGSTOP)
	wait.Kill(m, i.KeeperPID)
	wait.Kill(m, i.EnginePID)
	record := filepath.Join(filepath.Dir(p.LogPath), "record.json")
	if err := os.WriteFile(record, []byte("not a record"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.activate()
	if now := m.getProcess(p.ID); now.PID != p.PID || now.State != api.StateRunning {
		t.Errorf("became %+v", now)
	}
}

func TestUnreadableRecordIsKeptAndLoadedLater(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	in := api.ProcessStartInput{Name: "web", Command: sh("echo up; exec sleep 1000"), Restart: &api.Restart{Policy: api.PolicyAlways}}
	web, session := m.startProcess(in), m.start("cat")
	folder := func(p api.Process) string { return filepath.Join(m.dir, "processes", p.ID) }
	i := m.info()
	unix.Kill(i.EnginePID, unix.SIGSTOP)
	for _, p := range []api.Process{web, session} { // a symlink loop cannot be opened, even by root
		record := filepath.Join(folder(p), "record.json")
		if err := errors.Join(os.Rename(record, record+".whole"), os.Symlink("record.json", record)); err != nil {
			t.Fatal(err)
		}
	}
	wait.Kill(m, i.EnginePID)
	info := m.info()
	if len(info.Unread) != 2 || !strings.Contains(strings.Join(info.Unread, "\n"), filepath.Join(folder(web), "record.json")) {
		t.Errorf("unread records are %q", info.Unread)
	}
	if all := call(m, api.ProcessList, api.ProcessListInput{}).Processes; len(all) != 0 {
		t.Errorf("listed %+v", all)
	}
	in.ID = web.ID
	if _, err := api.ProcessStart.Call(t.Context(), m.client, in); !errors.Is(err, api.CodeUnsure) {
		t.Errorf("second call with an unread record's id: %v", err)
	}
	for _, p := range []api.Process{web, session} {
		record := filepath.Join(folder(p), "record.json")
		if to, err := os.Readlink(record); err != nil || to != "record.json" {
			t.Fatalf("%s was overwritten: %v", record, err)
		}
		if err := os.Rename(record+".whole", record); err != nil {
			t.Fatal(err)
		}
	}
	m.eventually("both records", func() bool { return len(call(m, api.ProcessList, api.ProcessListInput{}).Processes) == 2 })
	now := m.getProcess(web.ID)
	if now.PID != web.PID || now.Name != "web" || now.State != api.StateRunning || !now.KeepAlive || strings.Join(now.Argv, " ") != strings.Join(in.Command, " ") {
		t.Errorf("process is now %+v", now)
	}
	if again := m.get(session.ID); again.PID != session.PID || again.State != api.StateRunning {
		t.Errorf("session is now %+v", again)
	}
	m.write(session.ID, "alive\r")
	m.awaitScreen(session.ID, "alive")
	m.eventually("an empty list of unread records", func() bool { return len(m.info().Unread) == 0 })
}

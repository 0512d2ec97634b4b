package coding

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"

	"tandem/engine/api"
	"tandem/engine/session/terminal"
	"tandem/persist/store"
)

// A fakeSession shows a given screen.
type fakeSession struct {
	master *os.File
	rows   []string
	looks  atomic.Int32
	gone   chan struct{}
}

func (s *fakeSession) IsReady(context.Context) error { return nil }
func (s *fakeSession) Rows(context.Context) ([]string, error) {
	s.looks.Add(1)
	return s.rows, nil
}
func (s *fakeSession) Facts() terminal.Facts { return terminal.Facts{Title: "⠂ Test"} }
func (s *fakeSession) Master() *os.File      { return s.master }
func (s *fakeSession) Gone() <-chan struct{} { return s.gone }

// startAgent runs a program in a terminal under an agent's name.
func startAgent(t *testing.T, name string) (master *os.File, pid int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\nread x\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path)
	master, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		master.Close()
	})
	return master, cmd.Process.Pid
}

func TestInspectionFollowsScreenChangesOnly(t *testing.T) {
	master, pid := startAgent(t, "claude")
	synctest.Test(t, func(t *testing.T) {
		s := &fakeSession{master: master, gone: make(chan struct{})}
		var now atomic.Pointer[store.Agent]
		w := Start(Options{Library: NewLibrary("", nil), Child: pid, Changed: func(a *store.Agent) { now.Store(a) }}, s)
		state := func() api.AgentState {
			synctest.Wait()
			if a := now.Load(); a != nil {
				return ToAPI(a).State
			}
			return ""
		}
		time.Sleep(300 * time.Millisecond)
		if got := state(); got != api.AgentWorking {
			t.Fatalf("it is %q", got)
		}
		s.rows = []string{"Do you want to proceed?", "❯ 1. Yes", "  2. No"}
		w.NoteChange()
		time.Sleep(300 * time.Millisecond)
		if got := state(); got != api.AgentBlocked {
			t.Errorf("300 ms after a question it is %q", got)
		}
		s.rows = nil
		w.NoteChange()
		time.Sleep(300 * time.Millisecond)
		if got := state(); got != api.AgentWorking {
			t.Errorf("300 ms after the answer it is %q", got)
		}
		time.Sleep(2 * settleDelay)
		synctest.Wait()
		before := s.looks.Load()
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if after := s.looks.Load(); after != before {
			t.Errorf("looked %d times at what did not move", after-before)
		}
		close(s.gone)
	})
}

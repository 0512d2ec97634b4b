package engine

import (
	"context"
	"fmt"
	"testing"

	"tandem/engine/api"
	"tandem/tests/needs"
	"tandem/tests/seed"
	"tandem/tests/wait"
)

// A run is a started session with its expected exit status.
type run struct {
	id   string
	code int
}

// startMany starts short sessions until ctx ends.
func (m *machine) startMany(ctx context.Context) (all []run) {
	for i := 0; ctx.Err() == nil; i++ {
		script := fmt.Sprintf("echo out; sleep 0.0%d; exit %d", i%7, i%100)
		p, err := api.SessionStart.Call(ctx, m.client, api.SessionStartInput{Command: []string{"sh", "-c", script}})
		if err == nil {
			all = append(all, run{p.ID, i % 100})
		}
	}
	return all
}

func TestRandomKillsLoseNoSessionStatusOrOutput(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m, random := startMachine(t), seed.Rand(t)
	kept := m.start("cat")
	ctx, cancel := context.WithCancel(t.Context())
	started := make(chan []run)
	go func() { started <- m.startMany(ctx) }()
	for i := range 12 {
		for range random.IntN(20) { // a random moment, measured in engine calls
			m.info()
		}
		before := m.info()
		switch {
		case i%3 > 0:
			wait.Kill(m, before.EnginePID)
		case before.KeeperPID != 0:
			wait.Kill(m, before.KeeperPID)
			m.awaitNextKeeper(before.KeeperPID)
		}
	}
	cancel()
	all := <-started
	for _, r := range all[max(0, len(all)-100):] {
		end := m.awaitEnd(r.id)
		switch {
		case end.ExitUnknown: // correct if nothing could observe it
		case end.ExitCode == nil || *end.ExitCode != r.code:
			t.Errorf("exit %d is known as %+v", r.code, end)
		case m.logOf(end) != "out\r\n" || end.Terminal.Bytes != 5:
			t.Errorf("log %q, said to have %d bytes", m.logOf(end), end.Terminal.Bytes)
		}
	}
	m.write(kept.ID, "alive\r")
	m.awaitScreen(kept.ID, "alive")
	if now := m.get(kept.ID); now.PID != kept.PID {
		t.Errorf("became %+v", now)
	}
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/system/proctree"
	"tandem/tests/needs"
	"tandem/tests/seed"

	"golang.org/x/sys/unix"
	"tandem/tests/wait"
)

// A startResult is a requested start and its result.
type startResult struct {
	name string
	p    api.Process
	err  error
}

// startNamed starts processes until ctx ends. Each writes its name when it starts, so a second or
// unseen start is noticed; every other one keeps running.
func (m *machine) startNamed(ctx context.Context, starter int, folder string) (all []startResult) {
	for i := 0; ctx.Err() == nil; i++ {
		b := startResult{name: fmt.Sprintf("p%d-%d", starter, i)}
		script := fmt.Sprintf(`echo x >> %s/%s; `, folder, b.name)
		if i%2 == 0 {
			script += "exec sleep 1000"
		}
		b.p, b.err = api.ProcessStart.Call(context.Background(), m.client, api.ProcessStartInput{Name: b.name, Command: sh(script)})
		all = append(all, b)
		if b.err == nil && i%8 == 0 { // a bounded number of processes
			api.ProcessStop.Call(context.Background(), m.client, api.ProcessStopInput{ID: b.p.ID, Signal: "KILL"})
		}
		if b.err == nil && i%2 == 0 && i > 40 {
			old := all[i-40].p.ID
			api.ProcessStop.Call(context.Background(), m.client, api.ProcessStopInput{ID: old, Signal: "KILL"})
		}
	}
	return all
}

// killKeepers kills keepers during a storm of starts, and fails unless every start is known,
// happened once, and can be stopped.
func killKeepers(t testing.TB, kills int) {
	m, random := startMachine(t), seed.Rand(t)
	folder := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	results := make([][]startResult, 4)
	var starters sync.WaitGroup
	for i := range results {
		starters.Go(func() { results[i] = m.startNamed(ctx, i, folder) })
	}
	for range kills {
		before := m.info().KeeperPID
		if before == 0 {
			continue
		}
		time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond) // any moment of a start
		wait.Kill(m, before)
		m.awaitNextKeeper(before)
	}
	cancel()
	starters.Wait()
	asked, unsure, refused := 0, 0, 0
	for _, b := range flatten(results) {
		asked++
		text, _ := os.ReadFile(filepath.Join(folder, b.name))
		switch ran := strings.Count(string(text), "x"); {
		case ran > 1:
			m.Errorf("%s was started %d times", b.name, ran)
		case errors.Is(b.err, api.CodeUnsure):
			unsure++
		case b.err != nil:
			refused++
			if ran > 0 {
				m.Errorf("%s runs, though the answer was %v", b.name, b.err)
			}
		}
	}
	m.wantNoStrangers()
	call(m, api.EngineStop, api.EngineStopInput{All: true})
	m.wantNothingMarked()
	m.activate() // for the cleanup to stop
	t.Logf("%d kills, %d starts: %d may have been started, %d were not", kills, asked, unsure, refused)
}

func flatten(parts [][]startResult) (all []startResult) {
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

// wantNothingMarked fails if anything of this data directory is running.
func (m *machine) wantNothingMarked() {
	m.Helper()
	all, err := proctree.All()
	if err != nil {
		m.Fatal(err)
	}
	for _, p := range all {
		if mark := proctree.MarkOf(p.PID); mark.DataDir == m.dir && !p.IsZombie() {
			m.Errorf("process %d (%s), marked %s, outlives everything", p.PID, p.Name, mark.ID)
			unix.Kill(p.PID, unix.SIGKILL)
		}
	}
}

func TestKeeperKilledDuringStartsLeavesNothingBehind(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	killKeepers(t, 30)
}

// BenchmarkKeeperKills kills a thousand keepers. Run it with go test -run '^$' -bench KeeperKills
// -benchtime 1x -timeout 30m ./tests/engine.
func BenchmarkKeeperKills(b *testing.B) {
	for b.Loop() {
		killKeepers(b, 1000)
	}
}

func TestRestartsAreCountedOnceAcrossKills(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m, random := startMachine(t), seed.Rand(t)
	folder := t.TempDir()
	var all []api.Process
	for i := range 12 {
		script := fmt.Sprintf("echo x >> %s/%d; exit 1", folder, i)
		all = append(all, m.startProcess(api.ProcessStartInput{Command: sh(script), Restart: &api.Restart{Policy: api.PolicyAlways, Max: 6, DelayMS: 20}}))
	}
	for range 12 {
		wait.Kill(m, m.info().EnginePID)
		time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond) // any moment of a restart
	}
	for i, p := range all {
		end := m.awaitState(p.ID, api.StateFailed)
		text, err := os.ReadFile(filepath.Join(folder, fmt.Sprint(i)))
		if ran := strings.Count(string(text), "x"); err != nil || end.Supervision.Restarts != ran-1 {
			t.Errorf("%d restarts are counted of %d runs, %v", end.Supervision.Restarts, ran, err)
		}
		for _, run := range end.Supervision.Runs {
			if run.EndedAt == nil || run.ExitCode == nil || *run.ExitCode != 1 {
				t.Errorf("a run is known as %+v", run)
			}
		}
	}
}

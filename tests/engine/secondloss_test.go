package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/tests/needs"
	"tandem/tests/seed"
)

// A deployment is a session without a restart policy that records each of its runs in a file.
type deployment struct {
	p    api.Process
	file string
}

// deploy starts sessions that must not be restarted.
func (m *machine) deploy(n int) (all []deployment) {
	m.Helper()
	folder := m.TempDir()
	for i := range n {
		file := filepath.Join(folder, fmt.Sprint(i))
		p := call(m, api.SessionStart, api.SessionStartInput{Command: []string{"sh", "-c", "echo run >> " + file + "; echo up; trap '' HUP; while :; do read x && echo got $x || sleep 0.05; done"}})
		m.awaitScreen(p.ID, "up")
		all = append(all, deployment{p, file})
	}
	return all
}

// wantOneRun fails if the deployment has run more than once.
func (m *machine) wantOneRun(all []deployment) {
	m.Helper()
	for _, d := range all {
		if text, err := os.ReadFile(d.file); err != nil || strings.Count(string(text), "run") != 1 {
			m.Errorf("%s ran %q, %v\n%s", d.p.ID, text, err, m.log())
		}
	}
}

// measureActivation activates an engine and returns how long that took.
func (m *machine) measureActivation(version string) time.Duration {
	m.Helper()
	o := m.options()
	o.Version = version
	begin := time.Now()
	conn, err := client.Activate(context.Background(), o)
	took := time.Since(begin)
	if err != nil {
		m.Fatalf("after %v: %v\n%s", took, err, m.log())
	}
	conn.Close()
	return took
}

// killEngineThenKeeper repeatedly kills the engine and, shortly after, the keeper.
func killEngineThenKeeper(t testing.TB, rounds int) {
	m, random := startMachine(t), seed.Rand(t)
	var took []time.Duration
	kept, lost := 0, 0
	for range rounds {
		all := m.deploy(2)
		i := m.info()
		unix.Kill(i.EnginePID, unix.SIGKILL)
		time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
		unix.Kill(i.KeeperPID, unix.SIGKILL)
		took = append(took, m.measureActivation("1.2.3"))
		for _, d := range all {
			now := m.awaitSettled(d.p.ID)
			switch {
			case now.State == api.StateRunning && now.PID == d.p.PID:
				kept++
				m.write(d.p.ID, "on\r")
				m.awaitScreen(d.p.ID, "got on")
			case now.State.Ended() && now.ExitCode == nil:
				lost++
			default:
				m.Errorf("session is %+v\n%s", now, m.log())
			}
		}
		m.wantOneRun(all)
		for _, d := range all {
			api.SessionKill.Call(t.Context(), m.client, api.IDInput{ID: d.p.ID})
		}
	}
	slices.Sort(took)
	t.Logf("%d rounds: %d sessions kept, %d hung up; activation p50 %v, max %v", rounds, kept, lost, took[len(took)/2], took[len(took)-1])
}

// awaitSettled waits until a session is running or has exited.
func (m *machine) awaitSettled(id string) (p api.Process) {
	m.Helper()
	m.eventually("a settled state", func() bool {
		p = m.get(id)
		return p.State.Ended() || p.State == api.StateRunning && p.Error == ""
	})
	return p
}

func TestKillingEngineThenKeeperRerunsNoSession(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	killEngineThenKeeper(t, 5)
}

// BenchmarkKillsOfEngineThenKeeper kills both 100 times. Run it with go test -run '^$' -bench
// EngineThenKeeper -benchtime 1x -timeout 30m ./tests/engine.
func BenchmarkKillsOfEngineThenKeeper(b *testing.B) {
	for b.Loop() {
		killEngineThenKeeper(b, 100)
	}
}

// killDuringUpgrade repeatedly replaces the engine and kills one role meanwhile. It fails if a
// session is lost.
func killDuringUpgrade(t testing.TB, rounds int) {
	m, random := startMachine(t), seed.Rand(t)
	all := m.deploy(3)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var took []time.Duration
	for round := range rounds {
		i := m.info()
		asked := make(chan error, 1)
		go func() {
			_, err := api.EngineStop.Call(context.Background(), m.client, api.EngineStopInput{Replace: exe, InPlace: true})
			asked <- err
		}()
		time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
		victim := i.KeeperPID
		if round%3 == 1 {
			victim = i.EnginePID
		}
		if now, err := api.EngineInfo.Call(t.Context(), m.client, api.Empty{}); round%3 == 2 && err == nil {
			victim = now.EnginePID
		}
		unix.Kill(victim, unix.SIGKILL)
		if err := <-asked; err != nil && !errors.Is(err, api.CodeUnavailable) {
			t.Errorf("replace: %v", err)
		}
		took = append(took, m.measureActivation("1.2.3"))
		for _, d := range all {
			if now := m.awaitSettled(d.p.ID); now.State != api.StateRunning || now.PID != d.p.PID {
				t.Fatalf("round %d: session is %+v\n%s", round, now, m.log())
			}
			line := fmt.Sprintf("round-%d", round)
			m.write(d.p.ID, line+"\r")
			m.awaitScreen(d.p.ID, "got "+line)
		}
		m.eventually("a keeper", func() bool { return m.info().KeeperPID != 0 })
	}
	m.wantOneRun(all)
	slices.Sort(took)
	t.Logf("%d upgrades: activation p50 %v, max %v", rounds, took[len(took)/2], took[len(took)-1])
}

func TestKillingKeeperBetweenEnginesLosesNoSession(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	all := m.deploy(1)
	before := m.info()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	next := filepath.Join(t.TempDir(), "next")
	writeProgram(t, next, fmt.Sprintf("#!/bin/sh\nkill -KILL %d\nexec %s \"$@\"\n", before.KeeperPID, exe))
	call(m, api.EngineStop, api.EngineStopInput{Replace: next, InPlace: true})
	m.eventually("another engine", func() bool {
		m.measureActivation("1.2.3")
		now := m.info()
		return now.StartedAt != before.StartedAt && now.KeeperPID != before.KeeperPID && now.KeeperPID != 0
	})
	if now := m.awaitSettled(all[0].p.ID); now.State != api.StateRunning || now.PID != all[0].p.PID {
		t.Fatalf("session is %+v", now)
	}
	m.write(all[0].p.ID, "on\r")
	m.awaitScreen(all[0].p.ID, "got on")
	m.wantOneRun(all)
}

func TestKillingDuringAnUpgradeLosesNoSession(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	killDuringUpgrade(t, 6)
}

// BenchmarkKillsDuringUpgrades kills engines and keepers during upgrades. Run it with go test -run
// '^$' -bench KillsDuringUpgrades -benchtime 1x -timeout 30m ./tests/engine.
func BenchmarkKillsDuringUpgrades(b *testing.B) {
	for b.Loop() {
		killDuringUpgrade(b, 60)
	}
}

package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandem/engine/api"
	"tandem/engine/record/logs"
	"tandem/engine/system/proctree"
	"tandem/tests/needs"
	"tandem/tests/seed"

	"golang.org/x/sys/unix"
	"tandem/tests/wait"
)

// A job is a short process with its expected exit status, and the number of kills begun before its
// start.
type job struct {
	run
	kills int32
}

// A storm kills engines and keepers while processes start, exit and write.
type storm struct {
	*machine
	random *rand.Rand
	began  atomic.Int32 // kills begun so far
	kinds  []int        // of each kill: 0 both, 1 the keeper, 2 the engine

	mu      sync.Mutex
	short   []job
	lasting []api.Process
}

// startJobs starts short and lasting processes in turn until ctx ends.
func (s *storm) startJobs(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i++ {
		kills := s.began.Load()
		if i%10 == 0 {
			p, err := api.ProcessStart.Call(ctx, s.client, api.ProcessStartInput{Command: sh("echo up $$; exec sleep 1000"), KeepAlive: true})
			s.note(err, func() { s.lasting = append(s.lasting, p) })
			continue
		}
		script := fmt.Sprintf("echo out; sleep 0.0%d; exit %d", i%7, i%100)
		p, err := api.ProcessStart.Call(ctx, s.client, api.ProcessStartInput{Command: sh(script)})
		s.note(err, func() { s.short = append(s.short, job{run{p.ID, i % 100}, kills}) })
	}
}

// note records a started process. After an error it may have started or not.
func (s *storm) note(err error, take func()) {
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		take()
	}
}

// kill kills the engine, the keeper, or both at a random moment, and waits for their successors.
func (s *storm) kill(what, pause int) {
	for range s.random.IntN(pause) { // a random moment, measured in engine calls
		s.info()
	}
	s.kinds = append(s.kinds, what)
	s.began.Add(1)
	before := s.info()
	switch {
	case what == 0:
		s.killBoth()
	case what == 1 && before.KeeperPID != 0:
		wait.Kill(s, before.KeeperPID)
		s.awaitNextKeeper(before.KeeperPID)
	case what > 1:
		wait.Kill(s, before.EnginePID)
	}
}

// runStorm kills the given number of times, with a pause of some requests before each, and then
// checks that no process, no observable exit status and no byte of a log was lost.
func runStorm(t testing.TB, kills, pause int) {
	s := &storm{machine: startMachine(t), random: seed.Rand(t)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	whole := s.startFlood(1<<40, 5*time.Millisecond, 1<<50)
	bounded := s.startFlood(1<<40, time.Millisecond, 16<<20)
	type result struct {
		floodRead
		err error
	}
	followed := make(chan result, 1)
	go func() {
		r, err := s.readFlood(context.Background(), bounded)
		followed <- result{r, err}
	}()
	var starters sync.WaitGroup
	for range 4 {
		starters.Go(func() { s.startJobs(ctx) })
	}
	for i := range kills {
		s.kill(i%4, pause)
	}
	cancel()
	starters.Wait()
	s.checkShort()
	s.checkLasting(append(s.lasting, whole, bounded))
	for _, p := range []api.Process{whole, bounded} {
		call(s.machine, api.ProcessStop, api.ProcessStopInput{ID: p.ID, Signal: "KILL"})
		s.wantFlood(p.LogPath, logs.FileSize(p.LogPath))
	}
	r := <-followed
	size := logs.FileSize(bounded.LogPath)
	if r.err != nil || r.read+r.skipped != size {
		t.Errorf("of %d bytes %d were read and %d dropped: %v", size, r.read, r.skipped, r.err)
	}
	if hole := s.wantFlood(whole.LogPath, logs.FileSize(whole.LogPath)); hole != 0 {
		t.Errorf("%d bytes of an unbounded log are gone", hole)
	}
	s.wantNoStrangers()
	t.Logf("%d kills; %d short and %d lasting processes; floods of %d and %d MB, at most %d MB of the latter on disk",
		kills, len(s.short), len(s.lasting), logs.FileSize(whole.LogPath)>>20, size>>20, r.most>>20)
}

// checkShort fails unless each short process has exited as expected. Its exit status may be unknown
// only if nothing was running to observe it.
func (s *storm) checkShort() {
	s.Helper()
	unknown := make(map[int]int) // counted by the worst kill around it
	for _, r := range s.short {
		end := s.awaitEnd(r.id)
		switch {
		case s.logOf(end) != "out\n":
			s.Errorf("log %q", s.logOf(end))
		case end.ExitUnknown:
			seen := s.kinds[max(0, min(int(r.kills)-1, len(s.kinds)-1)):min(len(s.kinds), int(r.kills)+2)]
			worst := slices.Min(append([]int{2}, seen...))
			if unknown[worst]++; worst > 1 {
				s.Errorf("nobody knows how %s ended, and only engines were killed around it", r.id)
			}
		case end.ExitCode == nil || *end.ExitCode != r.code:
			s.Errorf("exit %d is known as %+v", r.code, end)
		}
	}
	s.Logf("of %d exits %d are unknown around kills of engine and keeper, %d around kills of a keeper", len(s.short), unknown[0], unknown[1])
}

// checkLasting fails unless each lasting process is running and was started once.
func (s *storm) checkLasting(lasting []api.Process) {
	s.Helper()
	for _, p := range lasting {
		now := s.getProcess(p.ID)
		if now.PID != p.PID || now.State != api.StateRunning {
			s.Errorf("became %+v", now)
		}
	}
	for _, p := range s.lasting {
		if strings.Count(s.logOf(p), "up") != 1 {
			s.Errorf("log %q", s.logOf(p))
		}
	}
}

func TestRandomKillsLoseNoProcessStatusOrOutput(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	runStorm(t, 16, 20)
}

// BenchmarkCrashes kills fifty times. Run it with go test -run '^$' -bench Crashes -benchtime 1x
// ./tests/engine.
func BenchmarkCrashes(b *testing.B) {
	for b.Loop() {
		runStorm(b, 50, 100)
	}
}

// wantNoStrangers fails if a process of this data directory has no record.
func (m *machine) wantNoStrangers() {
	m.Helper()
	known := make(map[int]bool)
	for _, p := range call(m, api.ProcessList, api.ProcessListInput{}).Processes {
		known[p.PID] = true
	}
	all, err := proctree.All()
	if err != nil {
		m.Fatal(err)
	}
	for _, p := range all {
		mark := proctree.MarkOf(p.PID)
		if mark.DataDir != m.dir || p.Session != p.PID || p.IsZombie() || known[p.PID] {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", fmt.Sprint(p.PID), "cmdline"))
		m.Errorf("process %d (%q), marked %s, is nobody's", p.PID, line, mark.ID)
		unix.Kill(p.PID, unix.SIGKILL)
	}
}

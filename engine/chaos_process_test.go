package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"

	"golang.org/x/sys/unix"
)

// startJobs starts short and lasting processes in turn until ctx ends.
func (m *machine) startJobs(ctx context.Context) (short []run, lasting []api.Process) {
	for i := 0; ctx.Err() == nil; i++ {
		if i%3 == 0 {
			p, err := api.ProcessStart.Call(ctx, m.client, api.ProcessStartInput{Command: sh("echo up $$; exec sleep 1000"), KeepAlive: true})
			if err == nil {
				lasting = append(lasting, p)
			}
			continue
		}
		script := fmt.Sprintf("echo out; sleep 0.0%d; exit %d", i%7, i%100)
		p, err := api.ProcessStart.Call(ctx, m.client, api.ProcessStartInput{Command: sh(script)})
		if err == nil {
			short = append(short, run{p.ID, i % 100})
		}
	}
	return short, lasting
}

// killSome ends the engine, the keeper, or both.
func (m *machine) killSome(what int) {
	before := m.info()
	switch {
	case what == 0:
		m.killBoth()
	case what == 1 && before.KeeperPID != 0:
		m.crash(before.KeeperPID)
		m.eventually("another keeper", func() bool {
			pid := m.info().KeeperPID
			return pid != 0 && pid != before.KeeperPID
		})
	case what > 1:
		m.crash(before.EnginePID)
	}
}

func TestKillsAtRandomMomentsLoseNoProcessAndStartNoneTwice(t *testing.T) {
	m := startMachine(t)
	ctx, cancel := context.WithCancel(t.Context())
	type jobs struct {
		short   []run
		lasting []api.Process
	}
	started := make(chan jobs)
	go func() {
		short, lasting := m.startJobs(ctx)
		started <- jobs{short, lasting}
	}()
	for i := range 16 {
		for range rand.IntN(20) { // a random moment, in the engine's time
			m.info()
		}
		m.killSome(i % 4)
	}
	cancel()
	all := <-started
	for _, r := range all.short {
		var end api.Process
		m.eventually("the end of "+r.id, func() bool { end = m.process(r.id); return end.State.Ended() })
		switch {
		case m.logOf(end) != "out\n":
			t.Errorf("log %q", m.logOf(end))
		case end.ExitUnknown: // honest, if nobody could tell
		case end.ExitCode == nil || *end.ExitCode != r.code:
			t.Errorf("exit %d is known as %+v", r.code, end)
		}
	}
	for _, p := range all.lasting {
		now := m.process(p.ID)
		if now.PID != p.PID || now.State != api.StateRunning || strings.Count(m.logOf(p), "up") != 1 {
			t.Errorf("became %+v with log %q", now, m.logOf(p))
		}
	}
	m.wantNoStrangers()
	t.Logf("%d short and %d lasting processes", len(all.short), len(all.lasting))
}

// wantNoStrangers fails if anything runs for this data folder that no record
// knows.
func (m *machine) wantNoStrangers() {
	m.Helper()
	known := make(map[int]bool)
	for _, p := range call(m, api.ProcessList, api.ProcessListInput{}).Processes {
		known[p.PID] = true
	}
	all, err := allProcesses()
	if err != nil {
		m.Fatal(err)
	}
	for _, p := range all {
		mark := readMark(p.pid)
		if mark.dataDir != m.dir || p.session != p.pid || p.zombie || known[p.pid] {
			continue
		}
		line, _ := os.ReadFile(filepath.Join("/proc", fmt.Sprint(p.pid), "cmdline"))
		m.Errorf("process %d (%q), marked %s, is nobody's", p.pid, line, mark.id)
		unix.Kill(p.pid, unix.SIGKILL)
	}
}

package engine

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/persist/store"
	"tandem/tests/wait"
)

// in returns the machine for a subtest.
func (m *machine) in(t testing.TB) *machine {
	sub := *m
	sub.TB = t
	return &sub
}

func (m *machine) startProcess(in api.ProcessStartInput) api.Process {
	m.Helper()
	return call(m, api.ProcessStart, in)
}

func (m *machine) getProcess(id string) api.Process {
	m.Helper()
	return call(m, api.ProcessGet, api.IDInput{ID: id})
}

// awaitProcess waits until holds returns true for a process.
func (m *machine) awaitProcess(id, what string, holds func(api.Process) bool) api.Process {
	m.Helper()
	m.mayHandOver()
	return wait.Watch(m, id+" "+what, m.client.Watch, func() (api.Process, bool) {
		p := m.getProcess(id)
		return p, holds(p)
	})
}

// awaitState waits until a process is in a state.
func (m *machine) awaitState(id string, state api.State) api.Process {
	m.Helper()
	return m.awaitProcess(id, string(state), func(p api.Process) bool { return p.State == state })
}

// awaitEnd waits for the end of a process.
func (m *machine) awaitEnd(id string) api.Process {
	m.Helper()
	return m.awaitProcess(id, "ended", func(p api.Process) bool { return p.State.Ended() })
}

// awaitOutput waits until the log of a process contains text, and returns the log.
func (m *machine) awaitOutput(p api.Process, text string) string {
	m.Helper()
	m.eventually("output "+text, func() bool {
		_, err := os.Stat(p.LogPath)
		return err == nil && strings.Contains(m.logOf(p), text)
	})
	return m.logOf(p)
}

// printedNumbers returns the numbers after a word in the log of a process.
func (m *machine) printedNumbers(p api.Process, word string) (all []int) {
	m.Helper()
	for _, found := range regexp.MustCompile(word+` (\d+)`).FindAllStringSubmatch(m.logOf(p), -1) {
		n, _ := strconv.Atoi(found[1])
		all = append(all, n)
	}
	return all
}

func sh(script string) []string { return []string{"sh", "-c", script} }

// killBoth kills engine and keeper at the same time and starts others.
func (m *machine) killBoth() {
	m.Helper()
	i := m.info()
	unix.Kill(i.EnginePID, unix.SIGSTOP)
	wait.Kill(m, i.KeeperPID)
	wait.Kill(m, i.EnginePID)
	m.activate()
}

// activate starts keeper and engine if they are not running.
func (m *machine) activate() {
	m.Helper()
	m.eventually("an engine", func() bool { // a busy disk may take a while
		conn, err := client.Activate(context.Background(), m.options())
		if err != nil {
			m.Log(err)
			return false
		}
		conn.Close()
		return true
	})
}

// reboot makes a stopped data directory look as after a reboot: its processes belong to another
// boot.
func (m *machine) reboot() {
	m.Helper()
	m.replaceBoth(func(r *store.Record) {
		if r.Identity != nil {
			r.Identity.BootID = "another boot"
		}
	})
}

// replaceBoth kills keeper and engine, changes the records, and starts others.
func (m *machine) replaceBoth(change func(*store.Record)) {
	m.Helper()
	m.loseBoth(change)
	m.activate()
}

// loseBoth kills keeper and engine and changes the records. The engine was in a cgroup that is gone.
func (m *machine) loseBoth(change func(*store.Record)) {
	m.Helper()
	i := m.info()
	unix.Kill(i.EnginePID, unix.SIGSTOP)
	wait.Kill(m, i.KeeperPID)
	wait.Kill(m, i.EnginePID)
	m.changeRecords(change)
}

// changeRecords changes the records of an engine that has exited, and makes its keeper that of
// another boot.
func (m *machine) changeRecords(change func(*store.Record)) {
	m.Helper()
	data, err := store.Open(m.dir)
	if err != nil {
		m.Fatal(err)
	}
	records, problems := data.Load()
	if len(problems) > 0 {
		m.Fatal(problems)
	}
	for _, r := range records {
		if change(&r); r.Cgroup != "" {
			r.Cgroup = filepath.Join("/none", filepath.Base(r.Cgroup))
		}
		if err := data.Save(r); err != nil {
			m.Fatal(err)
		}
	}
	last, err := data.LoadLastEngine()
	if last.Keeper.BootID = "another boot"; err != nil || data.SaveLastEngine(last) != nil {
		m.Fatal("description of the engine:", err)
	}
}

// awaitNextEngine waits for an engine started after the one described by before.
func (m *machine) awaitNextEngine(before api.Info) {
	m.Helper()
	m.eventually("another engine", func() bool { return m.info().StartedAt.After(before.StartedAt) })
}

// awaitNextKeeper waits for a keeper other than the one with pid before.
func (m *machine) awaitNextKeeper(before int) {
	m.Helper()
	m.eventually("another keeper", func() bool {
		now := m.info().KeeperPID
		return now != 0 && now != before
	})
}

// restart replaces the engine with another of the same version.
func (m *machine) restart() {
	m.Helper()
	before := m.info()
	call(m, api.EngineStop, api.EngineStopInput{Restart: true})
	m.awaitNextEngine(before)
}

package engine

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/system/proctree"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

func TestConcurrentCommandsLeaveNothingBehind(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	call(m, api.Exec, api.ExecInput{Command: []string{"true"}})
	goroutines := m.goroutines() // of an engine that exits with them
	call(m, api.Exec, api.ExecInput{Command: []string{"true"}})
	// The history opens its files after the first command.
	m.eventually("the history", func() bool { return call(m, api.HistorySearch, api.HistorySearchInput{}).Total > 0 })
	before := m.footprint()
	const atOnce, each = 8, 8
	var all sync.WaitGroup
	for i := range atOnce {
		all.Go(func() {
			for n := range each {
				word := fmt.Sprint(i, "-", n)
				out, err := api.Exec.Call(context.Background(), m.client, api.ExecInput{Command: sh("echo " + word + "; exit " + fmt.Sprint(n))})
				if err != nil || out.Stdout != word+"\n" || out.Process.ExitCode == nil || *out.Process.ExitCode != n {
					t.Errorf("%s: %+v, %v", word, out, err)
				}
			}
		})
	}
	all.Wait()
	m.eventually("the end of connections", func() bool { m.client.Close(); return m.footprint() == before })
	if now := m.goroutines(); now >= goroutines+atOnce*each/2 { // some come and go
		t.Errorf("%d goroutines where there were %d\n%s", now, goroutines, m.log())
	}
}

// A footprint counts the resources of engine and keeper.
type footprint struct{ engineFiles, keeperFiles, keeperChildren int }

func (m *machine) footprint() (f footprint) {
	m.Helper()
	i := m.info()
	f.engineFiles, f.keeperFiles = m.files(i.EnginePID), m.files(i.KeeperPID)
	all, err := proctree.All()
	if err != nil {
		m.Fatal(err)
	}
	for _, p := range all {
		if p.Parent == i.KeeperPID {
			f.keeperChildren++
		}
	}
	return f
}

func (m *machine) files(pid int) int {
	m.Helper()
	names, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "fd"))
	if err != nil {
		m.Fatal(err)
	}
	return len(names)
}

// goroutines counts the goroutines of the engine in a crash dump, without the runtime's own. The
// dump ends the engine, and the keeper starts another.
func (m *machine) goroutines() int {
	m.Helper()
	before := m.info()
	path := filepath.Join(m.dir, "engine.log")
	old, err := os.Stat(path)
	if err != nil {
		m.Fatal(err)
	}
	if err := unix.Kill(before.EnginePID, unix.SIGQUIT); err != nil {
		m.Fatal(err)
	}
	wait.Exit(m, before.EnginePID)
	text, err := os.ReadFile(path)
	if err != nil {
		m.Fatal(err)
	}
	m.awaitNextEngine(before)
	dump, made := text[old.Size():], []byte("\ncreated by ")
	return bytes.Count(dump, made) - bytes.Count(dump, append(made, "runtime."...))
}

func TestCommandHasEmptyStandardInput(t *testing.T) {
	t.Parallel()
	m := sharedMachine(t)
	if out := call(m, api.Exec, api.ExecInput{Command: []string{"cat"}}); out.TimedOut || out.Process.ExitCode == nil || *out.Process.ExitCode != 0 {
		t.Errorf("%+v", out)
	}
}

package ui

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandem/engine/api"
	"tandem/panes/panestest"
)

// addEngines connects an engine to other machines.
func addEngines(e *fakeEngine, names ...string) (all []*fakeEngine) {
	e.machines = map[string]*fakeEngine{}
	for _, name := range names {
		far := newFakeEngine()
		e.machines[name], all = far, append(all, far)
		e.known = append(e.known, api.Machine{Name: name, State: api.MachineConnected})
	}
	panestest.On(e.Engine, api.MachineList, func(context.Context, api.MachineListInput) (api.MachineListOutput, error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		return api.MachineListOutput{Machines: e.known}, nil
	})
	return all
}

// crash makes a process exit with 3 and start again after a second, as its restart policy says.
func (s *fakeSession) crash() {
	three := 3
	s.update(func(p *api.Process) {
		ended := time.Now()
		p.Supervision.Runs = append(p.Supervision.Runs, api.ProcessRun{StartedAt: p.StartedAt, EndedAt: &ended, ExitCode: &three})
		p.State, p.PID, p.ExitCode, p.ExitedAt = api.StateBackoff, 0, &three, &ended
		next := ended.Add(time.Second)
		p.Supervision.NextStart = &next
	})
	time.Sleep(time.Second)
	s.update(func(p *api.Process) {
		p.State, p.PID, p.ExitCode, p.ExitedAt, p.StartedAt = api.StateRunning, 1000, nil, nil, time.Now()
		p.Supervision.Automatic++
	})
}

// On a busy machine, everything on the screen must stay where the user has last seen it.
func TestNothingMovesOnABusyMachine(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 36}, {200, 60}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) { onFakeTime(t, func(t *testing.T) { stayCalm(t, size[0], size[1]) }) })
	}
}

func stayCalm(t *testing.T, w, h int) {
	e := newFakeEngine()
	engines := append(addEngines(e, "box", "lab"), e)
	e.addSession("shell", "$ ")
	var loop *fakeSession
	for i, project := range []string{"api", "docs", "shop", "web"} {
		on := engines[i%len(engines)]
		for _, name := range []string{"crasher", "db", "server"} {
			s := on.addProcess(name, "")
			s.process.StartedAt = time.Now().Add(-time.Hour)
			s.process.Project = &api.ProjectEntry{File: "/home/ann/" + project + "/tandem.yaml", Name: name, Project: project}
			if project == "shop" && name == "crasher" {
				loop, s.process.Name = s, "loop"
			}
		}
	}
	d := drive(t, e, w, h)
	d.waitText("$ ")
	d.pressKeys("alt+2", "z")
	d.waitText("loop")
	d.pressKeys("g")
	pump := func(until time.Duration) {
		for end := time.Now().Add(until); time.Now().Before(end); {
			d.drain()
		}
	}
	for range 2 { // the first run has lasted for an hour, so its end was no failure to start
		loop.crash()
		pump(time.Second)
	}
	rows := func() (all []string) {
		for line := range strings.Lines(d.screenText()) {
			if name := regexp.MustCompile(`^[▌ ]  (?:[^ ] .|[▸▾]) +([\w/]+(?: \w+)?)  `).FindStringSubmatch(line); name != nil {
				all = append(all, name[1])
			}
		}
		return all
	}
	top := func() string {
		line, _, _ := strings.Cut(d.screenText(), "\n")
		return regexp.MustCompile(` +$`).ReplaceAllString(line[strings.Index(line, "Files"):], "")
	}
	counts := ""
	agents := func(n int) {
		for i := range n {
			on := engines[i%len(engines)]
			s := on.addProcess("grep", "")
			s.process.Actor, s.process.StartedAt = "agent:claude/1.2", time.Now()
			s.process.Supervision.Transient = true
			if i == 0 {
				pump(time.Second)
				if got := top(); counts != "" && got != counts {
					t.Fatalf("while a command runs, the top says %q, said %q", got, counts)
				}
			}
			one := 1
			s.update(func(p *api.Process) { p.State, p.PID, p.ExitCode = api.StateExited, 0, &one })
		}
	}
	agents(3)
	d.waitText("claude")
	pump(time.Second)
	want, wantFocus := rows(), d.m.sessions.CurrentPane()
	counts = top()
	columns := func() string {
		head, _, _ := strings.Cut(strings.Split(d.screenText(), "\n")[1], "command") // without the number of processes
		return head
	}
	head := columns()
	if len(want) < 12 || !slices.Contains(want, "claude") || !strings.Contains(counts, "1 failed") {
		t.Fatalf("rows %q, %q\n%s", want, counts, d.screenText())
	}
	for range 60 { // five minutes
		loop.crash()
		agents(5)
		pump(4 * time.Second)
		if got := rows(); !slices.Equal(got, want) {
			t.Fatalf("rows are %q, were %q\n%s", got, want, d.screenText())
		}
		if got := top(); got != counts {
			t.Fatalf("the top says %q, said %q", got, counts)
		}
		if got := columns(); got != head {
			t.Fatalf("the heading is %q, was %q", got, head)
		}
		if d.m.sessions.CurrentPane() != wantFocus || d.m.views.action() != "view.processes" {
			t.Fatal("the focus has moved")
		}
	}
	d.waitText("121 commands")
	d.pressKeys("alt+1", "'x")
	d.waitTyped(e.sessions[0], "x")
	time.Sleep(api.SteadyRun)
	d.waitNoText("failed") // decided: it has lasted
	synctest.Wait()
}

// drain handles what has arrived, and lets a second pass.
func (d *driver) drain() {
	tick := time.After(time.Second / 2)
	for {
		select {
		case msg := <-d.msgs:
			d.update(msg)
		case <-tick:
			return
		}
	}
}

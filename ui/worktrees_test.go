package ui

import (
	"context"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"

	"tandem/engine/api"
	"tandem/panes/panestest"
)

// trackWorktrees makes an engine create worktrees and record the requests.
func trackWorktrees(e *fakeEngine) (added *[]api.WorktreeAddInput) {
	added = new([]api.WorktreeAddInput)
	panestest.On(e.Engine, api.WorktreeAdd, func(_ context.Context, in api.WorktreeAddInput) (api.Worktree, error) {
		*added = append(*added, in)
		if in.Name == "taken" {
			return api.Worktree{}, api.Errorf(api.CodeInvalid, "add worktree: a branch named 'taken' already exists")
		}
		return api.Worktree{Path: in.CWD + ".worktrees/" + in.Name, Branch: in.Name, Repository: in.CWD}, nil
	})
	return added
}

func TestListStartsSessionInNewWorktree(t *testing.T) {
	e := newFakeEngine()
	added := trackWorktrees(e)
	e.addSession("shell", "$ ")
	d := drive(t, e, 80, 24)
	d.waitText("$ ")
	d.pressKeys("ctrl+b", "s", "W")
	d.waitText("Start a session in a new worktree")
	d.waitNoText("keep alive")
	d.pressKeys("'taken", "enter")
	d.waitText("worktree: add worktree: a branch named 'taken' already exists")
	d.pressKeys("ctrl+u", "'a b c", "enter")
	d.waitText("needs a name, and optionally the start of its branch")
	d.pressKeys("ctrl+u", "'fix main", "tab", "'claude --continue", "tab", "ctrl+u", "'/src/app", "enter")
	d.waitNoText("Start a session")
	d.waitUntil("the session is asked for", func() bool { e.mu.Lock(); defer e.mu.Unlock(); return len(e.started) == 1 })
	got := e.started[0]
	if got.CWD != "/src/app.worktrees/fix" || got.Name != "fix" || !reflect.DeepEqual(got.Command, []string{"claude", "--continue"}) {
		t.Errorf("started %+v", got)
	}
	if want := (api.WorktreeAddInput{CWD: "/src/app", Name: "fix", Base: "main"}); (*added)[1] != want || len(*added) != 2 {
		t.Errorf("added %+v", *added)
	}
}

// delayWorktrees makes an engine create worktrees once the returned function is called.
func delayWorktrees(e *fakeEngine) (release func()) {
	released := make(chan struct{})
	panestest.On(e.Engine, api.WorktreeAdd, func(_ context.Context, in api.WorktreeAddInput) (api.Worktree, error) {
		<-released
		return api.Worktree{Path: in.CWD + ".worktrees/" + in.Name, Branch: in.Name, Repository: in.CWD}, nil
	})
	return sync.OnceFunc(func() { close(released) })
}

func TestSessionOfALateWorktreeIsShownOnlyToWhoeverWaitsForIt(t *testing.T) {
	for name, waits := range map[string]bool{"waits": true, "goes on": false} {
		t.Run(name, func(t *testing.T) {
			e := newFakeEngine()
			release := delayWorktrees(e)
			e.addSession("shell", "$ ")
			d := drive(t, e, 120, 36)
			d.waitText("$ ")
			d.pressKeys("alt+4", "ctrl+b", "G", "'fix", "enter")
			if !waits {
				d.pressKeys("esc", "alt+1", "'a")
			}
			release()
			d.waitStarted(2)
			d.pressKeys("alt+1", "'b")
			want, other := d.nthSession(0), d.nthSession(1)
			typed := "ab"
			if waits {
				want, other, typed = other, want, "b"
			}
			d.waitTyped(want, typed)
			if got := other.typedText(); got != "" {
				t.Errorf("the other session gets %q", got)
			}
		})
	}
}

func TestPanesExitingInOneUpdateKeepEachCommand(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		e := newFakeEngine()
		panestest.On(e.Engine, api.WorktreeList, func(context.Context, api.WorktreeListInput) (api.WorktreeListOutput, error) {
			return api.WorktreeListOutput{Worktrees: []api.Worktree{{Path: "/src/app.worktrees/fix", Branch: "fix", Repository: "/src/app"}}}, nil
		})
		first := e.addSession("first", "one$ ")
		d := drive(t, e, 120, 36)
		d.waitText("one$ ")
		d.pressKeys("ctrl+b", "%")
		d.waitStarted(2)
		d.pressKeys("alt+left")
		d.waitUntil("the first pane has the keyboard", func() bool {
			p := d.m.sessions.FocusedPane()
			return p != nil && p.ID == first.process.ID
		})
		second := d.nthSession(1)
		first.reportExit(api.Process{State: api.StateExited, ExitCode: new(int), CWD: "/src/app.worktrees/fix"})
		second.reportExit(api.Process{State: api.StateStopped, CWD: "/", EndedBy: "agent:codex/1.0"})
		synctest.Wait() // both exits have arrived before either is handled
		d.waitText("was stopped by codex")
		d.waitText("Keep worktree fix?")
		d.waitNoText("was stopped by codex")
	})
}

// reportExit ends a session's program as its attachments report it, before any event.
func (s *fakeSession) reportExit(as api.Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.State, s.process.ExitCode, s.process.EndedBy, s.process.CWD, s.process.PID = as.State, as.ExitCode, as.EndedBy, as.CWD, 0
	p := s.process
	for v := range s.viewers {
		v.pushOutput(api.Output{Ended: &p})
	}
}

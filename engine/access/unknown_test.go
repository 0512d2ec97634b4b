package access

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/api/wire"
	"tandem/engine/proctree"
	"tandem/engine/terminal"
	"tandem/persist/store"

	"golang.org/x/sys/unix"
)

// running is a peer process that has not exited.
type running struct{}

func (running) Check(uint64) error { return nil }

// exited is one that has.
type exited struct{}

func (exited) Check(uint64) error { return errors.New("the program that connected has exited") }

// A fakeProcess is a process that a test makes up.
type fakeProcess struct {
	parent, session int
	mark            string // id of ours in its environment
	root            bool   // it is another user's
	private         bool   // its environment cannot be read
}

const fakeKeeper = 50

// withTable gives a guard a process table; hidden are those that /proc does not show.
func withTable(all map[int]fakeProcess, hidden func(fakeProcess) bool) *Guard {
	read := func(pid int) (proctree.Process, bool) {
		p, ok := all[pid]
		return proctree.Process{PID: pid, Parent: p.parent, StartTime: uint64(pid), Name: "fake"}, ok && !hidden(p)
	}
	return &Guard{
		DataDir: "/data", BootID: "b", KeeperPID: func() int { return fakeKeeper },
		Visit: func(context.Context, func(store.Record, *terminal.Session)) error { return nil },
		processes: &processTable{
			read: read,
			mark: func(pid int) (proctree.Mark, error) {
				p, ok := all[pid]
				switch {
				case !ok || hidden(p):
					return proctree.Mark{}, fs.ErrNotExist
				case p.root || p.private:
					return proctree.Mark{}, &fs.PathError{Op: "open", Path: "environ", Err: unix.EACCES}
				case p.mark == "":
					return proctree.Mark{}, nil
				}
				return proctree.Mark{ID: p.mark, DataDir: "/data"}, nil
			},
			foreign: func(pid int) bool { return all[pid].root },
			session: func(pid int) int { return all[pid].session },
		},
	}
}

func TestUserIsKnownWhereverTheirShellCameFrom(t *testing.T) {
	shown := func(fakeProcess) bool { return false }
	// hidepid=2 hides what is another user's, and what is as private as that.
	hidepid := func(p fakeProcess) bool { return p.root || p.private }
	for name, all := range map[string]map[int]fakeProcess{
		"ssh": {900: {parent: 800, session: 800}, 800: {parent: 700, session: 800}, 700: {parent: 600, session: 600, private: true},
			600: {parent: 500, session: 600, root: true}, 500: {parent: 1, session: 500, root: true}},
		"console login": {900: {parent: 800, session: 800}, 800: {parent: 700, session: 800}, 700: {parent: 1, session: 700, root: true}},
		"tmux":          {900: {parent: 800, session: 800}, 800: {parent: 700, session: 800}, 700: {parent: 1, session: 700}},
		"double fork":   {900: {parent: 1, session: 900}},
		"user manager":  {900: {parent: 800, session: 900}, 800: {parent: 1, session: 800}},
		"container":     {900: {parent: 0, session: 900}},
	} {
		for mode, hidden := range map[string]func(fakeProcess) bool{"/proc shows all": shown, "hidepid=2": hidepid} {
			g := withTable(all, hidden)
			if a := g.ancestryHeld(server.Caller{Peer: wire.Peer{PID: 900}}, running{}); a.unknown != "" || a.collected || len(a.marks) > 0 {
				t.Errorf("%s, %s: %+v", name, mode, a)
			}
			if !g.mayHandOver(server.Caller{Peer: wire.Peer{PID: 900}}, running{}) {
				t.Errorf("%s, %s: its terminal is not taken over", name, mode)
			}
		}
	}
}

func TestUnknownCallerIsNotTheUser(t *testing.T) {
	private := func(p fakeProcess) bool { return p.private }
	none := func(fakeProcess) bool { return false }
	chain := map[int]fakeProcess{900: {parent: 1, session: 900}}
	long := map[int]fakeProcess{}
	for pid := 900; pid < 900+2*mostAncestors; pid++ {
		long[pid] = fakeProcess{parent: pid + 1, session: pid}
	}
	for name, c := range map[string]struct {
		all     map[int]fakeProcess
		hidden  func(fakeProcess) bool
		pid     int
		process peerProcess
		cause   string
	}{
		"it has exited":                      {chain, none, 900, exited{}, "has exited"},
		"/proc does not show it":             {chain, func(fakeProcess) bool { return true }, 900, running{}, "/proc does not show the program"},
		"it is of another pid namespace":     {chain, none, 0, running{}, "not in this machine's process table"},
		"its environment cannot be read":     {map[int]fakeProcess{900: {parent: 1, private: true}}, none, 900, running{}, "environment of process 900"},
		"its parent hides":                   {map[int]fakeProcess{900: {parent: 800, session: 800}, 800: {parent: fakeKeeper, session: 800, private: true}}, private, 900, running{}, "/proc hides process 800"},
		"its grandparent hides":              {map[int]fakeProcess{900: {parent: 800}, 800: {parent: 700}, 700: {parent: 1, session: 700, private: true}}, private, 900, running{}, "/proc hides process 700"},
		"its parent is not there":            {map[int]fakeProcess{900: {parent: 800}}, none, 900, running{}, "process 800"},
		"it has more ancestors than counted": {long, none, 900, running{}, "more than 64 ancestors"},
	} {
		g := withTable(c.all, c.hidden)
		a := g.ancestryHeld(server.Caller{Peer: wire.Peer{PID: c.pid}}, c.process)
		if !strings.Contains(a.unknown, c.cause) {
			t.Errorf("%s: %+v, want unknown: %s", name, a, c.cause)
		}
		if g.mayHandOver(server.Caller{Peer: wire.Peer{PID: c.pid}}, c.process) {
			t.Errorf("%s: it gets a master", name)
		}
	}
}

func TestHiddenKeeperIsStillTheKeeper(t *testing.T) {
	g := withTable(map[int]fakeProcess{900: {parent: fakeKeeper, session: 900}, fakeKeeper: {parent: 1, session: fakeKeeper, private: true}}, func(p fakeProcess) bool { return p.private })
	if a := g.ancestryHeld(server.Caller{Peer: wire.Peer{PID: 900}}, running{}); !a.collected {
		t.Errorf("%+v", a)
	}
}

func TestEverythingOfTheUsersIsRefusedToAnUnknownCaller(t *testing.T) {
	g := withTable(nil, func(fakeProcess) bool { return false })
	for name, how := range rules {
		if err := g.Check(t.Context(), name, api.Write, &struct{}{}); (err != nil) != (how == personOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, in := range []api.EngineStopInput{{}, {All: true}} {
		if g.Check(t.Context(), api.EngineStop.Name, api.Write, &in) == nil {
			t.Errorf("it may stop the engine: %+v", in)
		}
	}
	in := api.AttachOptions{Direct: true}
	if err := g.Check(t.Context(), "session.attach", api.Write, &in); err != nil || in.Direct {
		t.Errorf("it gets a master: %+v, %v", in, err)
	}
}

// A call without a connection of this machine's is refused, not let through.
func TestCallWithoutAPeerIsRefused(t *testing.T) {
	g := withTable(nil, func(fakeProcess) bool { return false })
	if err := g.mayActForPerson(t.Context(), "request.answer"); err == nil || !strings.Contains(err.Error(), "the caller is unknown") {
		t.Errorf("%v", err)
	}
	if behind, err := g.AgentBehind(t.Context()); err != nil || !strings.Contains(behind, "unknown program") {
		t.Errorf("%q, %v", behind, err)
	}
}

func TestOwnProcessTableIsRead(t *testing.T) {
	parent := os.Getppid()
	if theProcesses.foreign(os.Getpid()) || theProcesses.foreign(0) || theProcesses.foreign(-1) {
		t.Error("this process counts as another user's")
	}
	if _, ok := theProcesses.read(parent); !ok && !theProcesses.leadsOut(parent) {
		t.Errorf("process %d is hidden", parent)
	}
	if got, err := unix.Getsid(0); err != nil || theProcesses.session(os.Getpid()) != got {
		t.Errorf("session %d, %v", got, err)
	}
}

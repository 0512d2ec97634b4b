package access

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/engine/session/terminal"
	"tandem/engine/system/proctree"
	"tandem/persist/store"

	"golang.org/x/sys/unix"
)

// runningPeer is a peer process still running.
type runningPeer struct{}

func (runningPeer) Check(uint64) error { return nil }

// exitedPeer is a peer process already exited.
type exitedPeer struct{}

func (exitedPeer) Check(uint64) error { return errors.New("the program that connected has exited") }

// A fakeProcess is an entry of a fake process table.
type fakeProcess struct {
	parent, session int
	mark            string // record id in its environment
	root            bool   // another user's
	private         bool   // its environment is unreadable
}

const fakeKeeper, fakeEngine = 50, 60

// newTableGuard returns a guard with a process table. /proc hides processes for which hidden
// returns true.
func newTableGuard(all map[int]fakeProcess, hidden func(fakeProcess) bool) *Guard {
	read := func(pid int) (proctree.Process, bool) {
		p, ok := all[pid]
		return proctree.Process{PID: pid, Parent: p.parent, StartTime: uint64(pid), Name: "fake"}, ok && !hidden(p)
	}
	return &Guard{
		DataDir: "/data", BootID: "b", KeeperPID: func() int { return fakeKeeper },
		Visit: func(context.Context, func(store.Record, *terminal.Session)) error { return nil },
		processes: &processTable{
			self: func() int { return fakeEngine },
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

func TestUserIsRecognizedInEveryKindOfShell(t *testing.T) {
	shown := func(fakeProcess) bool { return false }
	// hidepid=2 hides the processes of other users, and those whose memory the reader may not
	// inspect.
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
			g := newTableGuard(all, hidden)
			if a := g.verifyAncestry(api.Caller{Peer: api.Peer{PID: 900}}, runningPeer{}); a.unknownReason != "" || a.fromKeeper || len(a.marks) > 0 {
				t.Errorf("%s, %s: %+v", name, mode, a)
			}
			if !g.canHandOver(api.Caller{Peer: api.Peer{PID: 900}}, runningPeer{}) {
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
	for pid := 900; pid < 900+2*maxAncestors; pid++ {
		long[pid] = fakeProcess{parent: pid + 1, session: pid}
	}
	for name, c := range map[string]struct {
		all     map[int]fakeProcess
		hidden  func(fakeProcess) bool
		pid     int
		process peerProcess
		cause   string
	}{
		"it has exited":                      {chain, none, 900, exitedPeer{}, "has exited"},
		"/proc does not show it":             {chain, func(fakeProcess) bool { return true }, 900, runningPeer{}, "/proc does not show the calling program"},
		"it is of another pid namespace":     {chain, none, 0, runningPeer{}, "not in this machine's process table"},
		"its environment cannot be read":     {map[int]fakeProcess{900: {parent: 1, private: true}}, none, 900, runningPeer{}, "environment of process 900"},
		"its parent hides":                   {map[int]fakeProcess{900: {parent: 800, session: 800}, 800: {parent: fakeKeeper, session: 800, private: true}}, private, 900, runningPeer{}, "/proc hides process 800"},
		"its grandparent hides":              {map[int]fakeProcess{900: {parent: 800}, 800: {parent: 700}, 700: {parent: 1, session: 700, private: true}}, private, 900, runningPeer{}, "/proc hides process 700"},
		"its parent is not there":            {map[int]fakeProcess{900: {parent: 800}}, none, 900, runningPeer{}, "process 800"},
		"it has more ancestors than counted": {long, none, 900, runningPeer{}, "more than 64 ancestors"},
	} {
		g := newTableGuard(c.all, c.hidden)
		a := g.verifyAncestry(api.Caller{Peer: api.Peer{PID: c.pid}}, c.process)
		if !strings.Contains(a.unknownReason, c.cause) {
			t.Errorf("%s: %+v, want unknown: %s", name, a, c.cause)
		}
		if g.canHandOver(api.Caller{Peer: api.Peer{PID: c.pid}}, c.process) {
			t.Errorf("%s: it gets a master", name)
		}
	}
}

func TestHiddenKeeperOrEngineIsRecognized(t *testing.T) {
	private := func(p fakeProcess) bool { return p.private }
	for _, parent := range []int{fakeKeeper, fakeEngine} {
		g := newTableGuard(map[int]fakeProcess{900: {parent: parent, session: 900}, parent: {parent: 1, session: parent, private: true}}, private)
		if a := g.verifyAncestry(api.Caller{Peer: api.Peer{PID: 900}}, runningPeer{}); !a.fromKeeper {
			t.Errorf("child of %d: %+v", parent, a)
		}
	}
}

func TestUnknownCallerIsDeniedUserOnlyOperations(t *testing.T) {
	g := newTableGuard(nil, func(fakeProcess) bool { return false })
	for _, e := range api.Operations() {
		if err := g.Check(t.Context(), e.Name, api.Write, &struct{}{}); (err != nil) != (e.Access == api.UserOnly || e.Access == api.Filtered) {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
	for _, in := range []api.EngineStopInput{{}, {All: true}} {
		if g.Check(t.Context(), api.EngineStop.Name, api.Write, &in) == nil {
			t.Errorf("it may stop the engine: %+v", in)
		}
	}
	in := api.AttachOptions{Direct: true, Master: true}
	if err := g.Check(t.Context(), "session.attach", api.Write, &in); err != nil || in.Direct || in.Master {
		t.Errorf("it gets a master: %+v, %v", in, err)
	}
}

// A call without a connection from this machine must be denied.
func TestCallWithoutPeerIsDenied(t *testing.T) {
	g := newTableGuard(nil, func(fakeProcess) bool { return false })
	if err := g.checkUserOnly(t.Context(), "request.answer"); err == nil || !strings.Contains(err.Error(), "the caller is unknown") {
		t.Errorf("%v", err)
	}
	if behind, err := g.AgentBehind(t.Context()); err != nil || !strings.Contains(behind, "unknown program") {
		t.Errorf("%q, %v", behind, err)
	}
}

func TestSystemTableReadsOwnProcess(t *testing.T) {
	parent := os.Getppid()
	if systemTable.foreign(os.Getpid()) || systemTable.foreign(0) || systemTable.foreign(-1) {
		t.Error("this process counts as another user's")
	}
	if _, ok := systemTable.read(parent); !ok && !systemTable.startsLogin(parent) {
		t.Errorf("process %d is hidden", parent)
	}
	if got, err := unix.Getsid(0); err != nil || systemTable.session(os.Getpid()) != got {
		t.Errorf("session %d, %v", got, err)
	}
}

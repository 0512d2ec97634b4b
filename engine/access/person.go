package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/proctree"
	"tandem/engine/terminal"
	"tandem/persist/store"
)

// mostAncestors bounds how far up the tree a client's process is followed.
const mostAncestors = 64

// mayActForPerson refuses what only a person may do to agents, and to whatever
// runs in a session or process of theirs: `tandem allow`, typed by the agent
// that waits to be allowed, is that agent's. Who cannot be told from one is refused, too.
func (g *Guard) mayActForPerson(ctx context.Context, name string) error {
	caller := server.CallerOf(ctx)
	if caller.Agent() {
		return api.Errorf(api.CodeForbidden, "call %s: only the user may do that", name)
	}
	if o := caller.Origin; o.Agent != "" {
		return api.Errorf(api.CodeForbidden, "call %s: only the user may do that, and this was started on %s from %s", name, o.From, o.Agent).
			WithHint("use the dashboard, or a terminal that no agent started or typed into")
	}
	behind, unknown, err := g.whoIsBehind(ctx)
	switch {
	case err != nil:
		return err
	case unknown != "":
		return api.Errorf(api.CodeForbidden, "call %s: only the user may do that, and the caller is unknown: %s", name, unknown).
			WithHint("use the dashboard, or a terminal that no agent started or typed into; run tandem doctor there if that is refused too")
	case behind != "":
		return api.Errorf(api.CodeForbidden, "call %s: only the user may do that, and this was started from %s", name, behind).
			WithHint("use the dashboard, or a terminal that no agent started or typed into")
	}
	return nil
}

// An ancestry is what is known of a client's process and those that it descends from.
type ancestry struct {
	processes []store.Identity // the client's own first
	marks     map[string]bool  // ids of ours in their environments
	start     uint64           // the start time of the client's own
	collected bool             // the way up leads to the keeper or the engine
	unknown   string           // why it is not known whose it is; "" if it is
	private   string           // why the marks of the client's process cannot be read; "" if they can
}

// strict returns a copy of a that counts as unknown if the environment of the client's own process
// cannot be read.
func (a ancestry) strict() ancestry {
	a.unknown = cmp.Or(a.unknown, a.private)
	return a
}

// A processTable is what the kernel tells of processes.
type processTable struct {
	read func(pid int) (proctree.Process, bool)
	mark func(pid int) (proctree.Mark, error)
	// foreign reports whether a process runs and is another user's. It does not go by /proc, which
	// may hide it (hidepid, proc(5)).
	foreign func(pid int) bool
	session func(pid int) (leader int)
}

// theProcesses is the table of this machine.
var theProcesses = processTable{
	read:    proctree.Read,
	mark:    proctree.ReadMark,
	foreign: func(pid int) bool { return pid > 0 && unix.Kill(pid, 0) == unix.EPERM },
	session: func(pid int) int {
		leader, err := unix.Getsid(pid)
		if err != nil {
			return 0
		}
		return leader
	},
}

// ancestryOf follows a process up the tree, unless it was followed just now.
func (g *Guard) ancestryOf(pid int) ancestry {
	keeper := g.KeeperPID()
	if pid == os.Getpid() {
		return ancestry{} // the engine itself asks
	}
	var a ancestry
	for range followTries {
		s, ok := g.table().read(pid)
		if !ok || s.Zombie {
			return ancestry{unknown: fmt.Sprintf("/proc does not show the program that called, process %d: it has exited or is hidden", pid)}
		}
		key := follower{pid, s.StartTime, keeper}
		if a, ok := g.followed.of(key); ok {
			return a
		}
		var whole bool
		if a, whole = g.follow(s, keeper); whole {
			g.followed.keep(key, a)
			return a
		}
	}
	return a
}

// followTries is how often a process is followed whose ancestors exit meanwhile.
const followTries = 3

func (g *Guard) table() processTable {
	if g.processes != nil {
		return *g.processes
	}
	return theProcesses
}

// follow follows a process up the tree. It is not the whole way if a process on it ends
// meanwhile or is hidden, or if it is too long.
func (g *Guard) follow(s proctree.Process, keeper int) (a ancestry, whole bool) {
	a.marks, a.start = make(map[string]bool), s.StartTime
	self, table := os.Getpid(), g.table()
	for first := s.PID; len(a.processes) < mostAncestors; {
		if s.PID == keeper || s.PID == self {
			a.collected = true
			return a, true
		}
		a.processes = append(a.processes, store.Identity{PID: s.PID, StartTime: s.StartTime, BootID: g.BootID})
		m, err := table.mark(s.PID)
		// A privileged program on the way, as sshd or screen, does not let its environment be
		// read. What it hides is no loss: whoever would hide a mark can also drop it.
		if err != nil && (s.PID == first && !table.foreign(s.PID) || !errors.Is(err, fs.ErrPermission)) {
			a.private = fmt.Sprintf("the environment of process %d (%s) cannot be read: %v", s.PID, s.Name, store.Cause(err))
			if errors.Is(err, unix.ESRCH) {
				a.private = fmt.Sprintf("process %d (%s) has just exited", s.PID, s.Name)
			}
			if !errors.Is(err, fs.ErrPermission) {
				a.unknown = a.private
				return a, false
			}
		}
		if m.DataDir == g.DataDir {
			a.marks[m.ID] = true
		}
		switch s.Parent {
		case 0, 1: // init, or the first of a container
			return a, true
		case keeper, self: // may be hidden, too
			a.collected = true
			return a, true
		}
		parent, ok := table.read(s.Parent)
		if now, there := table.read(s.PID); !there || now.StartTime != s.StartTime || now.Parent != s.Parent {
			a.unknown = fmt.Sprintf("process %d (%s), which it descends from, has just exited or lost its parent", s.PID, s.Name)
			return a, false
		}
		if !ok {
			if table.leadsOut(s.Parent) {
				return a, true
			}
			a.unknown = fmt.Sprintf("/proc hides process %d, the parent of process %d (%s), though it is not another user's", s.Parent, s.PID, s.Name)
			return a, false
		}
		s = parent
	}
	a.unknown = fmt.Sprintf("it has more than %d ancestors", mostAncestors)
	return a, false
}

// leadsOut reports whether a hidden process is where a login of the user's begins: one of
// another user, as login, or one in a session that such a one leads, as the part of sshd
// that runs as the user. A child of the keeper never is: it leads a session of its own.
func (t processTable) leadsOut(pid int) bool {
	return t.foreign(pid) || t.foreign(t.session(pid))
}

// A follower is a process whose ancestry is known, under a keeper. The start time tells it from
// one that has its process id later.
type follower struct {
	pid       int
	startTime uint64
	keeper    int
}

const (
	// followedFor is how long an ancestry is kept: a verb that goes to a thousand machines
	// connects a thousand times. All that may come of it meanwhile makes it less than it is here:
	// who descends from an agent's process or from the keeper did so all its life.
	followedFor  = 2 * time.Second
	mostFollowed = 64
)

// ancestries are those that were followed just now.
type ancestries struct {
	mu    sync.Mutex
	known map[follower]followedAt
}

type followedAt struct {
	ancestry
	at time.Time
}

func (k *ancestries) of(f follower) (ancestry, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known, ok := k.known[f]
	return known.ancestry, ok && time.Since(known.at) < followedFor
}

func (k *ancestries) keep(f follower, a ancestry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil || len(k.known) >= mostFollowed {
		k.known = map[follower]followedAt{}
	}
	k.known[f] = followedAt{a, time.Now()}
}

// AgentBehind names the session or process of an agent that the caller runs in; ""
// if there is none. A descendant of the keeper that belongs to nothing of ours
// has hidden whose it is, and who is unknown is named as such.
func (g *Guard) AgentBehind(ctx context.Context) (string, error) {
	behind, unknown, err := g.whoIsBehind(ctx)
	if unknown != "" {
		behind = "an unknown program (" + unknown + ")"
	}
	return behind, err
}

// whoIsBehind is AgentBehind, with why it is not known who that is apart.
func (g *Guard) whoIsBehind(ctx context.Context) (behind, unknown string, err error) {
	caller, process := server.CallerOf(ctx), server.PeerProcessOf(ctx)
	if process.Elsewhere() {
		return "", "", nil // whoever received it knows who that is
	}
	return g.agentAbove(ctx, g.ancestryHeld(caller, process))
}

// agentNamed returns what agentAbove does, but reports an unknown ancestry as an agent.
func (g *Guard) agentNamed(ctx context.Context, a ancestry) (string, error) {
	behind, unknown, err := g.agentAbove(ctx, a)
	if unknown != "" {
		behind = "an unknown program (" + unknown + ")"
	}
	return behind, err
}

// agentAbove names the agent's session or process in an ancestry, or says why it
// is unknown whether there is one.
func (g *Guard) agentAbove(ctx context.Context, a ancestry) (behind, unknown string, err error) {
	if a.unknown != "" {
		return "", a.unknown, nil
	}
	known := false
	err = g.Visit(ctx, func(r store.Record, session *terminal.Session) {
		if behind != "" || !a.includes(r) {
			return
		}
		known = true
		if r.Owner != "" || strings.HasPrefix(r.Actor, server.AgentPrefix) {
			behind = r.Name + ", which " + r.Actor + " started"
		} else if session != nil && strings.HasPrefix(session.LastTypist(), server.AgentPrefix) {
			behind = r.Name + ", where " + session.LastTypist() + " typed last"
		}
	})
	if err != nil {
		return "", "", err
	}
	if a.collected && !known {
		behind = "a process that hides which session it belongs to"
	}
	return behind, "", nil
}

// A peerProcess is a server.PeerProcess.
type peerProcess interface{ Check(start uint64) error }

// ancestryHeld is the ancestry of a caller's process, which runs still: nothing in it is
// of another one that has its id now.
func (g *Guard) ancestryHeld(caller server.Caller, process peerProcess) ancestry {
	if caller.Peer.PID <= 0 {
		return ancestry{unknown: "the program that connected is not in this machine's process table"}
	}
	a := g.ancestryOf(caller.Peer.PID).strict()
	if a.unknown != "" || caller.Peer.PID == os.Getpid() {
		return a
	}
	if err := process.Check(a.start); err != nil {
		return ancestry{unknown: err.Error()}
	}
	return a
}

// mayHandOver reports whether a caller's terminal may be taken over, and the PTY's master
// given out in turn: to a person's program on this machine alone. Nothing that runs in a
// session or process of ours gets one, whoever started it: it may be confined, and a
// master is a way past what the engine refuses.
func (g *Guard) mayHandOver(caller server.Caller, process peerProcess) bool {
	if caller.Agent() || caller.Origin.From != "" || caller.Peer.PID <= 0 {
		return false
	}
	a := g.ancestryHeld(caller, process)
	return a.unknown == "" && !a.collected && len(a.marks) == 0
}

// includes reports whether a record's child is among the ancestors, or has left
// its mark on one of them.
func (a ancestry) includes(r store.Record) bool {
	if a.marks[r.ID] {
		return true
	}
	for _, p := range a.processes {
		if r.Identity != nil && *r.Identity == p {
			return true
		}
	}
	return false
}

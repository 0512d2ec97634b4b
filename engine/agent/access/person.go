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
	"tandem/engine/session/terminal"
	"tandem/engine/system/proctree"
	"tandem/persist/store"
)

// maxAncestors limits how many ancestors of a client's process are inspected.
const maxAncestors = 64

// checkUserOnly rejects operations only the user may call. It rejects agents and every program in
// their sessions and processes: `tandem allow`, typed by the agent waiting for permission, comes
// from that agent. It also rejects callers of unknown origin.
func (g *Guard) checkUserOnly(ctx context.Context, name string) error {
	caller := api.CallerOf(ctx)
	if caller.Agent() {
		return api.Errorf(api.CodeForbidden, "call %s: only the user may do that", name)
	}
	if o := caller.Origin; o.Agent != "" {
		return api.Errorf(api.CodeForbidden, "call %s: only the user may do that, and this program was started on %s from %s", name, o.From, o.Agent).
			WithHint("use the dashboard, or a terminal that no agent started or typed into")
	}
	behind, unknown, err := g.findAgentBehind(ctx)
	switch {
	case err != nil:
		return err
	case unknown != "":
		return api.Errorf(api.CodeForbidden, "call %s: only the user may do that, and the caller is unknown: %s", name, unknown).
			WithHint("use the dashboard, or a terminal that no agent started or typed into; run tandem doctor there if that is refused too")
	case behind != "":
		return api.Errorf(api.CodeForbidden, "call %s: only the user may do that, and this program was started from %s", name, behind).
			WithHint("use the dashboard, or a terminal that no agent started or typed into")
	}
	return nil
}

// An ancestry describes a client's process and its ancestors.
type ancestry struct {
	processes     []store.Identity // the client's own first
	marks         map[string]bool  // record ids in their environments
	start         uint64           // start time of the client's own process
	fromKeeper    bool             // an ancestor is the keeper or the engine
	unknownReason string           // why the origin is unknown; "" if it is known
	unreadable    string           // why the marks of the client's process cannot be read; "" if they can
}

// asStrict returns a copy whose origin is unknown if the environment of the client's process cannot
// be read.
func (a ancestry) asStrict() ancestry {
	a.unknownReason = cmp.Or(a.unknownReason, a.unreadable)
	return a
}

// A processTable reads the kernel's process information.
type processTable struct {
	self func() int // the engine's own process
	read func(pid int) (proctree.Process, bool)
	mark func(pid int) (proctree.Mark, error)
	// foreign reports whether a process belongs to another user. It does not use /proc, which may
	// hide the process (hidepid, proc(5)).
	foreign func(pid int) bool
	session func(pid int) (leader int)
}

// systemTable is the table of this machine.
var systemTable = processTable{
	self:    os.Getpid,
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

// ancestryOf returns the ancestry of a process, from the cache if possible.
func (g *Guard) ancestryOf(pid int) ancestry {
	keeper := g.KeeperPID()
	if pid == g.table().self() {
		return ancestry{} // the engine itself
	}
	var a ancestry
	for range maxFollowTries {
		s, ok := g.table().read(pid)
		if !ok || s.IsZombie() {
			return ancestry{unknownReason: fmt.Sprintf("/proc does not show the calling program (process %d): it has exited or is hidden", pid)}
		}
		key := ancestryKey{pid, s.StartTime, keeper}
		if a, ok := g.cache.get(key); ok {
			return a
		}
		var complete bool
		if a, complete = g.followParents(s, keeper); complete {
			g.cache.put(key, a)
			return a
		}
	}
	return a
}

// maxFollowTries limits how often the ancestors of a process are collected anew because one of them
// has exited meanwhile.
const maxFollowTries = 3

func (g *Guard) table() processTable {
	if g.processes != nil {
		return *g.processes
	}
	return systemTable
}

// followParents collects the ancestors of a process. complete is false if one of them exits
// meanwhile or is hidden, or if there are too many.
func (g *Guard) followParents(s proctree.Process, keeper int) (a ancestry, complete bool) {
	a.marks, a.start = make(map[string]bool), s.StartTime
	table := g.table()
	self := table.self()
	for first := s.PID; len(a.processes) < maxAncestors; {
		if s.PID == keeper || s.PID == self {
			a.fromKeeper = true
			return a, true
		}
		a.processes = append(a.processes, store.Identity{PID: s.PID, StartTime: s.StartTime, BootID: g.BootID})
		m, err := table.mark(s.PID)
		// The environment of a privileged ancestor, such as sshd or screen, cannot be read.
		// Skipping it loses nothing: a program able to hide its mark this way could as well remove
		// it.
		if err != nil && (s.PID == first && !table.foreign(s.PID) || !errors.Is(err, fs.ErrPermission)) {
			a.unreadable = fmt.Sprintf("the environment of process %d (%s) cannot be read: %v", s.PID, s.Name, store.Cause(err))
			if errors.Is(err, unix.ESRCH) {
				a.unreadable = fmt.Sprintf("process %d (%s) has just exited", s.PID, s.Name)
			}
			if !errors.Is(err, fs.ErrPermission) {
				a.unknownReason = a.unreadable
				return a, false
			}
		}
		if m.DataDir == g.DataDir {
			a.marks[m.ID] = true
		}
		switch s.Parent {
		case 0, 1: // init, or the first process of a container
			return a, true
		case keeper, self: // may be hidden too
			a.fromKeeper = true
			return a, true
		}
		parent, ok := table.read(s.Parent)
		// Read the child again: its parent may have exited between the two reads, and the id may be
		// reused.
		if now, there := table.read(s.PID); !there || now.StartTime != s.StartTime || now.Parent != s.Parent {
			a.unknownReason = fmt.Sprintf("process %d (%s), which it descends from, has just exited or lost its parent", s.PID, s.Name)
			return a, false
		}
		if !ok {
			if table.startsLogin(s.Parent) {
				return a, true
			}
			a.unknownReason = fmt.Sprintf("/proc hides process %d, the parent of process %d (%s), though it is not another user's", s.Parent, s.PID, s.Name)
			return a, false
		}
		s = parent
	}
	a.unknownReason = fmt.Sprintf("it has more than %d ancestors", maxAncestors)
	return a, false
}

// startsLogin reports whether a hidden process is the root of a login: it belongs to another user,
// like login, or to a session led by another user's process, like the part of sshd that runs as the
// user. A child of the keeper is never a root, because it leads its own session.
func (t processTable) startsLogin(pid int) bool {
	return t.foreign(pid) || t.foreign(t.session(pid))
}

// An ancestryKey identifies a process with a known ancestry under a keeper. The start time
// distinguishes it from a later process with the same id.
type ancestryKey struct {
	pid       int
	startTime uint64
	keeper    int
}

const (
	// ancestryTTL is how long an ancestry is cached, because a command for a thousand machines connects a
	// thousand times. An outdated entry is safe. It can only lack ancestors, and a descendant of an
	// agent or of the keeper has been one since it started.
	ancestryTTL   = 2 * time.Second
	maxAncestries = 64
)

// An ancestryCache holds recently collected ancestries.
type ancestryCache struct {
	mu      sync.Mutex
	entries map[ancestryKey]cachedAncestry
}

type cachedAncestry struct {
	ancestry
	at time.Time
}

func (k *ancestryCache) get(f ancestryKey) (ancestry, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known, ok := k.entries[f]
	return known.ancestry, ok && time.Since(known.at) < ancestryTTL
}

func (k *ancestryCache) put(f ancestryKey, a ancestry) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.entries == nil || len(k.entries) >= maxAncestries {
		k.entries = map[ancestryKey]cachedAncestry{}
	}
	k.entries[f] = cachedAncestry{a, time.Now()}
}

// AgentBehind returns the name of the agent's session or process that the caller runs in, or "". It
// also names a caller whose origin is unknown. That includes a descendant of the keeper without a
// known record, because it has hidden its origin.
func (g *Guard) AgentBehind(ctx context.Context) (string, error) {
	behind, unknown, err := g.findAgentBehind(ctx)
	if unknown != "" {
		behind = "an unknown program (" + unknown + ")"
	}
	return behind, err
}

// findAgentBehind is AgentBehind with the reason for an unknown caller as a separate result.
func (g *Guard) findAgentBehind(ctx context.Context) (behind, unknown string, err error) {
	caller, process := api.CallerOf(ctx), api.PeerProcessOf(ctx)
	if process.Elsewhere() {
		return "", "", nil // checked by the engine it was received from
	}
	return g.findAgentAbove(ctx, g.verifyAncestry(caller, process))
}

// nameAgentAbove is findAgentAbove, but reports an unknown ancestry as an agent.
func (g *Guard) nameAgentAbove(ctx context.Context, a ancestry) (string, error) {
	behind, unknown, err := g.findAgentAbove(ctx, a)
	if unknown != "" {
		behind = "an unknown program (" + unknown + ")"
	}
	return behind, err
}

// findAgentAbove returns the name of the agent's session or process in an ancestry, or the reason
// it is unknown.
func (g *Guard) findAgentAbove(ctx context.Context, a ancestry) (behind, unknown string, err error) {
	if a.unknownReason != "" {
		return "", a.unknownReason, nil
	}
	known := false
	err = g.Visit(ctx, func(r store.Record, session *terminal.Session) {
		if behind != "" || !a.includes(r) {
			return
		}
		known = true
		if r.Owner != "" || strings.HasPrefix(r.Actor, api.AgentPrefix) {
			behind = r.Name + ", which " + r.Actor + " started"
		} else if session != nil && strings.HasPrefix(session.LastTypist(), api.AgentPrefix) {
			behind = r.Name + ", where " + session.LastTypist() + " typed last"
		}
	})
	if err != nil {
		return "", "", err
	}
	if a.fromKeeper && !known {
		behind = "a process that hides which session it belongs to"
	}
	return behind, "", nil
}

// A peerProcess is the part of an api.PeerProcess used here.
type peerProcess interface{ Check(start uint64) error }

// verifyAncestry returns the ancestry of a caller's process after checking that the process still
// runs, so that it cannot belong to a later process with the same id.
func (g *Guard) verifyAncestry(caller api.Caller, process peerProcess) ancestry {
	if caller.Peer.PID <= 0 {
		return ancestry{unknownReason: "the program that connected is not in this machine's process table"}
	}
	a := g.ancestryOf(caller.Peer.PID).asStrict()
	if a.unknownReason != "" || caller.Peer.PID == g.table().self() {
		return a
	}
	if err := process.Check(a.start); err != nil {
		return ancestry{unknownReason: err.Error()}
	}
	return a
}

// canHandOver reports whether a caller's terminal may be taken over, with the PTY's master as the
// reply. Only the user's programs on this machine qualify. Programs in sessions or processes do
// not: they may be confined, and with a master they could evade the engine's checks.
func (g *Guard) canHandOver(caller api.Caller, process peerProcess) bool {
	if caller.Agent() || caller.Origin.From != "" || caller.Peer.PID <= 0 {
		return false
	}
	a := g.verifyAncestry(caller, process)
	return a.unknownReason == "" && !a.fromKeeper && len(a.marks) == 0
}

// includes reports whether the child of record r is among the ancestors, or whether one of them has
// r's id in its environment.
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

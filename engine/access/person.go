package access

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

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
// that waits to be allowed, is that agent's.
func (g *Guard) mayActForPerson(ctx context.Context, name string) error {
	caller := server.CallerOf(ctx)
	if caller.Agent() {
		return api.Errorf(api.CodeForbidden, "call %s: only the person may do that", name)
	}
	if o := caller.Origin; o.Agent != "" {
		return api.Errorf(api.CodeForbidden, "call %s: only the person may do that, and this was started on %s from %s", name, o.From, o.Agent).
			WithHint("use the dashboard, or a terminal that no agent started or typed into")
	}
	behind, err := g.AgentBehind(ctx)
	if err != nil || behind == "" {
		return err
	}
	return api.Errorf(api.CodeForbidden, "call %s: only the person may do that, and this was started from %s", name, behind).
		WithHint("use the dashboard, or a terminal that no agent started or typed into")
}

// An ancestry is what is known of a client's process and those that it descends from.
type ancestry struct {
	processes []store.Identity // the client's own first
	marks     map[string]bool  // ids of ours in their environments
	collected bool             // the way up leads to the keeper or the engine
}

// ancestryOf follows a process up the tree, unless it was followed just now.
func (g *Guard) ancestryOf(pid int) ancestry {
	keeper := g.KeeperPID()
	if pid == os.Getpid() {
		return ancestry{} // the engine itself asks
	}
	s, ok := proctree.Read(pid)
	if !ok {
		return ancestry{}
	}
	key := follower{pid, s.StartTime, keeper}
	if a, ok := g.followed.of(key); ok {
		return a
	}
	a, whole := g.follow(s, keeper)
	if whole {
		g.followed.keep(key, a)
	}
	return a
}

// follow follows a process up the tree. It is not the whole way if a process on it ends
// meanwhile, or if it is too long.
func (g *Guard) follow(s proctree.Process, keeper int) (a ancestry, whole bool) {
	a.marks = make(map[string]bool)
	self := os.Getpid()
	for range mostAncestors {
		if s.PID == keeper || s.PID == self {
			a.collected = true
			return a, true
		}
		a.processes = append(a.processes, store.Identity{PID: s.PID, StartTime: s.StartTime, BootID: g.BootID})
		if m := proctree.MarkOf(s.PID); m.DataDir == g.DataDir {
			a.marks[m.ID] = true
		}
		if s.Parent <= 1 {
			return a, true
		}
		var ok bool
		if s, ok = proctree.Read(s.Parent); !ok {
			return a, false
		}
	}
	return a, false
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
// has hidden whose it is.
func (g *Guard) AgentBehind(ctx context.Context) (string, error) {
	pid := server.CallerOf(ctx).Peer.PID
	if pid <= 0 {
		return "", nil // not of this machine's process table
	}
	a := g.ancestryOf(pid)
	if !a.collected && len(a.marks) == 0 {
		return "", nil
	}
	known, behind := false, ""
	err := g.Visit(ctx, func(r store.Record, session *terminal.Session) {
		if behind != "" || !a.includes(r) {
			return
		}
		known = true
		if r.Owner != "" || strings.HasPrefix(r.Actor, server.AgentPrefix) {
			behind = r.Name + ", which " + r.Actor + " started"
		} else if session != nil && strings.HasPrefix(session.TypedLast(), server.AgentPrefix) {
			behind = r.Name + ", where " + session.TypedLast() + " typed last"
		}
	})
	if err != nil {
		return "", err
	}
	if a.collected && !known {
		behind = "a process that hides which session it belongs to"
	}
	return behind, nil
}

// mayHandOver reports whether a caller's terminal may be taken over, and the PTY's master
// given out in turn: to a person's program on this machine alone. Nothing that runs in a
// session or process of ours gets one, whoever started it: it may be confined, and a
// master is a way past what the engine refuses.
func (g *Guard) mayHandOver(caller server.Caller) bool {
	if caller.Agent() || caller.Origin.From != "" || caller.Peer.PID <= 0 {
		return false
	}
	a := g.ancestryOf(caller.Peer.PID)
	return !a.collected && len(a.marks) == 0
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

package mcp

import (
	"sync"
	"time"

	"tandem/engine/api"
)

const (
	// backlogMost is how much may wait to be recorded later; what is more is
	// recorded at once.
	backlogMost = 256
	// backlogGather is how long what was done waits for more to be recorded with.
	backlogGather = 20 * time.Millisecond
)

// A backlog is what goes into the audit log behind the caller's back: an agent
// does not wait for the log of what it did, and the engine need not be told of
// each call by itself.
type backlog struct {
	mu      sync.Mutex
	waiting []recorded
	busy    bool // somebody sees to them
}

// A recorded is a call that is still to be recorded.
type recorded struct {
	face  *face
	entry func() api.AuditEntry
}

// later has a call recorded after what came before it. What is left when the
// server ends is recorded before it has ended.
func (s *server) later(r recorded) {
	b := &s.backlog
	b.mu.Lock()
	if len(b.waiting) >= backlogMost {
		b.mu.Unlock()
		s.record([]recorded{r})
		return
	}
	b.waiting = append(b.waiting, r)
	begin := !b.busy
	b.busy = true
	b.mu.Unlock()
	if begin {
		s.tasks.Go(s.catchUp)
	}
}

// catchUp records what waits until nothing does.
func (s *server) catchUp() {
	b := &s.backlog
	for {
		sleep(s.ctx, backlogGather)
		b.mu.Lock()
		todo := b.waiting
		b.waiting = nil
		b.busy = len(todo) > 0
		b.mu.Unlock()
		if len(todo) == 0 {
			return
		}
		s.record(todo)
	}
}

// record adds calls to the audit log, those of one agent in their order.
func (s *server) record(calls []recorded) {
	byFace := make(map[*face][]api.AuditEntry)
	for _, c := range calls {
		byFace[c.face] = append(byFace[c.face], c.entry())
	}
	for f, entries := range byFace {
		if err := addToAudit(f.engine, entries...); err != nil {
			s.log.Error("write audit log", "calls", len(entries), "error", err)
		}
	}
}

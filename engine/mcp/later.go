package mcp

import (
	"context"
	"errors"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
	"tandem/engine/sleep"
)

const (
	// backlogMost is how much may wait to be recorded later; what is more is
	// recorded at once.
	backlogMost = 256
	// backlogAgain is how long after a failure it is tried again to record what
	// waits, and backlogTries how often.
	backlogAgain = 200 * time.Millisecond
	backlogTries = 25
	// batchMost is how many bytes of arguments go into one request.
	batchMost = 1 << 20
)

// A backlog is what goes into the audit log behind the caller's back, so that
// an agent does not wait for the log of what it did. While one call is being
// recorded others gather, and go together.
type backlog struct {
	mu      sync.Mutex
	waiting []recorded
	busy    bool // somebody sees to them
}

// A recorded is a call that is still to be recorded.
type recorded struct {
	agent *toolkit.Agent
	entry func() api.AuditEntry // what is given once is given again
}

// later has a call recorded after what came before it. What is left when the
// server ends is recorded before it has ended.
func (s *server) later(r recorded) { s.keep(&s.backlog, r) }

// keep is later with a backlog.
func (s *server) keep(b *backlog, r recorded) {
	b.mu.Lock()
	if len(b.waiting) >= backlogMost {
		b.mu.Unlock()
		s.dropped(s.record([]recorded{r}))
		return
	}
	b.waiting = append(b.waiting, r)
	begin := !b.busy
	b.busy = true
	b.mu.Unlock()
	if begin {
		s.tasks.Go(func() { s.catchUp(b) })
	}
}

// catchUp records what waits until nothing does. What cannot be recorded as
// there is no engine just now waits for the next one, for a while.
func (s *server) catchUp(b *backlog) {
	var failed []recorded
	tries := 0
	for {
		b.mu.Lock()
		todo := append(failed, b.waiting...)
		b.waiting = nil
		b.busy = len(todo) > 0
		b.mu.Unlock()
		if len(todo) == 0 {
			return
		}
		if failed = s.record(todo); len(failed) == 0 {
			tries = 0
			continue
		}
		if tries++; tries > backlogTries || s.ctx.Err() != nil {
			s.dropped(failed)
			failed, tries = nil, 0
			continue
		}
		_ = sleep.For(s.ctx, backlogAgain)
	}
}

// record adds calls to the audit log, those of one agent in their order, and
// gives those for which there was no engine.
func (s *server) record(calls []recorded) (failed []recorded) {
	for _, batch := range batches(calls) {
		entries := make([]api.AuditEntry, len(batch))
		for i, c := range batch {
			entries[i] = c.entry()
		}
		err := addToAudit(batch[0].agent.Engine.Client, entries...)
		switch {
		case err == nil:
		case errors.Is(err, api.CodeUnavailable), errors.Is(err, context.DeadlineExceeded): // a machine may be away
			failed = append(failed, batch...)
		default:
			s.log.Error("write audit log", "calls", len(batch), "error", err)
		}
	}
	return failed
}

// batches parts calls into what goes into one request each.
func batches(calls []recorded) (all [][]recorded) {
	byAgent := make(map[*toolkit.Agent][]recorded)
	var order []*toolkit.Agent
	for _, c := range calls {
		if byAgent[c.agent] == nil {
			order = append(order, c.agent)
		}
		byAgent[c.agent] = append(byAgent[c.agent], c)
	}
	for _, f := range order {
		size, from := 0, 0
		for i, c := range byAgent[f] {
			e := c.entry()
			own := sizeOf(e.Arguments) + len(e.Error)
			if size += own; size > batchMost && i > from {
				all = append(all, byAgent[f][from:i])
				size, from = own, i
			}
		}
		all = append(all, byAgent[f][from:])
	}
	return all
}

// sizeOf is about how many bytes a value of JSON has.
func sizeOf(value any) int {
	n := 8
	switch v := value.(type) {
	case string:
		n += len(v)
	case []any:
		for _, e := range v {
			n += sizeOf(e)
		}
	case map[string]any:
		for name, e := range v {
			n += len(name) + sizeOf(e)
		}
	}
	return n
}

// dropped tells of calls that nobody can look up any more.
func (s *server) dropped(calls []recorded) {
	for _, c := range calls {
		s.log.Error("write audit log: there is no engine", "tool", c.entry().Tool, "outcome", c.entry().Outcome)
	}
}

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
	// maxBacklog is the maximum number of waiting entries. Further ones are written at once.
	maxBacklog = 256
	// backlogRetryInterval is the pause after a failed write, and maxBacklogRetries the number of
	// retries.
	backlogRetryInterval = 200 * time.Millisecond
	maxBacklogRetries    = 25
	// maxBatch is the maximum size of the arguments in one request, in bytes.
	maxBatch = 1 << 20
)

// A backlog holds entries for the audit log. They are written in the background, so that an agent
// does not wait for the log of its own calls. While one request runs, further entries collect and
// go together in the next.
type backlog struct {
	mu      sync.Mutex
	waiting []pendingEntry
	busy    bool // a goroutine is writing entries
}

// A pendingEntry is an audit entry still to be written.
type pendingEntry struct {
	agent *toolkit.Agent
	entry func() api.AuditEntry // builds the entry; returns the same one every time
}

// recordLater adds an entry to the server's backlog. close waits until it is written.
func (s *server) recordLater(r pendingEntry) { s.enqueueEntry(&s.backlog, r) }

// enqueueEntry adds an entry to a backlog, and starts a writer if none runs.
func (s *server) enqueueEntry(b *backlog, r pendingEntry) {
	b.mu.Lock()
	if len(b.waiting) >= maxBacklog {
		b.mu.Unlock()
		// Writing here slows the agent down instead of letting the backlog grow.
		s.logDropped(s.writeEntries([]pendingEntry{r}))
		return
	}
	b.waiting = append(b.waiting, r)
	begin := !b.busy
	b.busy = true
	b.mu.Unlock()
	if begin {
		s.tasks.Go(func() { s.flushBacklog(b) })
	}
}

// flushBacklog writes entries until none are left. While the engine is unavailable it retries for a
// while, and then gives the entries up.
func (s *server) flushBacklog(b *backlog) {
	var failed []pendingEntry
	tries := 0
	for {
		b.mu.Lock()
		// Failed entries go first, to keep the order of the calls.
		todo := append(failed, b.waiting...)
		b.waiting = nil
		// Cleared under the lock: enqueueEntry then either sees a running writer or starts one.
		b.busy = len(todo) > 0
		b.mu.Unlock()
		if len(todo) == 0 {
			return
		}
		if failed = s.writeEntries(todo); len(failed) == 0 {
			tries = 0
			continue
		}
		if tries++; tries > maxBacklogRetries || s.ctx.Err() != nil {
			s.logDropped(failed)
			failed, tries = nil, 0
			continue
		}
		_ = sleep.For(s.ctx, backlogRetryInterval)
	}
}

// writeEntries adds entries to the audit log, each agent's in order, and returns those not written
// because the engine was unavailable.
func (s *server) writeEntries(calls []pendingEntry) (failed []pendingEntry) {
	for _, batch := range splitBatches(calls) {
		entries := make([]api.AuditEntry, len(batch))
		for i, c := range batch {
			entries[i] = c.entry()
		}
		err := writeAudit(batch[0].agent.Engine.Once(), entries...)
		switch {
		case err == nil:
		case errors.Is(err, api.CodeUnavailable), errors.Is(err, context.DeadlineExceeded): // the machine may be offline
			failed = append(failed, batch...)
		default:
			s.log.Error("write audit log", "calls", len(batch), "error", err)
		}
	}
	return failed
}

// splitBatches groups entries into requests: one agent per request, at most maxBatch bytes.
func splitBatches(calls []pendingEntry) (all [][]pendingEntry) {
	byAgent := make(map[*toolkit.Agent][]pendingEntry)
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
			own := estimateSize(e.Arguments) + len(e.Error)
			if size += own; size > maxBatch && i > from {
				all = append(all, byAgent[f][from:i])
				size, from = own, i
			}
		}
		all = append(all, byAgent[f][from:])
	}
	return all
}

// estimateSize returns the approximate size of a JSON value in bytes.
func estimateSize(value any) int {
	n := 8
	switch v := value.(type) {
	case string:
		n += len(v)
	case []any:
		for _, e := range v {
			n += estimateSize(e)
		}
	case map[string]any:
		for name, e := range v {
			n += len(name) + estimateSize(e)
		}
	}
	return n
}

// logDropped reports entries missing from the audit log.
func (s *server) logDropped(calls []pendingEntry) {
	for _, c := range calls {
		s.log.Error("write audit log: no engine", "tool", c.entry().Tool, "outcome", c.entry().Outcome)
	}
}

package mcp

import "sync"

// backlogMost is how much may wait to be done later; what is more is done at once.
const backlogMost = 256

// A backlog does things in their order behind the caller's back, so that an
// agent does not wait for the log of what it did.
type backlog struct {
	mu      sync.Mutex
	waiting []func()
	busy    bool // somebody sees to them
}

// later has do done after what came before it. What is left when the server
// ends is done before it has ended.
func (s *server) later(do func()) {
	b := &s.backlog
	b.mu.Lock()
	if len(b.waiting) >= backlogMost {
		b.mu.Unlock()
		do()
		return
	}
	b.waiting = append(b.waiting, do)
	begin := !b.busy
	b.busy = true
	b.mu.Unlock()
	if begin {
		s.tasks.Go(b.work)
	}
}

// work does what waits until nothing does.
func (b *backlog) work() {
	for {
		b.mu.Lock()
		todo := b.waiting
		b.waiting = nil
		b.busy = len(todo) > 0
		b.mu.Unlock()
		if len(todo) == 0 {
			return
		}
		for _, do := range todo {
			do()
		}
	}
}

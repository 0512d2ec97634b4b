package supervise

import (
	"sync"
	"time"

	"tandem/engine/api"
)

// Thousands of one-shot commands run, and most exit before anyone could look at them. Their record
// and mark are on disk before the start, and the keeper knows their exit; that is all a new engine
// needs. The states in between are therefore written only if they last.

// oneShotGrace is how long a one-shot command may run before it is shown.
const oneShotGrace = 20 * time.Millisecond

// setStateSoon is setState, except that a state replaced within oneShotGrace is neither saved nor
// announced.
func setStateSoon(c *Control, p *proc, s api.State) {
	p.rec.State = string(s)
	p.rev++
	rev := p.rev
	time.AfterFunc(oneShotGrace, func() {
		c.box.Post(func() {
			// A newer state has been saved by itself; the id may belong to another process.
			if p.rev == rev && c.procs[p.rec.ID] == p && !p.removing {
				c.writeRecord(p)
			}
		})
	})
}

// AfterStart calls begin after oneShotGrace, unless the command has exited by then. The returned
// function ends what begin began, if it did.
func AfterStart(begin func() (end func())) (end func()) {
	var mu sync.Mutex
	var begun func()
	ended := false
	timer := time.AfterFunc(oneShotGrace, func() {
		mu.Lock()
		defer mu.Unlock()
		if !ended {
			begun = begin()
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		if ended = true; begun != nil {
			begun()
		}
	}
}

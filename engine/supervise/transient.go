package supervise

import (
	"sync"
	"time"

	"tandem/engine/api"
)

// A one-shot command is often over before anybody could look at it, and there
// are many. What is on disk of it beforehand, its record and its mark, and what
// the keeper knows tell a new engine all there is to know; so the states in
// between are written down only if they last.

// soon is how long a one-shot command may run before it is shown.
const soon = 20 * time.Millisecond

// becomeSoon is become, except that a state that is over in a moment is neither written
// nor announced.
func becomeSoon(c *Control, p *proc, s api.State) {
	p.rec.State = string(s)
	p.rev++
	rev := p.rev
	time.AfterFunc(soon, func() {
		c.box.Post(func() {
			if p.rev == rev && c.procs[p.rec.ID] == p && !p.removing {
				c.write(p)
			}
		})
	})
}

// AfterStart begins something that is not worth doing for a one-shot command that ends
// at once. It returns what ends it.
func AfterStart(begin func() (end func())) (end func()) {
	var mu sync.Mutex
	var begun func()
	ended := false
	timer := time.AfterFunc(soon, func() {
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

package supervise

import (
	"sync"
	"time"
)

// Thousands of one-shot commands run, and most exit before anyone could look at them. Their record
// and mark are on disk before the start, and the keeper knows their exit; that is all a new engine
// needs. The states in between are therefore written only if they last.

// oneShotGrace is how long a one-shot command may run before it is shown.
const oneShotGrace = 20 * time.Millisecond

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

package supervise

import (
	"sync"
	"time"
)

// Thousands of one-shot commands run, and most exit before anyone could look at them. Before such a
// command starts, its record and mark are on disk, and the keeper learns of its exit. A new engine
// needs no more than that. The states in between are therefore saved only if they last.

// oneShotGrace is how long a one-shot command must run before it is shown to clients.
const oneShotGrace = 20 * time.Millisecond

// AfterStart calls begin after oneShotGrace. The function it returns must be called when the
// command exits. It prevents the call or, if begin was called, calls what begin returned.
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

package page

import (
	"sync"
	"time"
)

// triesPerMinute is how many codes may be tried in a minute, by all together.
const triesPerMinute = 10

// A limiter lets a number of things happen in a time.
type limiter struct {
	most int
	each time.Duration

	mu    sync.Mutex
	taken []time.Time
}

func newLimiter(most int, each time.Duration) limiter { return limiter{most: most, each: each} }

// take reports whether one more may happen now, and counts it.
func (l *limiter) take(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.taken) > 0 && now.Sub(l.taken[0]) >= l.each {
		l.taken = l.taken[1:]
	}
	if len(l.taken) >= l.most {
		return false
	}
	l.taken = append(l.taken, now)
	return true
}

// giveBack makes the last one not count.
func (l *limiter) giveBack() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.taken); n > 0 {
		l.taken = l.taken[:n-1]
	}
}

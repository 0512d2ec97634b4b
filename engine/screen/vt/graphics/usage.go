package graphics

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/base/sleep"
)

// MaxUnpacked is the maximum number of bytes of pixels that a terminal unpacks per second, and for
// one picture. A few kilobytes can unpack to gigabytes, so limiting stored data is not enough.
const MaxUnpacked = 64 << 20

// ErrBusy is the error for a terminal that has reached MaxUnpacked.
var ErrBusy = errors.New("EBUSY:too many pixels to unpack")

// A Usage counts the memory and the unpacking of one terminal's pictures. It is safe for concurrent
// use. A nil Usage has no limits.
type Usage struct {
	kept atomic.Int64 // bytes

	mu       sync.Mutex // guards the rest
	spent    int64      // bytes unpacked that still count towards MaxUnpacked
	since    time.Time  // when spent was current
	unpacked int64
}

// Unpacked returns how many bytes of pixels have been unpacked so far.
func (u *Usage) Unpacked() int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.unpacked
}

// Kept returns how many bytes the pictures take.
func (u *Usage) Kept() int64 { return u.kept.Load() }

// allowUnpack reports whether n bytes may be unpacked now, and if so counts them.
func (u *Usage) allowUnpack(n int) bool {
	if u == nil {
		return true
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.refill()
	if u.spent+int64(n) > MaxUnpacked {
		return false
	}
	u.spent += int64(n)
	u.unpacked += int64(n)
	return true
}

// refill reduces spent by the time passed. The caller holds the mutex.
func (u *Usage) refill() {
	now := time.Now()
	passed := min(now.Sub(u.since), time.Second)
	u.spent = max(u.spent-int64(passed)*MaxUnpacked/int64(time.Second), 0)
	u.since = now
}

// WaitForQuota waits, at most about a second, until MaxUnpacked bytes may be unpacked. Unpacking
// can still be refused if another caller comes first.
func (u *Usage) WaitForQuota(ctx context.Context) error {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	u.refill()
	wait := time.Duration(u.spent * int64(time.Second) / MaxUnpacked)
	u.mu.Unlock()
	if wait == 0 {
		return nil
	}
	return sleep.For(ctx, wait+time.Millisecond)
}

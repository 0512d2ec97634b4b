package throttle

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestManyTriggersCallOncePerGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int32
		limited := New(100*time.Millisecond, func() { n.Add(1) })
		for range 1000 {
			limited.Trigger()
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Second)
		limited.Stop()
		limited.Trigger()
		synctest.Wait()
		if got := n.Load(); got < 9 || got > 12 {
			t.Errorf("%d calls in a second", got)
		}
	})
}

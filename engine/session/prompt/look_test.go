package prompt

import (
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestPanicInAPollDoesNotPreventTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		s := New(Options{Log: slog.New(slog.NewTextHandler(&out, nil))})
		var due atomic.Bool
		due.Store(true)
		s.pollLater(time.Millisecond, &due, func() { panic("stumbled") })
		time.Sleep(time.Second)
		synctest.Wait()
		if due.Load() || !strings.Contains(out.String(), "stumbled") {
			t.Errorf("a look is due: %t, logged %q", due.Load(), out.String())
		}
	})
}

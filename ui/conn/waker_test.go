package conn

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// A session with endless output causes news all the time. The echo of a key must not wait for the
// interval between two notifications.
func TestEchoDoesNotWaitForPacedNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w := NewWaker()
		sent := make(chan Waking)
		go w.Run(ctx, func(msg Waking) {
			select {
			case sent <- msg:
			case <-ctx.Done():
			}
		})
		began := time.Now()
		w.NotifyTyped()
		<-sent
		w.NotifyNews() // news from the output, between the key and its echo
		<-sent
		w.NotifyNews()
		synctest.Wait()
		w.NotifyEcho()
		if msg := <-sent; msg != WakeEcho || time.Since(began) != 0 {
			t.Errorf("after %v comes %v", time.Since(began), msg)
		}
		if msg := <-sent; msg != WakeNews || time.Since(began) != newsInterval {
			t.Errorf("the flood's news comes after %v: %v", time.Since(began), msg)
		}
	})
}

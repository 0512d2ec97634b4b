package ui

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// A session that prints without end has news all the time; what a key is answered with
// must not wait behind the time that is kept between two pieces of it.
func TestAnEchoDoesNotWaitForThePacingOfOtherNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w := newWaker()
		sent := make(chan tea.Msg)
		go w.run(ctx, func(msg tea.Msg) {
			select {
			case sent <- msg:
			case <-ctx.Done():
			}
		})
		began := time.Now()
		w.input()
		<-sent
		w.changed() // the flood's, between the key and its echo
		<-sent
		w.changed()
		synctest.Wait()
		w.echoed()
		if msg := <-sent; msg != (changedMsg{echo: true}) || time.Since(began) != 0 {
			t.Errorf("after %v comes %+v", time.Since(began), msg)
		}
		if msg := <-sent; msg != (changedMsg{}) || time.Since(began) != newsEvery {
			t.Errorf("the flood's news comes after %v: %+v", time.Since(began), msg)
		}
	})
}

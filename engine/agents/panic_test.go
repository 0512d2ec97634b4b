package agents

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"tandem/persist/store"
)

// odd is a session whose screen cannot be looked at the first time.
type odd struct{ *stage }

func (s odd) IsReady(context.Context) error {
	if s.looks.Add(1) == 1 {
		panic("stumbled")
	}
	return nil
}

func TestAgentIsLookedAtAgainAfterAPanic(t *testing.T) {
	master, pid := startAgent(t, "claude")
	synctest.Test(t, func(t *testing.T) {
		s := odd{&stage{master: master, gone: make(chan struct{})}}
		w := Start(Options{Library: NewLibrary("", nil), Child: pid, Changed: func(*store.Agent) {}}, s)
		time.Sleep(time.Minute)
		w.Moved()
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.looks.Load() < 2 || w.agent() == nil {
			t.Errorf("looked %d times and found %v", s.looks.Load(), w.agent())
		}
		close(s.gone)
	})
}

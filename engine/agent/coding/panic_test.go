package coding

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"tandem/persist/store"
)

// A panickingSession panics at its first inspection.
type panickingSession struct{ *fakeSession }

func (s panickingSession) IsReady(context.Context) error {
	if s.looks.Add(1) == 1 {
		panic("stumbled")
	}
	return nil
}

func TestInspectionContinuesAfterPanic(t *testing.T) {
	master, pid := startAgent(t, "claude")
	synctest.Test(t, func(t *testing.T) {
		s := panickingSession{&fakeSession{master: master, gone: make(chan struct{})}}
		w := Start(Options{Library: NewLibrary("", nil), Child: pid, Changed: func(*store.Agent) {}}, s)
		time.Sleep(time.Minute)
		w.NoteChange()
		time.Sleep(time.Minute)
		synctest.Wait()
		if s.looks.Load() < 2 || w.currentAgent() == nil {
			t.Errorf("looked %d times and found %v", s.looks.Load(), w.currentAgent())
		}
		close(s.gone)
	})
}

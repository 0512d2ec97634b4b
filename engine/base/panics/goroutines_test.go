package panics

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
)

func TestGroupPassesPanicToWait(t *testing.T) {
	var g Group
	finished := false
	g.Start(stumble)
	g.Start(func() { finished = true })
	c := Catch(g.Wait)
	if c == nil || !strings.Contains(c.Stack, "stumble") || !finished {
		t.Errorf("caught %v, the other goroutine finished: %t", c, finished)
	}
}

func TestLoggedPanicIsContained(t *testing.T) {
	var out bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		Logged(slog.New(slog.NewTextHandler(&out, nil)), "fetch", stumble)()
	}()
	<-done
	if text := out.String(); !strings.Contains(text, "at=fetch") || !strings.Contains(text, "panic=stumbled") {
		t.Errorf("logged %q", text)
	}
}

func TestRestartedRunsLoopUntilItReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.DiscardHandler)
		runs := 0
		Restarted(t.Context(), log, "loop", func() {
			if runs++; runs < 3 {
				stumble()
			}
		})()
		if runs != 3 {
			t.Errorf("ran %d times", runs)
		}
		ctx, cancel := context.WithCancel(t.Context())
		Restarted(ctx, log, "loop", func() {
			cancel()
			stumble()
		})()
	})
}

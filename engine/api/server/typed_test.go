package server

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestInputIsCountedAcrossConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all typing
		cancelled := 0
		viewer := func() *Viewer { return &Viewer{input: "x", typing: &all, cancel: func() { cancelled++ }} }
		first := viewer()
		if got := first.takenHeader(); got != "" {
			t.Errorf("of what is new: %q", got)
		}
		for range 3 {
			if !first.typed.beginMessage(first) {
				t.Fatal("it does not count")
			}
			first.typed.finishMessage(first)
		}
		first.typed.beginMessage(first)
		go func() {
			time.Sleep(passOn / 2)
			first.typed.finishMessage(first)
		}()
		second, began := viewer(), time.Now()
		if got := second.takenHeader(); got != "4" || cancelled != 1 || time.Since(began) != passOn/2 {
			t.Errorf("of a connection that is being served: %q after %v, %d cancelled", got, time.Since(began), cancelled)
		}
		if first.typed.beginMessage(first) {
			t.Error("a connection counts after the next one has come")
		}
		first.typed.disconnect(first)
		second.typed.disconnect(second)
		time.Sleep(typedKept)
		if got := viewer().takenHeader(); got != "4" {
			t.Errorf("after some time: %q", got)
		}
		all.by["x"].disconnect(all.by["x"].now)
		time.Sleep(typedKept + 1)
		if got := viewer().takenHeader(); got != "" {
			t.Errorf("after a long time: %q", got)
		}
	})
}

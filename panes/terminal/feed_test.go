package terminal

import (
	"testing"

	"tandem/engine/api"
)

func TestTakeEchoReportsTheFirstFrameAfterAKey(t *testing.T) {
	var f Feed
	frame := api.Output{Frame: &api.Frame{}}
	if f.TakeEcho(frame) {
		t.Error("a frame is an echo and nothing was typed")
	}
	f.awaitsEcho.Store(true)
	if f.TakeEcho(api.Output{Clip: []byte("x")}) {
		t.Error("an output without a frame counts as an echo")
	}
	if !f.TakeEcho(frame) || f.TakeEcho(frame) {
		t.Error("not the first frame alone is the echo")
	}
}

package terminal

import (
	"testing"

	"tandem/engine/api"
)

func TestFeedReportsTheFirstFrameAfterAKeyAsEcho(t *testing.T) {
	var f Feed
	frame := api.Output{Frame: &api.Frame{}}
	isEcho := func(out api.Output) bool {
		_, echo := f.Receive(out)
		return echo
	}
	if isEcho(frame) {
		t.Error("a frame is an echo and nothing was typed")
	}
	f.awaitsEcho.Store(true)
	if isEcho(api.Output{Clip: []byte("x")}) {
		t.Error("an output without a frame counts as an echo")
	}
	if !isEcho(frame) || isEcho(frame) {
		t.Error("not the first frame alone is the echo")
	}
}

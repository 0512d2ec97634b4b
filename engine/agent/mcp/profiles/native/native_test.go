package native

import (
	"testing"

	"tandem/engine/agent/mcp/toolkit"
)

func TestMaxOutputIsLimited(t *testing.T) {
	t.Parallel()
	for asked, want := range map[int]int{0: toolkit.DefaultBodySize, 10: 8, toolkit.DefaultSize: toolkit.DefaultBodySize, 1 << 30: toolkit.MaxSize - toolkit.DefaultSize + toolkit.DefaultBodySize} {
		if got, err := outputLimit(asked); got != want || err != nil {
			t.Errorf("%d: %d, %v", asked, got, err)
		}
	}
	if _, err := outputLimit(-1); err == nil {
		t.Error("less than nothing is given")
	}
}

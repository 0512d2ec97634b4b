package project

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
)

func TestOwnSessionIsStoppedLast(t *testing.T) {
	t.Parallel()
	ours := []api.Process{{ID: "db"}, {ID: "shell"}, {ID: "web"}}
	before := func() [][]int { return [][]int{{1, 2}, {2}, nil} } // each after those started later
	if diff := cmp.Diff([][]int{{2}, {0, 2}, nil}, StopLast(before(), ours, "shell")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before(), StopLast(before(), ours, "other")); diff != "" {
		t.Errorf("for a caller that stays: %s", diff)
	}
}

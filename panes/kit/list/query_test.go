package list

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRankPathsPrefersMatchesInTheName(t *testing.T) {
	paths := []string{"find/draw/readme", "a/b/find_draw_test.go", "a/find_draw.go", "none", "fd/x/"}
	for query, want := range map[string][]int{
		"finddraw": {2, 1, 0}, "a fd.go": {2, 1}, "x": {4}, "zz": nil, "find readme": {0}, "Find": nil,
	} {
		q := NewQuery(query)
		if diff := cmp.Diff(want, q.RankPaths(paths)); diff != "" {
			t.Errorf("%q: %s", query, diff)
		}
	}
	q := NewQuery("fdraw")
	if diff := cmp.Diff([]int{2, 7, 8, 9, 10}, q.Places("a/find_draw.go")); diff != "" {
		t.Error(diff)
	}
}

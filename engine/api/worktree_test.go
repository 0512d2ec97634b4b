package api

import (
	"slices"
	"testing"
)

func TestBranchIsMergedDespiteTagOfTheSameName(t *testing.T) {
	if got := (Worktree{Branch: "v1"}).MergeArguments(); !slices.Equal(got, []string{"merge", "--", "refs/heads/v1"}) {
		t.Errorf("git %q", got)
	}
}

//go:build invariants

package invariants

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// decisions returns what a seed decides for a path, while calls for other paths come in between.
func decisions(seed uint64, path string, others int) (out []bool) {
	g := &generators{seed: seed}
	for range 200 {
		for range others {
			g.sometimes("another path", 2)
		}
		out = append(out, g.sometimes(path, 4))
	}
	return out
}

func TestSeedDecidesEachPathByItself(t *testing.T) {
	first := decisions(7, "a path", 0)
	if !slices.Equal(first, decisions(7, "a path", 3)) {
		t.Error("calls for another path change what a seed decides")
	}
	if slices.Equal(first, decisions(8, "a path", 0)) || slices.Equal(first, decisions(7, "b path", 0)) {
		t.Error("another seed and another path decide the same")
	}
	if !slices.Contains(first, true) || !slices.Contains(first, false) {
		t.Errorf("one in four: %v", first)
	}
}

func TestChildrenInheritAndPrintTheSeed(t *testing.T) {
	if os.Getenv("INVARIANTS_TEST_CHILD") != "" {
		Sometimes("a path", 2)
		return
	}
	child := exec.Command(os.Args[0], "-test.run=^TestChildrenInheritAndPrintTheSeed$")
	child.Env = append(os.Environ(), "INVARIANTS_TEST_CHILD=1")
	out, err := child.CombinedOutput()
	want := "invariants: " + SeedVariable + "=" + os.Getenv(SeedVariable) + "\n"
	if err != nil || strings.Count(string(out), want) != 1 {
		t.Errorf("a child prints %q (%v), want %q once", out, err, want)
	}
}

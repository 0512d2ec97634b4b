//go:build invariants

package invariants

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// drawDecisions returns a seed's decisions for a path, with calls for other paths in between.
func drawDecisions(seed uint64, path string, others int) (out []bool) {
	g := newGenerators(seed)
	for range 200 {
		for range others {
			g.decide("another path", 2)
		}
		out = append(out, g.decide(path, 4))
	}
	return out
}

func TestSeedDecidesEachPathIndependently(t *testing.T) {
	first := drawDecisions(7, "a path", 0)
	if !slices.Equal(first, drawDecisions(7, "a path", 3)) {
		t.Error("calls for another path change a seed's decisions")
	}
	if slices.Equal(first, drawDecisions(8, "a path", 0)) || slices.Equal(first, drawDecisions(7, "b path", 0)) {
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
	want := fmt.Sprintf("invariants: %s=%d\n", SeedVariable, Seed())
	if err != nil || strings.Count(string(out), want) != 1 {
		t.Errorf("a child prints %q (%v), want %q once", out, err, want)
	}
}

func TestNeverDisablesAPath(t *testing.T) {
	again := Never("a path")
	for range 100 {
		if Sometimes("a path", 1) {
			t.Fatal("the path is taken")
		}
	}
	if again(); !Sometimes("a path", 1) {
		t.Error("the path is not taken again")
	}
}

func TestBrokenPassesOnOtherPanics(t *testing.T) {
	defer func() {
		if p := recover(); p != "other" {
			t.Errorf("the panic is %v", p)
		}
	}()
	if got := Broken(func() { Failf("%d cells", 3) }); got != "3 cells" {
		t.Errorf("the message is %q", got)
	}
	Broken(func() { panic("other") })
}

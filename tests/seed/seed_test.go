package seed

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"tandem/engine/base/invariants"
)

// Another process repeats the draws of this one, and a different seed changes them.
func TestSameSeedDrawsTheSameNumbers(t *testing.T) {
	print := func(env, flag string) []string {
		cmd := exec.Command(os.Args[0], "-test.run=^TestDrawsAreLogged$", "-test.v", flag)
		cmd.Env = append(os.Environ(), env)
		out, err := cmd.CombinedOutput()
		draws := regexp.MustCompile(`(?:TANDEM_SEED|drawn|rapid)=.*`).FindAllString(string(out), -1)
		if err != nil || len(draws) < 10 {
			t.Fatalf("%v: %s", err, out)
		}
		return draws
	}
	const name, flag = invariants.SeedVariable + "=", "-rapid.checks=5"
	first, random := print(name+"7", flag), print(name+"random", flag)
	if again := print(name+"7", flag); !slices.Equal(first, again) {
		t.Errorf("one seed draws\n%q, and then\n%q", first, again)
	}
	if again := print(random[0], flag); !slices.Equal(random, again) {
		t.Errorf("%s draws\n%q, and then\n%q", random[0], random, again)
	}
	for _, other := range [][]string{print(name+"8", flag), random} {
		for i := range other {
			if other[i] == first[i] {
				t.Errorf("%s and %s both draw %s", first[0], other[0], other[i])
			}
		}
	}
	const own = "-rapid.seed=5"
	if got, want := print(name+"7", own), print(name+"8", own); got[len(got)-1] != want[len(want)-1] {
		t.Errorf("with %s, rapid draws %s and %s", own, got[len(got)-1], want[len(want)-1])
	}
}

// TestDrawsAreLogged logs what TestSameSeedDrawsTheSameNumbers compares.
func TestDrawsAreLogged(t *testing.T) {
	random := Rand(t)
	t.Logf("drawn=%d", random.Uint64())
	t.Logf("drawn=%d", From(random.Uint64()).Uint64())
	t.Run("another test", func(t *testing.T) {
		if a, b := Rand(t).Uint64(), Rand(t).Uint64(); a != b {
			t.Errorf("one test draws %d, and then %d", a, b)
		}
		t.Logf("drawn=%d", Rand(t).Uint64())
	})
	Check(t, func(rt *rapid.T) { t.Logf("rapid=%d", rapid.SliceOfN(rapid.Uint64(), 9, 9).Draw(rt, "all")) })
}

package invariants

import (
	"os"
	"strconv"
	"testing"
)

func TestSeedIsFixedUnlessTheVariableSetsIt(t *testing.T) {
	for given, want := range map[string]uint64{"": DefaultSeed, "7": 7, "18446744073709551615": 1<<64 - 1} {
		t.Setenv(SeedVariable, given)
		if got := readSeed(); got != want {
			t.Errorf("%q: the seed is %d, want %d", given, got, want)
		}
	}
}

func TestDrawnSeedIsInherited(t *testing.T) {
	t.Setenv(SeedVariable, "random")
	drawn := readSeed()
	if got := os.Getenv(SeedVariable); got != strconv.FormatUint(drawn, 10) {
		t.Errorf("child processes get %q, want %d", got, drawn)
	}
	if again := readSeed(); again != drawn {
		t.Errorf("the seed is %d and then %d", drawn, again)
	}
	t.Setenv(SeedVariable, "random")
	if other := readSeed(); other == drawn {
		t.Errorf("%d is drawn twice", drawn)
	}
}

func TestInvalidSeedIsRejected(t *testing.T) {
	t.Setenv(SeedVariable, "-1")
	defer func() {
		if want := "TANDEM_SEED=-1: must be a number or random"; recover() != want {
			t.Errorf("no panic with %q", want)
		}
	}()
	readSeed()
}

package invariants

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
)

// SeedVariable is the environment variable with the seed of all random choices of tests and of
// Sometimes: a number, or "random" to draw one.
const SeedVariable = "TANDEM_SEED"

// DefaultSeed is the seed without the variable, so that every run makes the same choices.
const DefaultSeed = 1

// Seed returns the seed that SeedVariable sets. If it draws one, it changes the variable, so that
// child processes inherit the number. It panics if the variable is invalid.
var Seed = sync.OnceValue(readSeed)

func readSeed() uint64 {
	given := os.Getenv(SeedVariable)
	if given == "" {
		return DefaultSeed
	}
	if given == "random" {
		drawn := rand.Uint64()
		os.Setenv(SeedVariable, strconv.FormatUint(drawn, 10))
		return drawn
	}
	n, err := strconv.ParseUint(given, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("%s=%s: must be a number or random", SeedVariable, given))
	}
	return n
}

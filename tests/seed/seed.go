// Package seed gives the random choices of tests their seed: a fixed one, so that every run makes the
// same choices, unless TANDEM_SEED sets another one.
package seed

import (
	"flag"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"tandem/engine/invariants"
)

// Rand returns a generator for the random choices of t, and logs the seed, so that a failure shows
// how to repeat it. What it generates depends on the seed and the name of t only, not on the order
// of tests. Goroutines may not share it: give each its own with From.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	logSeed(t)
	name := fnv.New64a()
	io.WriteString(name, t.Name())
	return rand.New(rand.NewPCG(invariants.Seed(), name.Sum64()))
}

// From returns a generator for part of a test, such as a goroutine or a property of rapid. A
// generator of Rand, or rapid, has drawn n.
func From(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 0)) }

// Check is rapid.Check with the seed of all tests, which it logs. The flag -rapid.seed still wins.
func Check(t rapid.TB, property func(*rapid.T)) {
	t.Helper()
	logSeed(t)
	seedRapid()
	rapid.Check(t, property)
}

// seedRapid sets rapid's seed. Rapid adds small numbers to it, and takes 0 for a random one.
var seedRapid = sync.OnceFunc(func() {
	if f := flag.Lookup("rapid.seed"); f.Value.String() == "0" {
		f.Value.Set(strconv.FormatUint(From(invariants.Seed()).Uint64()|1, 10))
	}
})

func logSeed(t rapid.TB) {
	t.Helper()
	t.Logf("%s=%d", invariants.SeedVariable, invariants.Seed())
}

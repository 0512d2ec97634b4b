// Package seed makes the random choices of tests repeatable. They depend on one seed, the same in
// every run unless TANDEM_SEED sets another.
package seed

import (
	"flag"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"tandem/engine/base/invariants"
)

// Rand returns a generator for the random choices of t, and logs the seed, so a failure shows how to
// repeat it. Its numbers depend on the seed and the name of t only, not on the order of tests. It is
// not safe for concurrent use: give each goroutine a generator of its own with From.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	logSeed(t)
	name := fnv.New64a()
	io.WriteString(name, t.Name())
	return rand.New(rand.NewPCG(invariants.Seed(), name.Sum64()))
}

// From returns a generator for a goroutine of a test, or for a check of rapid; n is a number drawn
// with Rand or rapid.
func From(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 0)) }

// Check calls rapid.Check with the seed of all tests, and logs it. The flag -rapid.seed takes
// precedence.
func Check(t rapid.TB, property func(*rapid.T)) {
	t.Helper()
	logSeed(t)
	seedRapid()
	rapid.Check(t, property)
}

// seedRapid sets rapid's seed, unless a flag or variable of rapid did. Rapid adds small numbers to its
// seed, so adjacent seeds are mixed first, and treats 0 as random.
var seedRapid = sync.OnceFunc(func() {
	// The race detector slows random checks down five times; a fifth of them finds the same races.
	if f := flag.Lookup("rapid.checks"); isRaceBuild() && f.Value.String() == f.DefValue {
		f.Value.Set("20")
	}
	if f := flag.Lookup("rapid.seed"); f.Value.String() == "0" {
		f.Value.Set(strconv.FormatUint(From(invariants.Seed()).Uint64()|1, 10))
	}
})

func isRaceBuild() bool {
	info, _ := debug.ReadBuildInfo()
	return info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

func logSeed(t rapid.TB) {
	t.Helper()
	t.Logf("%s=%d", invariants.SeedVariable, invariants.Seed())
}

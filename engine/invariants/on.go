//go:build invariants

package invariants

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
)

// Enabled reports whether this build has the tag invariants. It guards every check, so that
// the compiler drops the call from other builds.
const Enabled = true

// Sometimes returns true in about one of oneIn calls of a build with the tag invariants, and
// false in every other build. It guards a rare path, and path names it.
func Sometimes(path string, oneIn int) bool { return seeded.sometimes(path, oneIn) }

// Never keeps a path from being taken until again is called, for a test of the usual one.
func Never(path string) (again func()) {
	seeded.use(path, nil)
	return func() { seeded.use(path, seeded.generator(path)) }
}

// generators has one for each path. With one for all, what a seed does to a path would depend
// on how goroutines take turns on the others.
type generators struct {
	seed uint64

	mu      sync.Mutex            // guards the rest
	byPath  map[string]*rand.Rand // nil for a path that is never taken
	printed bool                  // the seed is
}

// seeded is set before main, so that every process that this one starts inherits the seed.
var seeded = newGenerators(os.Getenv(SeedVariable))

func newGenerators(given string) *generators {
	seed, err := strconv.ParseUint(given, 10, 64)
	if err != nil {
		seed = rand.Uint64()
		os.Setenv(SeedVariable, strconv.FormatUint(seed, 10))
	}
	return &generators{seed: seed, byPath: map[string]*rand.Rand{}}
}

func (g *generators) sometimes(path string, oneIn int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.printed {
		g.printed = true
		fmt.Fprintf(os.Stderr, "invariants: %s=%d\n", SeedVariable, g.seed) // the engine's is engine.log
	}
	r, known := g.byPath[path]
	if !known {
		r = g.generator(path)
		g.byPath[path] = r
	}
	return r != nil && r.IntN(oneIn) == 0
}

func (g *generators) use(path string, r *rand.Rand) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.byPath[path] = r
}

func (g *generators) generator(path string) *rand.Rand {
	name := fnv.New64a()
	name.Write([]byte(path))
	return rand.New(rand.NewPCG(g.seed, name.Sum64()))
}

// Repanic panics again with a recovered p that Failf has panicked with: what recovers from the
// mistakes of one part must not hide a broken invariant from the tests.
func Repanic(p any) {
	if b, ok := p.(broken); ok {
		panic(b)
	}
}

//go:build invariants

package invariants

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"sync"
)

// Enabled reports whether this build has the tag invariants. It guards every check, so that the
// compiler drops the call from other builds.
const Enabled = true

// Sometimes returns true in about one of oneIn calls in builds with the tag invariants, and false in
// other builds. It guards the rare path named path. The first call prints the seed to standard error.
func Sometimes(path string, oneIn int) bool { return seeded.decide(path, oneIn) }

// Never disables a rare path, for tests of the usual path. Calling the returned function enables it
// again.
func Never(path string) (again func()) {
	seeded.setGenerator(path, nil)
	return func() { seeded.setGenerator(path, seeded.newGenerator(path)) }
}

// generators holds one random generator for each path. With a shared one, a seed's effect on a path
// would depend on the order in which goroutines reach the others.
type generators struct {
	seed uint64

	mu      sync.Mutex            // guards the rest
	byPath  map[string]*rand.Rand // nil for a disabled path
	printed bool                  // the seed has been printed
}

// seeded is initialized before main, so that every child process inherits the seed.
var seeded = newGenerators(Seed())

func newGenerators(seed uint64) *generators {
	return &generators{seed: seed, byPath: map[string]*rand.Rand{}}
}

func (g *generators) decide(path string, oneIn int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.printed {
		g.printed = true
		fmt.Fprintf(os.Stderr, "invariants: %s=%d\n", SeedVariable, g.seed) // in engine.log for the engine
	}
	r, known := g.byPath[path]
	if !known {
		r = g.newGenerator(path)
		g.byPath[path] = r
	}
	return r != nil && r.IntN(oneIn) == 0
}

func (g *generators) setGenerator(path string, r *rand.Rand) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.byPath[path] = r
}

func (g *generators) newGenerator(path string) *rand.Rand {
	name := fnv.New64a()
	name.Write([]byte(path))
	return rand.New(rand.NewPCG(g.seed, name.Sum64()))
}

// Repanic panics again with p if it is a panic of Failf. Code that recovers from bugs in one part of
// the program calls it, so that tests still see broken invariants.
func Repanic(p any) {
	if b, ok := p.(broken); ok {
		panic(b)
	}
}

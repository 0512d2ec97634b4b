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

// Each path has a generator of its own. With one for all, what a seed does to a path would
// depend on how goroutines take turns on the others.
type generators struct {
	seed uint64

	mu     sync.Mutex
	byPath map[string]*rand.Rand // nil until the seed is printed
}

// seeded is set before main, so that every process that this one starts inherits the seed.
var seeded = newGenerators()

func newGenerators() *generators {
	seed, err := strconv.ParseUint(os.Getenv(SeedVariable), 10, 64)
	if err != nil {
		seed = rand.Uint64()
		os.Setenv(SeedVariable, strconv.FormatUint(seed, 10))
	}
	return &generators{seed: seed}
}

func (g *generators) sometimes(path string, oneIn int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.byPath == nil {
		g.byPath = map[string]*rand.Rand{}
		fmt.Fprintf(os.Stderr, "invariants: %s=%d\n", SeedVariable, g.seed) // the engine's is engine.log
	}
	r := g.byPath[path]
	if r == nil {
		name := fnv.New64a()
		name.Write([]byte(path))
		r = rand.New(rand.NewPCG(g.seed, name.Sum64()))
		g.byPath[path] = r
	}
	return r.IntN(oneIn) == 0
}

// Broken runs f and returns the message of the invariant it breaks, "" if it breaks none. The
// tests of checks use it.
func Broken(f func()) (message string) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case broken:
			message = string(p)
		default:
			panic(p)
		}
	}()
	f()
	return ""
}

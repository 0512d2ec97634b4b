package tree

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"tandem/engine/base/invariants"
)

// fixedStreams are files of benchmarks whose input is the same for every seed, so that their figures
// can be compared.
var fixedStreams = []string{"engine/record/history/history_bench_test.go", "engine/screen/vt/streams_test.go"}

// seeders are the packages that turn the seed into random numbers.
var seeders = []string{"engine/base/invariants", "tests/seed"}

// Random choices that are not made from the seed cannot be repeated.
func TestRandomChoicesOfTestsUseTheSeed(t *testing.T) {
	t.Parallel()
	for _, file := range trackedFiles(t, "*.go") {
		if !strings.HasSuffix(file, "_test.go") && !strings.HasPrefix(file, "tests/") ||
			strings.HasPrefix(file, "bench/") || slices.Contains(fixedStreams, file) || slices.Contains(seeders, path.Dir(file)) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range unseeded(parseFile(t, file, text)) {
			t.Errorf("%s uses %s; use tests/seed", file, found)
		}
	}
}

func TestUnseededChoicesAreFound(t *testing.T) {
	for source, want := range map[string]string{
		`import "math/rand/v2"; var n = rand.IntN(3)`:                        "math/rand/v2.IntN",
		`import "math/rand/v2"; var r = rand.New(rand.NewPCG(1, 2))`:         "math/rand/v2.New math/rand/v2.NewPCG",
		`import other "math/rand/v2"; var n = other.Perm`:                    "math/rand/v2.Perm",
		`import "math/rand"; var r *rand.Rand`:                               "math/rand",
		`import "testing/quick"; var c = quick.Check`:                        "testing/quick",
		`import "pgregory.net/rapid"; var c = rapid.Check`:                   "pgregory.net/rapid.Check",
		`import "pgregory.net/rapid"; var c = rapid.MakeCheck(p)`:            "pgregory.net/rapid.MakeCheck",
		`import "pgregory.net/rapid"; func f(t *rapid.T) { rapid.Bool() }`:   "",
		`import "math/rand/v2"; func f(r *rand.Rand) int { return r.Int() }`: "",
		`import "crypto/rand"; var s = rand.Text()`:                          "",
	} {
		if got := strings.Join(unseeded(parseSource(t, source)), " "); got != want {
			t.Errorf("%s: found %q, want %q", source, got, want)
		}
	}
}

// unseeded returns what a file uses to choose at random without the seed.
func unseeded(file *ast.File) (found []string) {
	for _, spec := range file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		var allowed func(name string) bool
		local := "rand"
		switch imported {
		case "math/rand", "testing/quick":
			found = append(found, imported)
			continue
		case "math/rand/v2":
			allowed = func(name string) bool { return name == "Rand" }
		case "pgregory.net/rapid":
			local, allowed = "rapid", func(name string) bool { return name != "Check" && name != "MakeCheck" }
		default:
			continue
		}
		if spec.Name != nil {
			local = spec.Name.Name
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == local && !allowed(s.Sel.Name) {
					found = append(found, imported+"."+s.Sel.Name)
				}
			}
			return true
		})
	}
	return found
}

func TestGateNamesTheDefaultSeed(t *testing.T) {
	text, err := os.ReadFile(".ci/run")
	if want := fmt.Sprintf(`"%[1]s=${%[1]s:-%d}"`, invariants.SeedVariable, invariants.DefaultSeed); err != nil || !strings.Contains(string(text), want) {
		t.Errorf(".ci/run does not print %s (%v)", want, err)
	}
}

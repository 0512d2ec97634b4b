package tree

import (
	"go/ast"
	"os"
	"path"
	"strconv"
	"strings"
	"testing"
)

// sleepers are the test files, by name, that may call time.Sleep: how often, and why.
var sleepers = map[string]struct {
	calls  int
	reason string
}{
	"doubledeath_test.go": {1, "the fault hits at any moment"},
	"expire_test.go":      {1, "it runs in the bubble of withLoop"},
	"family.go":           {1, "tests/report runs outside of tests"},
	"flood_test.go":       {2, "a program prints slowly, and a read is retried"},
	"keeperstorm_test.go": {2, "the fault hits at any moment"},
	"places.go":           {1, "a test may wait for a place without a limit"},
	"secondloss_test.go":  {2, "the fault hits at any moment"},
}

// A sleep is too short on a busy machine and too long on a calm one. Tests wait with tests/wait, and
// tests about time run in a synctest bubble. Benchmarks measure real time, so they may sleep, and a
// program under test may hang for an hour.
func TestTestsDoNotSleep(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, file := range trackedFiles(t, "*.go") {
		if !strings.HasSuffix(file, "_test.go") && !strings.HasPrefix(file, "tests/") ||
			strings.HasPrefix(file, "bench/") || strings.HasSuffix(file, "bench_test.go") || strings.HasPrefix(file, "tests/wait/") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n, name := countSleeps(parseFile(t, file, text)), path.Base(file)
		if n > sleepers[name].calls {
			t.Errorf("%s: %d calls of time.Sleep outside synctest: wait for an event or a condition with tests/wait", file, n)
		}
		found[name] = found[name] || n == sleepers[name].calls
	}
	for name, s := range sleepers {
		if !found[name] {
			t.Errorf("no file %s calls time.Sleep %d times; correct sleepers", name, s.calls)
		}
	}
}

func TestSleepsAreFound(t *testing.T) {
	for source, want := range map[string]int{
		"func f() { time.Sleep(time.Second) }":                              1,
		"func f() { for !done() { time.Sleep(pause) } }":                    1,
		"func f() { time.Sleep(time.Hour) }":                                0,
		"import \"testing/synctest\"\nfunc f() { time.Sleep(time.Second) }": 0,
	} {
		if got := countSleeps(parseSource(t, source)); got != want {
			t.Errorf("%s: %d sleeps, want %d", source, got, want)
		}
	}
}

// countSleeps counts the calls of time.Sleep in a file without synctest, except those of an hour.
func countSleeps(file *ast.File) (n int) {
	for _, spec := range file.Imports {
		if path, _ := strconv.Unquote(spec.Path.Value); path == "testing/synctest" {
			return 0
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok && isSelector(call.Fun, "time", "Sleep") && !isSelector(call.Args[0], "time", "Hour") {
			n++
		}
		return true
	})
	return n
}

func isSelector(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != name {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == pkg
}

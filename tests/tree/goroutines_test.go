package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// otherProcesses are packages below engine whose goroutines run in other processes.
var otherProcesses = []string{"engine/api/client", "engine/remote/hosts/bridge", "engine/system/keeper", "engine/agent/mcp", "engine/page"}

// trusted lists the engine's files with goroutines outside engine/base/panics: their number, and the
// reason they need no boundary.
var trusted = map[string]struct {
	goroutines int
	reason     string
}{
	"engine/api/server/open.go":               {2, "they copy bytes"},
	"engine/api/server/server.go":             {1, "net/http has a boundary for each connection"},
	"engine/session/conditions/conditions.go": {1, "it catches and carries the panic itself"},
	"engine/control/host/ending.go":           {1, "it catches and carries the panic itself"},
	"engine/engine.go":                        {2, "the control loop and the keeper link own the state of all processes: after a panic the engine exits, and the next one adopts them"},
	"engine/record/history/history.go":        {1, "each step has a boundary"},
	"engine/remote/hosts/dial.go":             {4, "the greeting has a boundary; the others wait for a process"},
	"engine/remote/hosts/link.go":             {3, "they open, write and close streams"},
	"engine/remote/hosts/transport/join.go":   {2, "they copy bytes"},
	"engine/control/launch/keeper_linux.go":   {1, "it waits for a process"},
	"engine/record/logs/logs.go":              {2, "each order and each poll has a boundary"},
	"engine/base/panics/panics.go":            {1, "it is the boundary"},
	"engine/system/proctree/end_linux.go":     {1, "it waits for a process"},
	"engine/system/sandbox/proxy.go":          {2, "net/http and serve have boundaries"},
	"engine/control/supervise/effects.go":     {3, "guarded is the boundary of each effect"},
	"engine/session/terminal/attach.go":       {1, "it catches and carries the panic itself"},
	"engine/session/terminal/input.go":        {1, "it writes bytes"},
	"engine/session/terminal/session.go":      {1, "it has the boundary inside"},
}

// Untrusted input could make a goroutine panic and crash the engine. So each goroutine starts
// through engine/base/panics or is listed in trusted.
func TestGoroutinesOfTheEngineHaveAPanicBoundary(t *testing.T) {
	bare := map[string]int{}
	for dir, files := range packageFiles(t) {
		if dir != "engine" && !strings.HasPrefix(dir, "engine/") || slices.ContainsFunc(otherProcesses, func(other string) bool {
			return dir == other || strings.HasPrefix(dir, other+"/")
		}) {
			continue
		}
		for _, file := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if n := bareGoroutines(parsed); n > 0 {
				bare[filepath.ToSlash(file)] = n
			}
		}
	}
	for _, file := range slices.Sorted(maps.Keys(bare)) {
		if bare[file] != trusted[file].goroutines {
			t.Errorf("%s starts %d goroutines without engine/base/panics, want %d: use panics.Group, Logged or Restarted", file, bare[file], trusted[file].goroutines)
		}
	}
	for file := range trusted {
		if bare[file] == 0 {
			t.Errorf("%s starts no goroutine without engine/base/panics; remove it from trusted", file)
		}
	}
}

func TestGoroutinesWithoutBoundaryAreFound(t *testing.T) {
	for source, want := range map[string]int{
		"go f()":                          1,
		"go func() {}()":                  1,
		"go other.Logged(f)()":            1,
		"var wg sync.WaitGroup; wg.Go(f)": 1,
		"wg.Go(func() { go f() })":        2,
		`go panics.Logged("x", f)()`:      0,
		`wg.Go(panics.Logged("x", f))`:    0,
		`var g panics.Group; g.Start(f)`:  0,
		"f()":                             0,
	} {
		if got := bareGoroutines(parseSource(t, "func g() {\n"+source+"\n}")); got != want {
			t.Errorf("%s: %d goroutines without a boundary, want %d", source, got, want)
		}
	}
}

// bareGoroutines counts go statements, and calls of a WaitGroup's Go, whose function does not
// come from engine/base/panics.
func bareGoroutines(file *ast.File) (n int) {
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.GoStmt:
			if !ofPanics(node.Call.Fun) {
				n++
			}
		case *ast.CallExpr:
			if f, ok := node.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Go" && len(node.Args) == 1 && !ofPanics(node.Args[0]) {
				n++
			}
		}
		return true
	})
	return n
}

// ofPanics reports whether an expression is the result of a function of engine/base/panics.
func ofPanics(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	of, ok := f.X.(*ast.Ident)
	return ok && of.Name == "panics"
}

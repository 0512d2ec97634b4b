package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

func TestPackagesHaveNoInitFunction(t *testing.T) {
	for file := range goFiles(t) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if hasInit(parsed) {
			t.Errorf("%s has an init function; build what it sets on first use, with sync.OnceValue", file)
		}
	}
	for source, want := range map[string]bool{
		"func init() {}": true, "func f() {}; func init() {}": true,
		"type t int; func (t) init() {}": false, "func initialise() {}": false, "var init = 1": false,
	} {
		if hasInit(parseSource(t, source)) != want {
			t.Errorf("%s: found %v, want %v", source, !want, want)
		}
	}
}

// hasInit reports whether a file declares an init function.
func hasInit(file *ast.File) bool {
	return slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Recv == nil && f.Name.Name == "init"
	})
}

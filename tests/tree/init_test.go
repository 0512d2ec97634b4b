package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

func TestPackagesHaveNoInitFunction(t *testing.T) {
	for file := range goFiles(t) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s has an init function", file)
			}
		}
	}
}

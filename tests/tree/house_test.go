package tree

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"testing"
)

// Limits that keep every package, type and file small enough to be read.
const (
	maxFiles   = 40   // Go files of a package, without tests
	maxLines   = 6000 // lines of these files
	maxFile    = 500  // lines of one of them
	maxFields  = 30   // fields of a struct
	maxMethods = 60   // methods of a type
)

// tooLarge names what is over a limit still, and why. An entry that is not
// needed any more fails the test, so the list only ever gets shorter.
var tooLarge = map[string]string{}

func TestHouseIsWithinItsLimits(t *testing.T) {
	over := map[string]string{}
	for dir, files := range packageFiles(t) {
		measurePackage(t, dir, files, over)
	}
	for _, name := range slices.Sorted(maps.Keys(over)) {
		if _, known := tooLarge[name]; !known {
			t.Errorf("%s has %s", name, over[name])
		}
	}
	for name := range tooLarge {
		if _, still := over[name]; !still {
			t.Errorf("%s is within the limits; take it out of tooLarge", name)
		}
	}
}

func TestRootHoldsOnlyMain(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || !slices.Equal(files, []string{"main.go"}) {
		t.Errorf("the root holds %v (%v); move wiring to ui/cli/role and tests of the program to tests/", files, err)
	}
}

// packageFiles gives the Go files of each package that are not tests, by folder.
func packageFiles(t *testing.T) map[string][]string {
	dirs := map[string][]string{}
	for file := range goFiles(t) {
		dir := filepath.ToSlash(filepath.Dir(file))
		dirs[dir] = append(dirs[dir], file)
	}
	return dirs
}

// measurePackage adds to over what in a package is over a limit, with by how much.
func measurePackage(t *testing.T, dir string, files []string, over map[string]string) {
	lines := 0
	methods := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := bytes.Count(text, []byte{'\n'})
		lines += n
		if n > maxFile {
			over["file "+filepath.ToSlash(file)] = fmt.Sprintf("%d lines, more than %d", n, maxFile)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		measureTypes(dir, parsed, methods, over)
	}
	if len(files) > maxFiles || lines > maxLines {
		over["package "+dir] = fmt.Sprintf("%d files and %d lines, more than %d or %d", len(files), lines, maxFiles, maxLines)
	}
	for name, n := range methods {
		if n > maxMethods {
			over["type "+path.Join(dir, name)] = fmt.Sprintf("%d methods, more than %d", n, maxMethods)
		}
	}
}

// measureTypes counts the methods of a file and notes its large structs.
func measureTypes(dir string, file *ast.File, methods map[string]int, over map[string]string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv != nil {
				methods[receiver(n.Recv.List[0].Type)]++
			}
		case *ast.TypeSpec:
			s, ok := n.Type.(*ast.StructType)
			if ok && fields(s) > maxFields {
				over["struct "+path.Join(dir, n.Name.Name)] = fmt.Sprintf("%d fields, more than %d", fields(s), maxFields)
			}
		}
		return true
	})
}

func fields(s *ast.StructType) int {
	n := 0
	for _, f := range s.Fields.List {
		n += max(len(f.Names), 1)
	}
	return n
}

// receiver is the name of the type that a method belongs to.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

package tree

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// alarms are the sizes above which code gets hard to read. They are not targets: split a package
// near one along its responsibilities.
var alarms = map[string]int{
	"files of package": 40, // without tests
	"lines of package": 6000,
	"lines of file":    500,
	"fields of struct": 30,
	"methods of type":  60,
}

// records are the sizes that were already above an alarm when it was set. Values may only be
// lowered. The test fails if a size grows by a tenth.
var records = map[string]int{
	"lines of package ui": 6039,
}

func TestSizesStayBelowTheirAlarms(t *testing.T) {
	sizes := map[string]int{}
	for dir, files := range packageFiles(t) {
		measurePackage(t, dir, files, sizes)
	}
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		fields := strings.Fields(name)
		alarm := alarms[strings.Join(fields[:3], " ")]
		switch n, record := sizes[name], records[name]; {
		case record > 0 && n <= alarm:
			t.Errorf("%s: %d is below the alarm; remove its record", name, n)
		case n > max(alarm, record+record/10):
			t.Errorf("%s: %d, more than %d", name, n, max(alarm, record+record/10))
		}
	}
	for name := range records {
		if sizes[name] == 0 {
			t.Errorf("%s: does not exist; remove its record", name)
		}
	}
}

func TestRootHoldsOnlyMain(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || !slices.Equal(files, []string{"main.go"}) {
		t.Errorf("the root holds %v (%v); move wiring to ui/cli/role and tests of the program to tests/", files, err)
	}
}

// packageFiles returns the Go files of each package, without tests, by folder.
func packageFiles(t *testing.T) map[string][]string {
	dirs := map[string][]string{}
	for file := range goFiles(t) {
		dir := filepath.ToSlash(filepath.Dir(file))
		dirs[dir] = append(dirs[dir], file)
	}
	return dirs
}

// measurePackage adds the sizes of a package and its declarations to sizes.
func measurePackage(t *testing.T, dir string, files []string, sizes map[string]int) {
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := bytes.Count(text, []byte{'\n'})
		sizes["lines of file "+filepath.ToSlash(file)] = n
		sizes["files of package "+dir]++
		sizes["lines of package "+dir] += n
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		measureTypes(dir, parsed, sizes)
	}
}

// measureTypes adds the numbers of methods and fields of a file's types to sizes.
func measureTypes(dir string, file *ast.File, sizes map[string]int) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv != nil {
				sizes["methods of type "+path.Join(dir, receiver(n.Recv.List[0].Type))]++
			}
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				sizes["fields of struct "+path.Join(dir, n.Name.Name)] = fields(s)
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

// receiver returns the type name of a method's receiver.
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

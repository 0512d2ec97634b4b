package tree

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A sizeLimit is the size above which code gets hard to read. It is an alarm, not a target.
type sizeLimit struct {
	max     int
	instead string // what to do about it
}

var sizeLimits = map[string]sizeLimit{
	"files of package": {40, "move one subject to a package of its own"}, // without tests
	"lines of package": {6000, "move one subject to a package of its own"},
	"lines of file":    {500, "move one subject to a file of its own"},
	"fields of struct": {30, "move the fields that change together to a type of their own"},
	"methods of type":  {60, "divide the type by what it knows"}, // see countMethods
}

// recordsFile has today's size of whatever is near its limit. Each may grow by a tenth. -update
// only lowers them. Raising one, or adding one, is an edit by hand, in a commit that says why.
const recordsFile = "tests/tree/testdata/sizes.txt"

func TestSizesStayNearTheirRecords(t *testing.T) {
	t.Parallel()
	sizes := measureTree(t)
	text, err := os.ReadFile(recordsFile)
	if err != nil {
		t.Fatal(err)
	}
	records := parseRecords(t, string(text))
	if *update {
		lowerRecords(records, sizes)
		if err := os.WriteFile(recordsFile, []byte(formatRecords(records)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		if problem := checkSize(name, sizes[name], records[name]); problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
	}
	for name, record := range records {
		if problem := checkRecord(name, record, sizes[name]); problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
	}
}

// checkSize returns the problem of a size with a record, 0 for none.
func checkSize(name string, n, record int) string {
	limit := limitOf(name)
	switch {
	case n <= nearLimit(name):
		return ""
	case record == 0:
		return fmt.Sprintf("%d, near the limit of %d: %s; if it only moved, move its record in %s", n, limit.max, limit.instead, recordsFile)
	case n <= min(record+record/10, limit.max):
		return ""
	case record+record/10 < limit.max:
		return fmt.Sprintf("%d, more than a tenth above its record of %d: %s", n, record, limit.instead)
	}
	return fmt.Sprintf("%d, more than %d: %s", n, limit.max, limit.instead)
}

// checkRecord returns the problem of a record of a size.
func checkRecord(name string, record, n int) string {
	switch {
	case n <= nearLimit(name) || record-n > record/10:
		return fmt.Sprintf("%d, but its record is %d; lower it with: go test ./tests/tree -run Sizes -update", n, record)
	case record > limitOf(name).max:
		return fmt.Sprintf("its record of %d is above the limit of %d: %s", record, limitOf(name).max, limitOf(name).instead)
	}
	return ""
}

func limitOf(name string) sizeLimit {
	return sizeLimits[strings.Join(strings.Fields(name)[:3], " ")]
}

// nearLimit returns the largest size that needs no record.
func nearLimit(name string) int { return limitOf(name).max * 3 / 4 }

// lowerRecords lowers the records to the sizes and removes those not needed any longer.
func lowerRecords(records, sizes map[string]int) {
	for name, record := range records {
		records[name] = min(record, sizes[name])
		if sizes[name] <= nearLimit(name) {
			delete(records, name)
		}
	}
}

func parseRecords(t *testing.T, text string) map[string]int {
	t.Helper()
	records := map[string]int{}
	for line := range strings.Lines(text) {
		number, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(number)
		if err != nil || limitOf(name).max == 0 {
			t.Fatalf("%s: not a record: %q", recordsFile, line)
		}
		records[name] = n
	}
	return records
}

func formatRecords(records map[string]int) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(records)) {
		fmt.Fprintf(&b, "%d %s\n", records[name], name)
	}
	return b.String()
}

// measureTree returns the sizes of all packages, files and types, without tests.
func measureTree(t *testing.T) map[string]int {
	t.Helper()
	sizes := map[string]int{}
	for dir, files := range packageFiles(t) {
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			n := bytes.Count(text, []byte{'\n'})
			sizes["lines of file "+filepath.ToSlash(file)] = n
			sizes["files of package "+dir]++
			sizes["lines of package "+dir] += n
			countFields(dir, parseFile(t, file, text), sizes)
		}
	}
	for _, p := range loadPackages(t) {
		countMethods(p, sizes)
	}
	return sizes
}

func parseFile(t *testing.T, file string, text []byte) *ast.File {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// countFields adds the numbers of fields of a file's structs to sizes.
func countFields(dir string, file *ast.File, sizes map[string]int) {
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			if s, ok := spec.Type.(*ast.StructType); ok {
				sizes["fields of struct "+path.Join(dir, spec.Name.Name)] = s.Fields.NumFields()
			}
		}
		return true
	})
}

// countMethods adds the sizes of the method sets of a package's types to sizes: their methods, those
// of embedded types, and the functions of the package that take the type first, or first after a
// context. Such a function is a method in another form.
func countMethods(p *types.Package, sizes map[string]int) {
	dir := strings.TrimPrefix(p.Path(), module+"/")
	for _, name := range p.Scope().Names() {
		switch object := p.Scope().Lookup(name).(type) {
		case *types.TypeName:
			if !object.IsAlias() {
				sizes["methods of type "+path.Join(dir, name)] += countCallable(p, object.Type())
			}
		case *types.Func:
			if of := firstParameter(object); of != nil && of.Pkg() == p {
				sizes["methods of type "+path.Join(dir, of.Name())]++
			}
		}
	}
}

// countCallable returns the size of a type's method set, without private methods of other modules.
func countCallable(p *types.Package, of types.Type) (n int) {
	if !types.IsInterface(of) {
		of = types.NewPointer(of)
	}
	for method := range types.NewMethodSet(of).Methods() {
		if m := method.Obj(); m.Exported() || m.Pkg() == p || strings.HasPrefix(m.Pkg().Path(), module+"/") {
			n++
		}
	}
	return n
}

// firstParameter returns the name of the type of a function's first parameter after a context, or of
// the type that it points to.
func firstParameter(f *types.Func) *types.TypeName {
	for v := range f.Signature().Params().Variables() {
		of := types.Unalias(v.Type())
		if pointer, ok := of.(*types.Pointer); ok {
			of = types.Unalias(pointer.Elem())
		}
		named, ok := of.(*types.Named)
		if !ok {
			return nil
		}
		if name := named.Obj(); name.Name() != "Context" {
			return name
		}
	}
	return nil
}

func TestRootContainsOnlyMain(t *testing.T) {
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

func TestSizesAreChecked(t *testing.T) {
	t.Parallel()
	for _, bad := range []struct {
		name      string
		n, record int
		want      string
	}{
		{"methods of type p/T", 61, 60, "61, more than 60: divide the type by what it knows"},
		{"methods of type p/T", 56, 50, "56, more than a tenth above its record of 50: divide the type by what it knows"},
		{"methods of type p/T", 61, 58, "61, more than 60: divide the type by what it knows"},
		{"methods of type p/T", 46, 0, "46, near the limit of 60: divide the type by what it knows; if it only moved, move its record in tests/tree/testdata/sizes.txt"},
		{"fields of struct p/T", 31, 30, "31, more than 30: move the fields that change together to a type of their own"},
		{"lines of file p/a.go", 441, 400, "441, more than a tenth above its record of 400: move one subject to a file of its own"},
		{"lines of package p", 6001, 5900, "6001, more than 6000: move one subject to a package of its own"},
		{"files of package p", 41, 40, "41, more than 40: move one subject to a package of its own"},
	} {
		if got := checkSize(bad.name, bad.n, bad.record); got != bad.want {
			t.Errorf("%s of %d with a record of %d: %q, want %q", bad.name, bad.n, bad.record, got, bad.want)
		}
	}
	for _, good := range []struct {
		name      string
		n, record int
	}{
		{"methods of type p/T", 45, 0},
		{"methods of type p/T", 55, 50},
		{"methods of type p/T", 60, 58},
		{"methods of type p/T", 48, 50},
		{"lines of file p/a.go", 440, 400},
	} {
		if got := checkSize(good.name, good.n, good.record); got != "" {
			t.Errorf("%s of %d with a record of %d: %q", good.name, good.n, good.record, got)
		}
	}
}

func TestRecordsOfSizesAreChecked(t *testing.T) {
	t.Parallel()
	const name = "methods of type p/T"
	for _, c := range []struct {
		record, n int
		want      string
	}{
		{50, 50, ""},
		{50, 45 + 1, ""},
		{60, 53, "53, but its record is 60; lower it with: go test ./tests/tree -run Sizes -update"},
		{50, 45, "45, but its record is 50; lower it with: go test ./tests/tree -run Sizes -update"},
		{50, 0, "0, but its record is 50; lower it with: go test ./tests/tree -run Sizes -update"},
		{61, 61, "its record of 61 is above the limit of 60: divide the type by what it knows"},
	} {
		if got := checkRecord(name, c.record, c.n); got != c.want {
			t.Errorf("a record of %d for %d: %q, want %q", c.record, c.n, got, c.want)
		}
	}
}

func TestRecordsOfSizesAreOnlyLowered(t *testing.T) {
	t.Parallel()
	records := parseRecords(t, "50 methods of type p/Grows\n50 methods of type p/Shrinks\n50 methods of type p/Small\n50 methods of type p/Gone\n")
	lowerRecords(records, map[string]int{"methods of type p/Grows": 59, "methods of type p/Shrinks": 46, "methods of type p/Small": 45, "methods of type p/New": 50})
	if got, want := formatRecords(records), "50 methods of type p/Grows\n46 methods of type p/Shrinks\n"; got != want {
		t.Errorf("lowered to %q, want %q", got, want)
	}
}

func TestOnlyMethodsAndFunctionsOnATypeCountAsItsMethods(t *testing.T) {
	t.Parallel()
	const declarations = "type T struct{}; type U struct{}; func (*U) a(); func (U) b(); type Context interface{}; type G[E any] struct{};"
	for source, want := range map[string]int{
		"":                                     0,
		"func (T) a() {}; func (*T) b() {}":    2,
		"func a(T) {}; func b(t *T, n int) {}": 2,
		"func a(c Context, t *T) {}":           1,
		"type A = T; func a(*A) {}":            1,
		"func a() T { return T{} }":            0,
		"func a(n int, t T) {}":                0,
		"func a(all []T) {}":                   0,
		"func a(g *G[T]) {}":                   0,
		"var a = func(T) {}":                   0,
	} {
		if got := measureSource(t, declarations+source)["methods of type p/T"]; got != want {
			t.Errorf("%s: %d methods, want %d", source, got, want)
		}
	}
	for source, want := range map[string]int{
		"type E struct{ U }":                                     2,
		"type E struct{ *U }; func (*E) a() {}":                  2,
		"type D struct{ U }; type E struct{ *D }; func c(*E) {}": 3,
		"type I interface{ a(); b(); c() }; type E struct{ I }":  3,
		"type I interface{ a() }; type E interface{ I; b() }":    2,
		"type E[K any] struct{ U }; func c[K any](e *E[K]) {}":   3,
		"type E struct{ u U }":                                   0,
		"type E U":                                               0,
	} {
		if got := measureSource(t, declarations+source)["methods of type p/E"]; got != want {
			t.Errorf("%s: %d methods, want %d", source, got, want)
		}
	}
}

func TestFieldsAreCounted(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]int{
		"type T struct{}":                           0,
		"type T struct{ a, b int; c string }":       3,
		"type U struct{}; type T struct{ U; *int }": 2,
		"type T[E any] struct{ a E }":               1,
	} {
		if got := measureSource(t, source)["fields of struct p/T"]; got != want {
			t.Errorf("%s: %d fields, want %d", source, got, want)
		}
	}
}

// measureSource returns the sizes of the types of package p with a source text.
func measureSource(t *testing.T, source string) map[string]int {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", "package p;"+source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&types.Config{IgnoreFuncBodies: true}).Check("p", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int{}
	countFields("p", file, sizes)
	countMethods(p, sizes)
	return sizes
}

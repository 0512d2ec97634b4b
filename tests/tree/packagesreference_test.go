package tree

import (
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// packagesReference returns a page listing every package with the first sentence of its comment.
func packagesReference(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(packagesHead)
	packages := packageFiles(t)
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		text := synopsis(t, packages[dir])
		if text == "" {
			t.Errorf("%s: no file has a package comment", dir)
		}
		b.WriteString("| `" + dir + "` | " + strings.TrimPrefix(text, "Package "+path.Base(dir)+" ") + " |\n")
	}
	return b.String()
}

// synopsis returns the first sentence of the package comment in files, as printed by `go list`.
func synopsis(t *testing.T, files []string) string {
	t.Helper()
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		if parsed.Doc != nil {
			return new(doc.Package).Synopsis(parsed.Doc.Text())
		}
	}
	return ""
}

const packagesHead = `# Packages

This page is made from the comments of the packages. ` + "`go doc ./engine/screen/vt`" + ` prints the whole comment
of one. A table in ` + "`tests/tree/deps_test.go`" + ` limits imports, with the reason for every line. Packages
that only have tests are not listed: ` + "`bench` and the folders of `tests`" + `.

| package | |
|---|---|
`

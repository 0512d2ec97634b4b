package tree

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A listedPackage is a package as printed by go list.
type listedPackage struct {
	ImportPath, Dir string
	Export          string // file with its exported types, in the build cache
	GoFiles         []string
	Module          *struct{ Main bool }
}

// loadPackages returns the types of the module's packages.
func loadPackages(t *testing.T) (packages []*types.Package) {
	t.Helper()
	exports := map[string]string{}
	fset := token.NewFileSet()
	config := types.Config{
		IgnoreFuncBodies: true, // the signatures are enough, and take a tenth of the time
		Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
			return os.Open(exports[path])
		}),
	}
	for _, p := range listPackages(t) {
		exports[p.ImportPath] = p.Export
		if p.Module == nil || !p.Module.Main {
			continue
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		checked, err := config.Check(p.ImportPath, fset, files, nil)
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, checked)
	}
	return packages
}

// listPackages returns the module's packages and their imports, each after its own imports.
func listPackages(t *testing.T) (packages []listedPackage) {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Module", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

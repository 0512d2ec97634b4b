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

func (p listedPackage) isOurs() bool { return p.Module != nil && p.Module.Main }

// loadPackages returns the types of the module's packages. They are checked from source, so that
// only other modules need to be compiled.
func loadPackages(t *testing.T) (packages []*types.Package) {
	t.Helper()
	listed := listPackages(t, "-deps", "./...")
	fset := token.NewFileSet()
	checked := typeImporter{ours: map[string]*types.Package{}, others: importOthers(t, fset, listed)}
	// The signatures of functions are enough, and take a tenth of the time.
	config := types.Config{Importer: checked, IgnoreFuncBodies: true}
	for _, p := range listed {
		if !p.isOurs() {
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
		ours, err := config.Check(p.ImportPath, fset, files, nil)
		if err != nil {
			t.Fatal(err)
		}
		checked.ours[p.ImportPath] = ours
		packages = append(packages, ours)
	}
	return packages
}

// A typeImporter has the module's packages checked so far, and an importer for all others.
type typeImporter struct {
	ours   map[string]*types.Package
	others types.Importer
}

// Import returns the types of a package.
func (i typeImporter) Import(path string) (*types.Package, error) {
	if p := i.ours[path]; p != nil {
		return p, nil
	}
	return i.others.Import(path)
}

// importOthers returns an importer for the packages of other modules among those listed.
func importOthers(t *testing.T, fset *token.FileSet, listed []listedPackage) types.Importer {
	t.Helper()
	arguments := []string{"-export"}
	for _, p := range listed {
		if !p.isOurs() {
			arguments = append(arguments, p.ImportPath)
		}
	}
	exports := map[string]string{}
	for _, p := range listPackages(t, arguments...) {
		exports[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
}

// listPackages runs go list. With -deps, each package comes after its imports.
func listPackages(t *testing.T, arguments ...string) (packages []listedPackage) {
	t.Helper()
	arguments = append([]string{"list", "-json=ImportPath,Dir,Export,GoFiles,Module"}, arguments...)
	out, err := exec.Command("go", arguments...).Output()
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

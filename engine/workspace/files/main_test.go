package files

import (
	"os"
	"path/filepath"
	"testing"

	"tandem/tests/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// A testTree is a Tree with one root, next to a folder that must not be reached.
type testTree struct {
	testing.TB
	*Tree
	root, outside string
}

func newTestTree(t testing.TB) *testTree {
	t.Helper()
	dir := t.TempDir()
	g := &testTree{TB: t, root: filepath.Join(dir, "root"), outside: filepath.Join(dir, "root-outside")}
	g.Tree = &Tree{Roots: []string{g.root}, Home: g.root, Locks: &Locks{}}
	g.addBeside("root/.keep", "")
	g.addBeside("root-outside/secret", "secret")
	return g
}

func (g *testTree) archiver() Archiver { return Archiver{g.Tree} }
func (g *testTree) searcher() Searcher { return Searcher{g.Tree} }
func (g *testTree) trash() Trash       { return Trash{g.Tree} }

// addBeside writes a file relative to the parent of the root.
func (g *testTree) addBeside(path, text string) {
	g.Helper()
	path = filepath.Join(filepath.Dir(g.root), path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		g.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		g.Fatal(err)
	}
}

// addFile writes a file below the root.
func (g *testTree) addFile(rel, text string) {
	g.Helper()
	g.addBeside(filepath.Join("root", rel), text)
}

// addLink creates a link below the root.
func (g *testTree) addLink(target, rel string) {
	g.Helper()
	if err := os.Symlink(target, filepath.Join(g.root, rel)); err != nil {
		g.Fatal(err)
	}
}

// checkContent compares the content of a file below the root.
func (g *testTree) checkContent(rel, want string) {
	g.Helper()
	got, err := os.ReadFile(filepath.Join(g.root, rel))
	if err != nil || string(got) != want {
		g.Errorf("%s holds %q, %v; want %q", rel, got, err, want)
	}
}

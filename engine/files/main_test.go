package files

import (
	"os"
	"path/filepath"
	"testing"

	"tandem/tests/leaks"
)

func TestMain(m *testing.M) { leaks.Main(m) }

// A place for tests: a root with a neighbour that must stay out of reach.
type ground struct {
	testing.TB
	*Tree
	root, outside string
}

func newGround(t testing.TB) *ground {
	t.Helper()
	dir := t.TempDir()
	g := &ground{TB: t, root: filepath.Join(dir, "root"), outside: filepath.Join(dir, "root-outside")}
	g.Tree = &Tree{Roots: []string{g.root}, Home: g.root, Locks: &Locks{}}
	g.put("root/.keep", "")
	g.put("root-outside/secret", "secret")
	return g
}

// put writes a file beside or below the root.
func (g *ground) put(path, text string) {
	g.Helper()
	path = filepath.Join(filepath.Dir(g.root), path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		g.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		g.Fatal(err)
	}
}

// file writes a file below the root.
func (g *ground) file(rel, text string) { g.Helper(); g.put(filepath.Join("root", rel), text) }

// link makes a link below the root.
func (g *ground) link(target, rel string) {
	g.Helper()
	if err := os.Symlink(target, filepath.Join(g.root, rel)); err != nil {
		g.Fatal(err)
	}
}

// holds checks what is in a file below the root.
func (g *ground) holds(rel, want string) {
	g.Helper()
	got, err := os.ReadFile(filepath.Join(g.root, rel))
	if err != nil || string(got) != want {
		g.Errorf("%s holds %q, %v; want %q", rel, got, err, want)
	}
}

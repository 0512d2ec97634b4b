package files

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRelateComparesFilesNotPaths(t *testing.T) {
	g := newTestTree(t)
	g.addFile("a/b/f", "")
	g.addFile("g", "")
	g.addLink("a", "link")
	if err := os.Link(filepath.Join(g.root, "g"), filepath.Join(g.root, "twin")); err != nil {
		t.Fatal(err)
	}
	for _, tree := range []*Tree{g.Tree, {Base: g.root}} {
		for _, c := range []struct {
			from, to string
			want     Relation
		}{
			{"g", "a/b", Apart}, {"g", "new", Apart}, {"missing", "g", Apart}, {"a/b", "g", Apart}, {"a/b", "a/c", Apart}, {"a/b/f", "a/b/new/f", Apart},
			{"g", "g", Same}, {"g", "./a/../g", Same}, {"g", "twin", Same}, {"link/b", "a/b", Same}, {"link", "a", Apart},
			{"a", "a/b", Inside}, {"a", "a/new/deep", Inside}, {"a", "link/new", Inside}, {"a/b", "link/b/x", Inside}, {"link", "link/new", Apart},
			{"a/b", "a", Contains}, {"a/b/f", "a", Contains}, {"link/b/f", "a", Contains}, {"a/b/f", "link", Apart},
		} {
			if got, err := tree.Relate(c.from, c.to); got != c.want || err != nil {
				t.Errorf("%s to %s: %v, %v; want %v", c.from, c.to, got, err, c.want)
			}
		}
	}
	if _, err := g.Relate("../root-outside/secret", "g"); err == nil {
		t.Error("Relate looked outside the roots")
	}
}

package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tryEverything calls every operation on path and returns those that did not fail with Outside.
func (g *testTree) tryEverything(path string) []string {
	g.Helper()
	ctx := context.Background()
	var reached []string
	try := func(name string, err error) {
		if !errors.Is(err, Outside) {
			reached = append(reached, name)
		}
	}
	_, err := g.Read(ctx, ReadRequest{Path: path})
	try("read", err)
	_, err = g.Read(ctx, ReadRequest{Path: path, Bytes: true})
	try("read bytes", err)
	_, _, err = g.ReadJSON(path)
	try("read json", err)
	_, err = g.Write(ctx, WriteRequest{Path: path, Data: []byte("x")})
	try("write", err)
	_, err = g.Write(ctx, WriteRequest{Path: path, Data: []byte("x"), Append: true})
	try("append", err)
	_, _, err = g.EditFile(ctx, path, []Edit{{Search: "secret", Replace: "x"}})
	try("edit", err)
	_, err = g.List(ctx, ListRequest{Path: path, Hidden: true})
	try("list", err)
	_, err = g.Mkdir(path, true)
	try("mkdir", err)
	_, err = g.searcher().Find(ctx, "*", path, 0)
	try("find", err)
	_, err = g.searcher().Grep(ctx, GrepRequest{Pattern: "secret", Path: path})
	try("grep", err)
	_, err = g.Copy(ctx, path+"/x", "stolen", true)
	try("copy from", err)
	_, err = g.Move(ctx, path+"/x", "stolen", true)
	try("move from", err)
	_, err = g.Copy(ctx, ".keep", path+"/x", true)
	try("copy to", err)
	_, err = g.Move(ctx, ".keep", path+"/x", true)
	try("move to", err)
	try("delete", g.Delete(ctx, path+"/x", true))
	_, err = g.Stat(path + "/x")
	try("stat", err)
	_, _, err = g.Watch(ctx, path, "seen")
	try("watch", err)
	_, err = Git{g.Tree}.Status(ctx, path)
	try("git", err)
	_, err = g.Relate(path+"/x", ".keep")
	try("relate", err)
	_, err = g.Relate(".keep", path+"/x")
	try("relate to", err)
	_, err = g.trash().Put(path+"/x", time.Now())
	try("trash", err)
	_, err = g.trash().Restore(ctx, path+"/files/x", "restored", false)
	try("restore", err)
	if g.Size(ctx, path) > 0 {
		try("size", nil)
	}
	return reached
}

func TestPathsOutsideRootsCannotBeReached(t *testing.T) {
	g := newTestTree(t)
	g.addFile("dir/file", "inside")
	g.addLink("../root-outside", "out")
	g.addLink(g.outside, "absolute")
	g.addLink("../root-outside/secret", "secret")
	g.addLink("../root-outside/not there yet", "dangling")
	g.addLink("../root-outside/new/deep", "deep")
	g.addLink("out", "chain")
	g.addLink("dir/../../root-outside", "through dir")
	g.addLink("/", "slash")
	for _, path := range []string{
		g.outside, g.outside + "/secret", "../root-outside", "../root-outside/secret", "dir/../../root-outside/secret",
		"/etc/passwd", "/", "..", "../..", "~/../root-outside", g.root + "/../root-outside/secret",
		"out", "out/secret", "out/new", "absolute", "absolute/secret", "secret", "dangling", "deep", "deep/er", "chain/secret", "through dir/secret",
		"slash/etc/passwd", "slash" + g.outside + "/secret",
	} {
		if reached := g.tryEverything(path); reached != nil {
			t.Errorf("%s: reached by %s", path, strings.Join(reached, ", "))
		}
	}
	entries, err := os.ReadDir(g.outside)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside there is %v, %v", entries, err)
	}
	if b, err := os.ReadFile(g.outside + "/secret"); err != nil || string(b) != "secret" {
		t.Errorf("the secret is %q, %v", b, err)
	}
}

func TestLinksInsideRootsAreFollowed(t *testing.T) {
	g := newTestTree(t)
	g.addFile("dir/file", "one")
	g.addLink("dir", "relative")
	g.addLink(filepath.Join(g.root, "dir"), "absolute")
	g.addLink("relative", "chain")
	g.addLink("../absolute/file", "dir/up")
	g.addLink("dir/new", "dangling")
	g.addLink(filepath.Join(g.root, "dir", "new too"), "dangling too")
	for _, path := range []string{"relative/file", "absolute/file", "chain/file", "dir/up", "~/chain/up"} {
		out, err := g.Read(t.Context(), ReadRequest{Path: path})
		if err != nil || out.Text != "one" {
			t.Errorf("%s: %q, %v", path, out.Text, err)
		}
	}
	for path, target := range map[string]string{"chain/up": "dir/file", "dangling": "dir/new", "dangling too": "dir/new too"} {
		if _, err := g.Write(t.Context(), WriteRequest{Path: path, Data: []byte("two")}); err != nil {
			t.Errorf("write %s: %v", path, err)
		}
		g.checkContent(target, "two")
		if info, err := g.Stat(path); err != nil || info.Type != "link" || info.Broken {
			t.Errorf("%s is no link any more: %+v, %v", path, info, err)
		}
	}
}

func TestLinksLeadFromOneRootToAnother(t *testing.T) {
	g := newTestTree(t)
	g.addLink(g.outside, "other")
	g.Roots = append(g.Roots, g.outside)
	if out, err := g.Read(t.Context(), ReadRequest{Path: "other/secret"}); err != nil || out.Text != "secret" {
		t.Errorf("%q, %v", out.Text, err)
	}
	if _, err := g.Move(t.Context(), "other/secret", "mine", false); err != nil {
		t.Error(err)
	}
	g.checkContent("mine", "secret")
}

func TestRootCanBeALink(t *testing.T) {
	g := newTestTree(t)
	alias := filepath.Join(filepath.Dir(g.root), "alias")
	if err := os.Symlink(g.root, alias); err != nil {
		t.Fatal(err)
	}
	g.addFile("f", "text")
	g.addLink(filepath.Join(g.root, "f"), "to real")
	g.Roots = []string{alias}
	for _, path := range []string{"f", "to real", alias + "/f"} {
		if out, err := g.Read(t.Context(), ReadRequest{Path: path}); err != nil || out.Text != "text" {
			t.Errorf("%s: %q, %v", path, out.Text, err)
		}
	}
}

func TestWriteCreatesMissingRoot(t *testing.T) {
	g := newTestTree(t)
	g.Roots = []string{filepath.Join(g.root, "not", "there")}
	if _, err := g.Read(t.Context(), ReadRequest{Path: "f"}); !errors.Is(err, NotFound) {
		t.Errorf("read: %v", err)
	}
	if _, err := g.Write(t.Context(), WriteRequest{Path: "f", Data: []byte("x")}); err != nil {
		t.Error(err)
	}
	g.checkContent("not/there/f", "x")
}

func TestRootsCannotBeDeletedOrMoved(t *testing.T) {
	g := newTestTree(t)
	g.addFile("inner/f", "")
	g.Roots = []string{filepath.Join(g.root, "inner"), g.root}
	for _, path := range []string{g.root, filepath.Join(g.root, "inner"), "."} {
		if err := g.Delete(t.Context(), path, true); !errors.Is(err, Invalid) {
			t.Errorf("delete %s: %v", path, err)
		}
		if _, err := g.Move(t.Context(), path, g.root+"/moved", true); !errors.Is(err, Invalid) {
			t.Errorf("move %s: %v", path, err)
		}
	}
	g.checkContent("inner/f", "")
}

func TestLinkCycleIsAnError(t *testing.T) {
	g := newTestTree(t)
	g.addLink("b", "a")
	g.addLink("a", "b")
	g.addLink(".", "self")
	if _, err := g.Read(t.Context(), ReadRequest{Path: "a"}); !errors.Is(err, Invalid) {
		t.Errorf("read: %v", err)
	}
	if out, err := g.searcher().Find(t.Context(), "*", "", 0); err != nil || len(out.Paths) != 4 {
		t.Errorf("find: %v, %v", out, err)
	}
	if info, err := g.Stat("a"); err != nil || !info.Broken {
		t.Errorf("stat: %+v, %v", info, err)
	}
}

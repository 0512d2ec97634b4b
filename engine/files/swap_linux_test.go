package files

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A folder becomes a link to the outside and back while files in it are read
// and written.
func TestASwapLeadsNobodyOut(t *testing.T) {
	g := newGround(t)
	g.file("door/secret", "inside")
	g.put("root-outside/marker", "")
	g.link(g.outside, "trap")
	ctx, stop := context.WithCancel(t.Context())
	swapped := make(chan error, 1)
	go func() {
		door, trap := filepath.Join(g.root, "door"), filepath.Join(g.root, "trap")
		var err error
		for ctx.Err() == nil && err == nil {
			err = unix.Renameat2(unix.AT_FDCWD, door, unix.AT_FDCWD, trap, unix.RENAME_EXCHANGE)
		}
		swapped <- err
	}()
	for range 150 {
		for range 20 {
			if out, err := g.Read(ctx, ReadRequest{Path: "door/secret"}); err == nil && out.Text == "secret" {
				t.Fatal("read what is outside")
			}
			_, _ = g.Mkdir("door/dir", false)
			_ = g.Delete(ctx, "door/dir", true)
			if out, err := g.Find(ctx, "marker", "door", 0); err == nil && len(out.Paths) > 0 {
				t.Fatal("found what is outside", out)
			}
		}
		_, _ = g.Write(ctx, WriteRequest{Path: "door/secret", Data: []byte("inside")})
		_, _ = g.Write(ctx, WriteRequest{Path: "door/new", Data: []byte("inside"), New: true})
		_, _ = g.Copy(ctx, "door/secret", "door/copy", true)
		_ = g.Delete(ctx, "door/new", true)
		if out, err := g.Grep(ctx, GrepRequest{Pattern: "secret"}); err == nil && out.Matches > 0 {
			t.Fatal("found what is outside")
		}
	}
	stop()
	if err := <-swapped; err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(g.outside)
	if err != nil || len(entries) != 2 {
		t.Errorf("outside there is %v, %v", entries, err)
	}
	if b, _ := os.ReadFile(g.outside + "/secret"); string(b) != "secret" {
		t.Errorf("the secret is %q", b)
	}
}

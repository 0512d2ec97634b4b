package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/tests/needs"
)

// startSwapping exchanges two names below the root until stop is called.
func (g *testTree) startSwapping(a, b string) (stop func()) {
	ctx, cancel := context.WithCancel(g.Context())
	swapped := make(chan error, 1)
	go func() {
		var err error
		for ctx.Err() == nil && err == nil {
			err = unix.Renameat2(unix.AT_FDCWD, filepath.Join(g.root, a), unix.AT_FDCWD, filepath.Join(g.root, b), unix.RENAME_EXCHANGE)
		}
		swapped <- err
	}()
	return func() {
		cancel()
		if err := <-swapped; err != nil {
			g.Error(err)
		}
	}
}

// attackDoor tries to reach the files behind "door" while it alternates between a folder, with its
// own file "secret", and a link.
func (g *testTree) attackDoor() {
	g.Helper()
	ctx := g.Context()
	for range 150 {
		for range 20 {
			if out, err := g.Read(ctx, ReadRequest{Path: "door/secret"}); err == nil && out.Text == "secret" {
				g.Fatal("read the secret")
			}
			_, _ = g.Mkdir("door/dir", false)
			_ = g.Delete(ctx, "door/dir", true)
			if out, err := g.searcher().Find(ctx, "marker", "door", 0); err == nil && len(out.Paths) > 0 {
				g.Fatal("found the marker", out)
			}
			if out, err := g.List(ctx, ListRequest{Path: "door", Match: "marker"}); err == nil && len(out.Entries) > 0 {
				g.Fatal("listed the marker", out)
			}
		}
		_, _ = g.Write(ctx, WriteRequest{Path: "door/secret", Data: []byte("inside")})
		_, _ = g.Write(ctx, WriteRequest{Path: "door/new", Data: []byte("inside"), New: true})
		_, _ = g.Write(ctx, WriteRequest{Path: "door/a/b", Data: []byte("inside")})
		_, _ = g.Write(ctx, WriteRequest{Path: "door/secret", Data: []byte(""), Append: true})
		_, _, _ = g.EditFile(ctx, "door/secret", []Edit{{Search: "secret", Replace: "inside"}})
		_, _ = g.Mkdir("door/c/d", true)
		_, _ = g.Copy(ctx, "door/secret", "door/copy", true)
		_, _ = g.Move(ctx, "door/copy", "door/moved", true)
		_, _ = g.Copy(ctx, "door", "copied", true)
		if out, err := g.Read(ctx, ReadRequest{Path: "copied/secret"}); err == nil && out.Text == "secret" {
			g.Fatal("copied the secret")
		}
		_ = g.Delete(ctx, "copied", true)
		_ = g.Delete(ctx, "door/new", true)
		_ = g.Delete(ctx, "door/a", true)
		_ = g.Delete(ctx, "door/c", true)
		if out, err := g.searcher().Grep(ctx, GrepRequest{Pattern: "secret"}); err == nil && out.Matches > 0 {
			g.Fatal("found the secret")
		}
	}
}

// checkUntouched fails unless a folder holds just a marker and the secret.
func (g *testTree) checkUntouched(dir string) {
	g.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		g.Errorf("%s holds %v, %v", dir, entries, err)
	}
	if b, _ := os.ReadFile(dir + "/secret"); string(b) != "secret" {
		g.Errorf("the secret is %q", b)
	}
}

// A folder alternates with a link to the outside while files in it are read and written.
func TestSwappedLinkCannotLeaveRoots(t *testing.T) {
	needs.FullRun(t)
	g := newTestTree(t)
	g.addFile("door/secret", "inside")
	g.addBeside("root-outside/marker", "")
	g.addLink(g.outside, "trap")
	stop := g.startSwapping("door", "trap")
	g.attackDoor()
	stop()
	g.checkUntouched(g.outside)
}

// As above, with a link to an off-limits folder inside the roots.
func TestSwappedLinkCannotReachOffLimitsFolder(t *testing.T) {
	needs.FullRun(t)
	for name, roots := range map[string]bool{"confined": true, "anywhere": false} {
		t.Run(name, func(t *testing.T) {
			g := newOffLimitsTree(t)
			if !roots {
				g.Roots, g.Base = nil, g.root
			}
			g.addFile("door/secret", "inside")
			g.addLink("own", "trap")
			stop := g.startSwapping("door", "trap")
			g.attackDoor()
			stop()
			g.checkUntouched(filepath.Join(g.root, "own"))
		})
	}
}

// A file alternates with a link to an off-limits file.
func TestSwappedLinkCannotReachOffLimitsFile(t *testing.T) {
	needs.FullRun(t)
	g := newOffLimitsTree(t)
	g.Roots, g.Base = nil, g.root
	g.addFile("file", "inside")
	g.addLink("own/secret", "trap")
	stop := g.startSwapping("file", "trap")
	ctx := t.Context()
	for range 2000 {
		if out, err := g.Read(ctx, ReadRequest{Path: "file"}); err == nil && out.Text == "secret" {
			t.Fatal("read the secret")
		}
		if out, err := g.searcher().Grep(ctx, GrepRequest{Pattern: "secret", Path: "file"}); err == nil && out.Matches > 0 {
			t.Fatal("found the secret")
		}
		_, _ = g.Write(ctx, WriteRequest{Path: "file", Data: []byte("x"), Append: true})
		if _, err := g.Copy(ctx, "file", "copied", true); err == nil {
			copied := filepath.Join(g.root, "copied")
			info, err := os.Lstat(copied)
			if b, errRead := os.ReadFile(copied); err == nil && errRead == nil && info.Mode().IsRegular() && string(b) == "secret" {
				t.Fatal("copied the secret")
			}
		}
	}
	stop()
	g.checkUntouched(filepath.Join(g.root, "own"))
}

// Here the off-limits folder, or one above it, is mounted a second time.
func TestOffLimitsPathsStaySoBelowBindMounts(t *testing.T) {
	if os.Geteuid() != 0 {
		return // only root can mount
	}
	g := newOffLimitsTree(t)
	g.Roots, g.Base = nil, g.root
	g.addFile("mount/x", "")
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the mounts end with the thread
		if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS); err != nil {
			t.Error(err)
			return
		}
		err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		for source, path := range map[string]string{"own": "", "": "own/"} {
			if err == nil {
				err = unix.Mount(filepath.Join(g.root, source), filepath.Join(g.root, "mount"), "", unix.MS_BIND, "")
			}
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := os.Stat(filepath.Join(g.root, "mount", path, "secret")); err != nil {
				t.Error(err) // visible to everyone else
			}
			if _, err := g.Read(g.Context(), ReadRequest{Path: "mount/" + path + "secret"}); !errors.Is(err, Outside) {
				t.Errorf("read: %v", err)
			}
			if _, err := g.Write(g.Context(), WriteRequest{Path: "mount/" + path + "new"}); !errors.Is(err, Outside) {
				t.Errorf("write: %v", err)
			}
			if _, err := g.List(g.Context(), ListRequest{Path: "mount/" + path}); !errors.Is(err, Outside) {
				t.Errorf("list: %v", err)
			}
			if out, err := g.searcher().Find(g.Context(), "secret", "mount", 0); err == nil && len(out.Paths) > 0 {
				t.Errorf("find: %v", out)
			}
			err = unix.Unmount(filepath.Join(g.root, "mount"), 0)
		}
	}()
	<-done
	g.checkUntouched(filepath.Join(g.root, "own"))
}

package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/tests/needs"
	"tandem/tests/notify"
)

// pathCalls are the system calls that name a file or list a folder.
var pathCalls = []int32{
	unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_GETDENTS64, unix.SYS_NEWFSTATAT, unix.SYS_STATX,
	unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_READLINKAT, unix.SYS_NAME_TO_HANDLE_AT,
	unix.SYS_MKDIRAT, unix.SYS_MKNODAT, unix.SYS_LINKAT, unix.SYS_SYMLINKAT, unix.SYS_UNLINKAT,
	unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWNAT,
	unix.SYS_UTIMENSAT, unix.SYS_INOTIFY_ADD_WATCH,
}

// A swapper exchanges "door" and "trap", a link to a secret, just before chosen system calls of an
// operation. Any other time of a swap has the effect of one of these.
type swapper struct {
	*testTree
	door    func() // makes a new door
	secrets string // the folder with the secret, which must stay as it is

	serving sync.WaitGroup
	mu      sync.Mutex
	swapped bool
	calls   int   // system calls so far that can depend on a swap
	swaps   []int // the calls to swap before, from 1
}

// newSwapper makes the operations of a tree subject to swaps, in addition to its own confinement.
func newSwapper(g *testTree, secrets string, door func()) *swapper {
	g.Helper()
	s := &swapper{testTree: g, door: door, secrets: secrets}
	confine := g.Confine
	g.Confine = func() error {
		if confine != nil {
			if err := confine(); err != nil {
				return err
			}
		}
		listener, err := notify.Install(pathCalls)
		if err == nil {
			s.serving.Go(func() { notify.Serve(listener, s.beforeCall) })
		}
		return err
	}
	switch err := g.runConfined(func() error { return nil }); {
	case errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL):
		needs.Kernel(g, "seccomp user notifications", err)
	case err != nil:
		g.Fatal(err)
	}
	return s
}

func (s *swapper) beforeCall(c notify.Call) unix.Errno {
	switch c.Number {
	case unix.SYS_GETDENTS64, unix.SYS_LINKAT, unix.SYS_SYMLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2:
	default:
		if path := c.ReadString(c.Args[1]); !strings.Contains(path, "door") && !strings.Contains(path, "trap") {
			return 0 // also if relative to either of them, which is open
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls++; slices.Contains(s.swaps, s.calls) {
		s.swap()
	}
	return 0
}

func (s *swapper) swap() {
	s.swapped = !s.swapped
	if err := unix.Renameat2(unix.AT_FDCWD, s.root+"/door", unix.AT_FDCWD, s.root+"/trap", unix.RENAME_EXCHANGE); err != nil {
		s.Error(err)
	}
}

// try calls an operation with a swap before each of its system calls in turn, undone before each
// later one or never. The door is open first, then a link. reach reports whether the operation read
// the secret.
func (s *swapper) try(name string, reach func() bool) {
	s.Helper()
	for _, link := range []bool{false, true} {
		first, last := 1, 2
		for calls := first; calls >= first; {
			calls = s.tryOnce(name, reach, link, first, last)
			if last++; calls < last-1 {
				first, last = first+1, first+2
			}
		}
	}
}

// tryOnce calls an operation with swaps before two of its system calls. It returns how many of its
// calls can depend on a swap.
func (s *swapper) tryOnce(name string, reach func() bool, link bool, swaps ...int) (calls int) {
	s.Helper()
	s.door()
	if link {
		s.swap()
	}
	s.calls, s.swaps = 0, swaps
	reached := reach()
	s.serving.Wait()
	if s.swapped {
		s.swap()
	}
	if s.checkUntouched(s.secrets); reached || s.Failed() {
		s.Fatalf("%s reached the secret, swapped before the calls %d, starting with a link: %t", name, swaps, link)
	}
	if s.calls == 0 {
		s.Fatalf("%s made no system call", name)
	}
	return s.calls
}

// addDoor makes "door" a folder with its own file "secret".
func (g *testTree) addDoor() {
	g.Helper()
	for _, name := range []string{"door", "copied"} {
		if err := os.RemoveAll(filepath.Join(g.root, name)); err != nil {
			g.Fatal(err)
		}
	}
	g.addFile("door/secret", "inside")
	g.addFile("door/dir/file", "inside")
}

// tryDoor tries to reach the files behind a folder "door".
func (s *swapper) tryDoor() {
	s.Helper()
	ctx := s.Context()
	s.try("read", func() bool {
		out, err := s.Read(ctx, ReadRequest{Path: "door/secret"})
		return err == nil && out.Text == "secret"
	})
	s.try("find", func() bool {
		out, err := s.searcher().Find(ctx, "marker", "door", 0)
		return err == nil && len(out.Paths) > 0
	})
	s.try("list", func() bool {
		out, err := s.List(ctx, ListRequest{Path: "door", Match: "marker"})
		return err == nil && len(out.Entries) > 0
	})
	s.try("grep", func() bool {
		out, err := s.searcher().Grep(ctx, GrepRequest{Pattern: "secret"})
		return err == nil && out.Matches > 0
	})
	s.try("grep the folder", func() bool {
		out, err := s.searcher().Grep(ctx, GrepRequest{Pattern: "secret", Path: "door"})
		return err == nil && out.Matches > 0
	})
	for name, do := range map[string]func(){
		"mkdir":         func() { _, _ = s.Mkdir("door/new", false) },
		"mkdir -p":      func() { _, _ = s.Mkdir("door/c/d", true) },
		"delete":        func() { _ = s.Delete(ctx, "door/secret", true) },
		"delete below":  func() { _ = s.Delete(ctx, "door/secret/x", true) },
		"delete folder": func() { _ = s.Delete(ctx, "door/dir", true) },
		"write":         func() { _, _ = s.Write(ctx, WriteRequest{Path: "door/secret", Data: []byte("x")}) },
		"write new":     func() { _, _ = s.Write(ctx, WriteRequest{Path: "door/new", Data: []byte("x"), New: true}) },
		"write in new":  func() { _, _ = s.Write(ctx, WriteRequest{Path: "door/a/b", Data: []byte("x")}) },
		"append":        func() { _, _ = s.Write(ctx, WriteRequest{Path: "door/secret", Data: []byte("x"), Append: true}) },
		"edit":          func() { _, _, _ = s.EditFile(ctx, "door/secret", []Edit{{Search: "s", Replace: "S"}}) },
		"copy":          func() { _, _ = s.Copy(ctx, "door/secret", "door/copy", true) },
		"copy over":     func() { _, _ = s.Copy(ctx, "door/dir/file", "door/secret", true) },
		"copy out":      func() { _, _ = s.Copy(ctx, "door/secret", "copied", true) },
		"copy folder":   func() { _, _ = s.Copy(ctx, "door", "copied", true) },
		"move":          func() { _, _ = s.Move(ctx, "door/secret", "door/moved", true) },
		"move over":     func() { _, _ = s.Move(ctx, "door/dir/file", "door/secret", true) },
	} {
		s.try(name, func() bool { do(); return s.holdsSecret() })
	}
}

// holdsSecret reports whether the secret, or part of it, was copied to one of the tree's own files.
func (s *swapper) holdsSecret() bool {
	held := false
	for _, name := range []string{"door", "trap", "copied"} {
		_ = filepath.WalkDir(filepath.Join(s.root, name), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				b, _ := os.ReadFile(path)
				held = held || strings.Contains(string(b), "ecret")
			}
			return nil
		})
	}
	return held
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

// A folder is swapped with a link to the outside while files in it are read and written.
func TestSwappedLinkCannotLeaveRoots(t *testing.T) {
	needs.FullRun(t)
	g := newTestTree(t)
	g.addBeside("root-outside/marker", "")
	g.addLink(g.outside, "trap")
	newSwapper(g, g.outside, g.addDoor).tryDoor()
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
			g.addLink("own", "trap")
			newSwapper(g, g.root+"/own", g.addDoor).tryDoor()
		})
	}
}

// A file is swapped with a link to an off-limits file.
func TestSwappedLinkCannotReachOffLimitsFile(t *testing.T) {
	needs.FullRun(t)
	g := newOffLimitsTree(t)
	g.Roots, g.Base = nil, g.root
	g.addLink("own/secret", "trap")
	s := newSwapper(g, g.root+"/own", func() {
		_ = os.Remove(g.root + "/copied")
		g.addFile("door", "inside")
	})
	ctx := t.Context()
	s.try("read", func() bool {
		out, err := g.Read(ctx, ReadRequest{Path: "door"})
		return err == nil && out.Text == "secret"
	})
	s.try("grep", func() bool {
		out, err := g.searcher().Grep(ctx, GrepRequest{Pattern: "secret", Path: "door"})
		return err == nil && out.Matches > 0
	})
	s.try("append", func() bool {
		_, _ = g.Write(ctx, WriteRequest{Path: "door", Data: []byte("x"), Append: true})
		return s.holdsSecret()
	})
	s.try("copy", func() bool {
		_, _ = g.Copy(ctx, "door", "copied", true)
		return s.holdsSecret()
	})
}

// Here the off-limits folder, or one above it, is mounted a second time.
func TestBindMountCannotRevealOffLimitsPaths(t *testing.T) {
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

// A folder is swapped with a link to another one beside it while it is walked through.
func TestSwappedLinkLeadsNoWalkToAnotherFolder(t *testing.T) {
	needs.FullRun(t)
	g := newTestTree(t)
	g.addFile("other/secret", "secret")
	g.addFile("other/marker", "")
	s := newSwapper(g, g.root+"/other", func() {
		g.addDoor()
		for _, name := range []string{"trap", "packed.tar"} {
			if err := os.RemoveAll(filepath.Join(g.root, name)); err != nil {
				t.Fatal(err)
			}
		}
		g.addLink("other", "trap")
	})
	ctx := t.Context()
	for name, do := range map[string]func(){
		"delete": func() { _ = s.Delete(ctx, "door", true) },
		"copy":   func() { _, _ = s.Copy(ctx, "door", "copied", true) },
		"pack":   func() { _, _ = s.archiver().Pack(ctx, []string{"door"}, "packed.tar") },
	} {
		s.try(name, func() bool {
			do()
			packed, _ := os.ReadFile(g.root + "/packed.tar") // missing if packing failed
			if name == "delete" {
				_ = os.Mkdir(g.root+"/door", 0o755) // to be swapped back, if it was deleted
			}
			return s.holdsSecret() || strings.Contains(string(packed), "marker")
		})
	}
}

// The root itself is swapped, with a link to the outside. Its ID is known from before.
func TestSwappedLinkCannotReplaceARoot(t *testing.T) {
	needs.FullRun(t)
	g := newTestTree(t)
	g.addBeside("root-outside/marker", "")
	g.addLink(g.outside, "trap")
	newSwapper(g, g.outside, func() {
		g.addDoor()
		root, err := os.OpenRoot(g.root + "/door")
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		g.Roots, g.Base, g.RootID = []string{g.root + "/door"}, g.root, identify(root)
	}).tryDoor()
}

func TestRootWithAnotherIDIsNotReached(t *testing.T) {
	g := newTestTree(t)
	g.addFile("dir/file", "")
	g.addLink("dir", "link")
	ids := map[string]bool{}
	for _, path := range []string{"dir", "link", "."} {
		info, err := g.Stat(path)
		if err != nil || info.ID == "" {
			t.Fatalf("%s: %+v, %v", path, info, err)
		}
		ids[info.ID] = true
		other := &Tree{Roots: []string{filepath.Join(g.root, path)}, RootID: info.ID}
		if _, err := other.List(t.Context(), ListRequest{Path: other.Roots[0]}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	if len(ids) != 2 {
		t.Errorf("the IDs are %v", ids)
	}
	if info, err := g.Stat("dir/file"); err != nil || info.ID != "" {
		t.Errorf("a file has %+v, %v", info, err)
	}
	again := &Tree{Roots: []string{g.root + "/dir"}}
	before, err := again.Stat(g.root + "/dir")
	if err != nil {
		t.Fatal(err)
	}
	again.RootID = before.ID
	if err := errors.Join(os.RemoveAll(g.root+"/dir"), os.Mkdir(g.root+"/dir", 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, err := again.Write(t.Context(), WriteRequest{Path: g.root + "/dir/new"}); !errors.Is(err, Outside) {
		t.Errorf("write in a new folder of the same name: %v", err)
	}
}

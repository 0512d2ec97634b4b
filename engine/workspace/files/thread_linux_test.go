package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"tandem/tests/needs"
)

// restrictTo confines the calling thread to files below dir (landlock(7)).
func restrictTo(dir string) error {
	const rights = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	attr := unix.LandlockRulesetAttr{Handled_access_fs: rights}
	set, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Handled_access_fs), 0)
	if errno != 0 {
		return errno
	}
	defer unix.Close(int(set))
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	beneath := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, set, unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&beneath)), 0, 0, 0); errno != 0 {
		return errno
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// newConfinedTree returns a test tree without roots, confined to its root by Landlock.
func newConfinedTree(t *testing.T) *testTree {
	t.Helper()
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION); errno != 0 {
		needs.Kernel(t, "Landlock", errno)
	}
	g := newTestTree(t)
	g.Roots, g.Base = nil, g.root
	g.Confine = func() error { return restrictTo(g.root) }
	return g
}

func TestConfinedOperationsReachOnlyAllowedFiles(t *testing.T) {
	g := newConfinedTree(t)
	t.Setenv("XDG_DATA_HOME", g.root+"/data")
	g.addFile("dir/file", "secret")
	g.addLink("../root-outside", "out")
	ctx := t.Context()
	denied := map[string]func(path string) error{
		"read":      func(path string) error { _, err := g.Read(ctx, ReadRequest{Path: path + "/secret"}); return err },
		"read json": func(path string) error { _, _, err := g.ReadJSON(path + "/secret"); return err },
		"write":     func(path string) error { _, err := g.Write(ctx, WriteRequest{Path: path + "/new"}); return err },
		"append": func(path string) error {
			_, err := g.Write(ctx, WriteRequest{Path: path + "/secret", Data: []byte("x"), Append: true})
			return err
		},
		"edit": func(path string) error {
			_, _, err := g.EditFile(ctx, path+"/secret", []Edit{{Search: "secret", Replace: "x"}})
			return err
		},
		"make folder": func(path string) error { _, err := g.Mkdir(path+"/dir", false); return err },
		"delete":      func(path string) error { return g.Delete(ctx, path+"/secret", true) },
		"move":        func(path string) error { _, err := g.Move(ctx, path+"/secret", "moved", true); return err },
		"move to":     func(path string) error { _, err := g.Move(ctx, "dir/file", path+"/moved", true); return err },
		"copy":        func(path string) error { _, err := g.Copy(ctx, path+"/secret", "copied", true); return err },
		"copy to":     func(path string) error { _, err := g.Copy(ctx, "dir/file", path+"/copied", true); return err },
		"list":        func(path string) error { _, err := g.List(ctx, ListRequest{Path: path}); return err },
		"find":        func(path string) error { _, err := g.searcher().Find(ctx, "*", path, 0); return err },
		"search": func(path string) error {
			_, err := g.searcher().Grep(ctx, GrepRequest{Pattern: "secret", Path: path + "/secret"})
			return err
		},
		"watch": func(path string) error { _, _, err := g.Watch(ctx, path, "seen"); return err },
		"trash": func(path string) error { _, err := g.trash().Put(path+"/secret", time.Now()); return err },
		"restore": func(path string) error {
			_, err := g.trash().Restore(ctx, path+"/files/x", "restored", false)
			return err
		},
	}
	for name, do := range denied {
		for _, path := range []string{g.outside, "out"} {
			err := do(path)
			var e *Error
			if !errors.As(err, &e) || e.Reason != Denied || e.Hint != "the sandbox for agents does not allow it" {
				t.Errorf("%s %s: %v, %+v", name, path, err, e)
			}
		}
	}
	if n := g.Size(ctx, g.outside); n != 0 {
		t.Errorf("size: %d", n)
	}
	if _, err := (Git{g.Tree}).Status(ctx, g.root); !errors.Is(err, Denied) {
		t.Errorf("git: %v", err)
	}
	if out, err := g.searcher().Grep(ctx, GrepRequest{Pattern: "secret", Path: ".."}); err == nil && out.Matches > 0 {
		t.Errorf("found a file outside: %+v", out)
	}
	g.checkContent("../root-outside/secret", "secret")

	if out, err := g.Read(ctx, ReadRequest{Path: "dir/file"}); err != nil || out.Text != "secret" {
		t.Errorf("inside: %+v, %v", out, err)
	}
	if out, err := g.searcher().Grep(ctx, GrepRequest{Pattern: "secret"}); err != nil || out.Matches != 1 {
		t.Errorf("inside: %+v, %v", out, err)
	}
	if _, err := g.Write(ctx, WriteRequest{Path: "new/file", Data: []byte("x")}); err != nil {
		t.Errorf("inside: %v", err)
	}
	if _, changed, err := g.Watch(ctx, "new", "seen"); err != nil || !changed {
		t.Errorf("inside: %v, %v", changed, err)
	}
}

// A folder is swapped with a link to the outside while it is used.
func TestSwappedLinkCannotLeaveSandbox(t *testing.T) {
	needs.FullRun(t)
	g := newConfinedTree(t)
	g.addBeside("root-outside/marker", "")
	g.addLink(g.outside, "trap")
	newSwapper(g, g.outside, g.addDoor).tryDoor()
}

// A threadLog records the threads on which Confine was called.
type threadLog struct {
	mu      sync.Mutex
	threads []int
}

func (c *threadLog) confine() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.threads = append(c.threads, unix.Gettid())
	return nil
}

// waitExited waits until all confined threads have exited.
func (c *threadLog) waitExited(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, thread := range c.threads {
		if thread == os.Getpid() {
			t.Error("the main thread was confined")
		}
		for range 1_000_000 {
			if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", thread)); err != nil {
				break
			}
			runtime.Gosched()
		}
		if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", thread)); err == nil {
			t.Errorf("thread %d still exists", thread)
		}
	}
}

func TestConfinedThreadsExit(t *testing.T) {
	g := newTestTree(t)
	c := &threadLog{}
	g.Confine = c.confine
	g.addFile("dir/file", "text")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for range 30 {
		if out, err := g.searcher().Grep(ctx, GrepRequest{Pattern: "text"}); err != nil || out.Matches != 1 {
			t.Errorf("%+v, %v", out, err)
		}
		if out, err := g.Read(ctx, ReadRequest{Path: "dir/file"}); err != nil || out.Text != "text" {
			t.Errorf("%+v, %v", out, err)
		}
		if _, err := g.Stat("missing"); !errors.Is(err, NotFound) {
			t.Error(err)
		}
	}
	if len(c.threads) < 30*4 {
		t.Errorf("%d threads were confined", len(c.threads))
	}
	c.waitExited(t)
}

func TestMainThreadIsNeverConfined(t *testing.T) {
	// Keep all other threads busy, so that the main thread would be next.
	var busy sync.WaitGroup
	stop := make(chan struct{})
	for range 4 * runtime.GOMAXPROCS(0) {
		busy.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			<-stop
		})
	}
	defer busy.Wait()
	defer close(stop)
	c := &threadLog{}
	tree := Tree{Confine: c.confine}
	for range 500 {
		if err := tree.runConfined(func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	c.waitExited(t)
}

func TestOperationsFailIfConfineFails(t *testing.T) {
	g := newTestTree(t)
	calls := 0
	broken := func() error { return errors.New("broken") }
	g.Confine = broken
	ctx := t.Context()
	for name, do := range map[string]func() error{
		"read":      func() error { _, err := g.Read(ctx, ReadRequest{Path: ".keep"}); return err },
		"read json": func() error { _, _, err := g.ReadJSON(".keep"); return err },
		"write":     func() error { _, err := g.Write(ctx, WriteRequest{Path: "new"}); return err },
		"edit":      func() error { _, _, err := g.EditFile(ctx, ".keep", []Edit{{Search: "a"}}); return err },
		"mkdir":     func() error { _, err := g.Mkdir("new", true); return err },
		"delete":    func() error { return g.Delete(ctx, ".keep", true) },
		"move":      func() error { _, err := g.Move(ctx, ".keep", "new", true); return err },
		"copy":      func() error { _, err := g.Copy(ctx, ".keep", "new", true); return err },
		"stat":      func() error { _, err := g.Stat(".keep"); return err },
		"list":      func() error { _, err := g.List(ctx, ListRequest{}); return err },
		"find":      func() error { _, err := g.searcher().Find(ctx, "*", "", 0); return err },
		"grep":      func() error { _, err := g.searcher().Grep(ctx, GrepRequest{Pattern: "x"}); return err },
		"watch":     func() error { _, _, err := g.Watch(ctx, "", "seen"); return err },
		"trash":     func() error { _, err := g.trash().Put(".keep", time.Now()); return err },
		"restore":   func() error { _, err := g.trash().Restore(ctx, "files/x", "new", false); return err },
		"relate":    func() error { _, err := g.Relate(".keep", "new"); return err },
		"report":    func() error { _, err := g.Report(ctx, "name", "text", "", time.Now()); return err },
		"git":       func() error { _, err := Git{g.Tree}.Status(ctx, ""); return err },
	} {
		if err := do(); err == nil || name != "git" && !strings.HasSuffix(err.Error(), "confine a file operation: broken") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Confine fails only for the goroutines of a search.
	var mu sync.Mutex
	g.Confine = func() error {
		mu.Lock()
		defer mu.Unlock()
		if calls++; calls > 1 {
			return broken()
		}
		return nil
	}
	if out, err := g.searcher().Grep(ctx, GrepRequest{Pattern: "x"}); err == nil || out.Lines != nil {
		t.Errorf("%+v, %v", out, err)
	}
	entries, err := os.ReadDir(g.root)
	if err != nil || len(entries) != 1 {
		t.Errorf("there is %v, %v", entries, err)
	}
}

func TestPanicOnConfinedThreadReachesCaller(t *testing.T) {
	defer func() {
		if got := recover(); fmt.Sprint(got) != "broken" {
			t.Errorf("got %v", got)
		}
	}()
	tree := Tree{Confine: func() error { return nil }}
	_ = tree.runConfined(func() error { panic("broken") })
	t.Error("the panic was lost")
}

func TestWithoutConfineCallerThreadIsUsed(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tree, thread := Tree{}, 0
	_ = tree.runConfined(func() error { thread = unix.Gettid(); return nil })
	if thread != unix.Gettid() {
		t.Error("the operation ran on another thread")
	}
}

func TestConfinedThreadIsNotReused(t *testing.T) {
	g := newConfinedTree(t)
	open := *g.Tree
	open.Confine = nil
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if _, err := g.Read(t.Context(), ReadRequest{Path: filepath.Join(g.outside, "secret")}); !errors.Is(err, Denied) {
					t.Errorf("confined: %v", err)
				}
				if out, err := open.Read(t.Context(), ReadRequest{Path: filepath.Join(g.outside, "secret")}); err != nil || out.Text != "secret" {
					t.Errorf("not confined: %+v, %v", out, err)
				}
			}
		})
	}
	all.Wait()
}

package files

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/tests/needs"
)

// deepVariable is set in the test's child to the operation to run on a deep folder.
const deepVariable = "TANDEM_TEST_DEEP"

// addDeep makes a folder with many levels of folders inside each other.
func (g *testTree) addDeep(rel string, levels int) {
	g.Helper()
	g.addFile(rel+"/file", "text")
	dir, err := unix.Open(filepath.Join(g.root, rel), unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	for range levels {
		if err == nil {
			err = unix.Mkdirat(dir, "d", 0o700)
		}
		if err != nil {
			g.Fatal(err)
		}
		above := dir
		dir, err = unix.Openat(above, "d", unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		unix.Close(above)
	}
	unix.Close(dir)
}

// deepOperations are the operations that walk through a folder, with the error for one that is too
// deep.
func (g *testTree) deepOperations() map[string]func(folder string) error {
	ctx := g.Context()
	return map[string]func(string) error{
		"copy": func(folder string) error { _, err := g.Copy(ctx, folder, "copy", false); return err },
		"pack": func(folder string) error {
			_, err := g.archiver().Pack(ctx, []string{folder}, "packed.tar")
			return err
		},
		"size": func(folder string) error { g.Size(ctx, folder); return nil },
		"find": func(folder string) error { _, err := g.searcher().Find(ctx, "file", folder, 0); return err },
		"grep": func(folder string) error {
			_, err := g.searcher().Grep(ctx, GrepRequest{Pattern: "text", Path: folder})
			return err
		},
		"delete": func(folder string) error { return g.Delete(ctx, folder, true) },
	}
}

// Memory is measured in a child for each operation: what other tests have used does not count.
func TestFolderOfManyLevelsNeedsLittleMemory(t *testing.T) {
	needs.FullRun(t)
	const levels, maxGrowth = 10_000, 20 << 10 // in KB
	if name := os.Getenv(deepVariable); name != "" {
		g := &testTree{TB: t, root: os.Getenv(deepVariable + "_DIR")}
		g.Tree = &Tree{Roots: []string{g.root}, Home: g.root}
		if err := g.deepOperations()[name]("deep"); err != nil && !errors.Is(err, TooLarge) {
			t.Error(err)
		}
		return
	}
	g := newTestTree(t)
	g.addDeep("deep", levels)
	run := func(name string, dir string) int64 {
		c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = append(os.Environ(), deepVariable+"="+name, deepVariable+"_DIR="+dir)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out[:min(len(out), 2000)])
		}
		return c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	}
	for _, name := range []string{"size", "find", "grep", "pack", "copy", "delete"} {
		shallow := newTestTree(t)
		shallow.addDeep("deep", 1)
		if before, now := run(name, shallow.root), run(name, g.root); now-before > maxGrowth {
			t.Errorf("%s took %d MB more than for a folder of one level", name, (now-before)>>10)
		} else {
			t.Logf("%s took %d MB more", name, (now-before)>>10)
		}
	}
}

func TestCopyOfFolderThatIsTooDeepLeavesNothing(t *testing.T) {
	g := newTestTree(t)
	g.addDeep("deep", maxDepth+1)
	for _, name := range []string{"copy", "pack"} {
		err := g.deepOperations()[name]("deep")
		if !errors.Is(err, TooLarge) || !strings.HasSuffix(err.Error(), "it has more than 512 levels of folders") {
			t.Errorf("%s: %v", name, err)
		}
	}
	g.checkNames("", ".keep", "deep")
	if err := g.Delete(t.Context(), "deep", true); err != nil {
		t.Error(err)
	}
	g.checkNames("", ".keep")
}

func TestDescentStopsAtItsLimits(t *testing.T) {
	var d Descent
	for range maxEntries {
		if err := d.Enter(func() error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Enter(func() error { return nil }); !errors.Is(err, errTooMany) {
		t.Errorf("too many entries: %v", err)
	}
	d = Descent{}
	levels := 0
	var deeper func() error
	deeper = func() error { levels++; return d.Enter(deeper) }
	if err := deeper(); !errors.Is(err, errTooDeep) || levels != maxDepth+1 {
		t.Errorf("%d levels: %v", levels, err)
	}
}

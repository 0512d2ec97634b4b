//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"tandem/tests/needs"
)

func TestResolvePathMatchesTheKernel(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "a/b"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"up": "a/b/..", "absolute": dir + "/a", "dangling": "gone/away", "chain": "up/b", "loop": "loop", "dots": "./a//b/.",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"a/b": "a/b", "a/../a": "a", "up": "a", "up/b": "a/b", "up/..": "", "absolute/b": "a/b", "dangling": "gone/away",
		"dangling/x": "gone/away/x", "chain": "a/b", "dots/..": "a", "missing/../a": "a", "//a/./b/": "a/b",
	} {
		got, err := resolvePath(dir + "/" + path)
		if err != nil || got != filepath.Join(dir, want) {
			t.Errorf("%s gave %s, %v, want %s", path, got, err, want)
		}
	}
	if got, err := resolvePath(dir + "/loop/x"); err == nil {
		t.Errorf("a loop gave %s", got)
	}
	if got, err := resolvePath("/../.."); err != nil || got != "/" {
		t.Errorf("above the root is %s, %v", got, err)
	}
}

const mountinfo = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 8:2 / /home rw shared:2 - ext4 /dev/sda2 rw
31 22 8:2 /u /srv/u rw shared:2 - ext4 /dev/sda2 rw
32 22 8:2 /u/.ssh/deep /mnt/deep\040er rw - ext4 /dev/sda2 rw
33 22 8:1 / /mnt/all rw - ext4 /dev/sda1 rw
34 30 8:3 / /home/u/.ssh/disk rw - ext4 /dev/sdb rw
35 22 8:3 / /media/disk rw - ext4 /dev/sdb rw
36 22 0:4 net:[4026531840] /run/netns/x rw - nsfs nsfs rw
garbage
`

func TestAliasesFindAllMountsOfAFile(t *testing.T) {
	table := parseMounts(mountinfo)
	for path, want := range map[string][]string{
		"/home/u/.ssh":     {"/home/u/.ssh", "/home/u/.ssh/disk", "/media/disk", "/mnt/deep er", "/srv/u/.ssh"},
		"/srv/u/.ssh/key":  {"/home/u/.ssh/key", "/srv/u/.ssh/key"},
		"/etc/shadow":      {"/etc/shadow", "/mnt/all/etc/shadow"},
		"/mnt/deep er/x":   {"/home/u/.ssh/deep/x", "/mnt/deep er/x", "/srv/u/.ssh/deep/x"},
		"/home/unrelated":  {"/home/unrelated"},
		"/media/disk/file": {"/home/u/.ssh/disk/file", "/media/disk/file"},
	} {
		got := table.aliases(path)
		slices.Sort(got)
		if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

func TestAllowPathFollowsNoLink(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "outside/cache"), 0o755), os.Symlink("outside", filepath.Join(dir, "work"))); err != nil {
		t.Fatal(err)
	}
	k := currentKernel()
	if err := k.check(Layers{{}}); err != nil {
		needs.Kernel(t, "Landlock and seccomp", err)
	}
	set, err := newRuleset(rightsFor(0, openNetwork, k))
	if err != nil {
		t.Fatal(err)
	}
	defer set.close()
	if err := set.allowPath(filepath.Join(dir, "work/cache"), write); !errors.Is(err, unix.ELOOP) {
		t.Errorf("over a link: %v", err)
	}
	for _, path := range []string{"work", "outside/cache"} {
		if err := set.allowPath(filepath.Join(dir, path), write); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

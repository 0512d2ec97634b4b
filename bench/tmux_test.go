package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"tandem/tests/needs"
)

// BenchmarkTmuxCall measures `display-message -p` in tmux and in `tandem tmux`, in turns. Both
// get the system's PATH, because a library of tandem searches each of its folders for clipboard
// programs at start, and the length of the user's PATH should not count.
func BenchmarkTmuxCall(b *testing.B) {
	tmux := needs.Program(b, "tmux", "tmux")
	b.Setenv("CGO_ENABLED", "0") // as in a release, because the dynamic linker takes time
	p := build(b)
	path := "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	b.Setenv("PATH", path)
	p.env = append(p.env, "PATH="+path)
	dir, err := os.MkdirTemp("", "tb")
	if err != nil {
		b.Fatal(err)
	}
	defer os.RemoveAll(dir)
	theirs := func(args ...string) *exec.Cmd {
		return exec.Command(tmux, append([]string{"-S", filepath.Join(dir, "s"), "-f", "/dev/null"}, args...)...)
	}
	defer endTmux(b, theirs)
	ours := func(args ...string) *exec.Cmd { return p.command(append([]string{"tmux"}, args...)...) }
	for _, do := range []func(...string) *exec.Cmd{theirs, ours} {
		if out, err := do("new-session", "-d", "-s", "work", "cat").CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	var times [2][]time.Duration
	for b.Loop() {
		for range 50 {
			for i, do := range []func(...string) *exec.Cmd{theirs, ours} {
				cmd := do("display-message", "-p", "#S")
				began := time.Now()
				if out, err := cmd.Output(); err != nil || string(out) != "work\n" {
					b.Fatalf("output %q: %v", out, err)
				}
				times[i] = append(times[i], time.Since(began))
			}
		}
	}
	b.ReportMetric(median(times[0]), "ms-tmux")
	b.ReportMetric(median(times[1]), "ms-tandem")
	b.ReportMetric(median(times[1])/median(times[0]), "tandem/tmux")
}

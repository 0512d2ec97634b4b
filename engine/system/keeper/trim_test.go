package keeper

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/tests/needs"
	"tandem/tests/wait"
)

// held returns how many bytes of a file are stored on disk, and its length.
func held(t *testing.T, path string) (bytes, end int64) {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return 0, 0
	}
	return st.Blocks * 512, st.Size
}

// flood prints 6,888,896 bytes, waits for a file go and prints as much again.
const flood = `seq 1000000; while ! [ -e go ]; do sleep 0.01; done; seq 1000000; exec sleep 1000`

// wantTrimmed waits until a log has its final length end and takes little space on disk.
func (r *rig) wantTrimmed(path string, end int64) {
	r.t.Helper()
	const limit = 64 << 10
	wait.Poll(r.t, "a log within its limit", func() ([2]int64, bool) {
		bytes, now := held(r.t.(*testing.T), path)
		return [2]int64{bytes, now}, now == end && bytes <= 2*limit
	})
	log, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	if tail := log[len(log)-limit:]; tail[0] == 0 || log[0] != 0 {
		r.t.Errorf("the log begins with %q, and its last %d bytes with %q", log[:10], limit, tail[:10])
	}
}

func TestKeeperTrimsLogsWithoutAnEngine(t *testing.T) {
	needs.FullRun(t)
	const length = 6888896
	for name, begin := range map[string]func(r *rig, s Spec) *Client{
		"started": func(r *rig, s Spec) *Client {
			r.keeper("").mustBeReady()
			c := r.dial()
			r.start(c, s)
			return c
		},
		"adopted": func(r *rig, s Spec) *Client {
			k := r.keeper("").mustBeReady()
			child, _ := r.start(r.dial(), s)
			k.kill()
			r.keeper("").mustBeReady()
			c := r.dial()
			if err := c.Adopt(r.ctx(), child, s.Dir, Logs{[]string{s.Stdout, s.Stderr}, s.LogLimit}, nil); err != nil {
				r.t.Fatal(err)
			}
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			s := r.spec("a", flood)
			s.LogLimit = 64 << 10
			c := begin(r, s)
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			r.wantTrimmed(s.Stdout, length)
			if err := os.WriteFile(filepath.Join(r.dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			r.wantTrimmed(s.Stdout, 2*length)
			r.dial() // to end what was started
		})
	}
}

func TestTrimChangesOnlyOversizedLogs(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "log")
	text := make([]byte, 1<<20)
	for i := range text {
		text[i] = 'x'
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for name, freed := range map[string]int64{
		"a link":             trimLog(link, 1<<10, 0),
		"a folder":           trimLog(dir, 1<<10, 0),
		"a file that is not": trimLog(filepath.Join(dir, "none"), 1<<10, 0),
		"a short file":       trimLog(path, 1<<20, 0),
		"a bit too long":     trimLog(path, 1<<20-1<<16, 0),
		"no limit":           trimLog(path, 1<<60, 0),
	} {
		if freed != 0 {
			t.Errorf("%s: %d bytes are free", name, freed)
		}
	}
	if bytes, _ := held(t, path); bytes < 1<<20 {
		t.Errorf("%d bytes are left", bytes)
	}
	if freed := trimLog(path, 1<<16, 0); freed != 1<<20-1<<16 {
		t.Errorf("%d bytes are free", freed)
	}
	if err := os.Truncate(path, 1<<17); err != nil {
		t.Fatal(err)
	}
	if freed := trimLog(path, 1<<16, 1<<20-1<<16); freed != 1<<16 {
		t.Errorf("%d bytes are free of a file that was cut", freed)
	}
}

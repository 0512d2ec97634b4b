package faults

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/api/client/retry"
	"tandem/tests/harness"
	"tandem/tests/needs"
	"tandem/tests/notify"
	"tandem/tests/wait"
)

// onlyWrites names the variable with which the filter stops writeCalls instead of targets.
const onlyWrites = "TANDEM_TEST_ONLY_WRITES"

var writeCalls = []int32{unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_WRITEV, unix.SYS_PWRITEV}

// maxWrite is how many bytes of a write are searched.
const maxWrite = 1 << 20

// A writeWatch finds writes to regular files that contain a secret.
type writeWatch struct {
	secret []byte

	mu    sync.Mutex
	seen  int // writes to regular files
	leaks []string
}

func (w *writeWatch) decide(c notify.Call) unix.Errno {
	opened := fmt.Sprintf("/proc/%d/fd/%d", c.Thread, int32(c.Args[0]))
	file, err := os.Readlink(opened)
	if err != nil || !filepath.IsAbs(file) || strings.HasPrefix(file, "/memfd:") || strings.HasPrefix(file, "/dev/") || strings.HasPrefix(file, "/proc/") {
		return 0
	}
	if info, err := os.Stat(opened); err != nil || !info.Mode().IsRegular() {
		return 0
	}
	var text []byte
	if c.Number == unix.SYS_WRITEV || c.Number == unix.SYS_PWRITEV {
		vectors := c.ReadBytes(c.Args[1], 16*int(min(c.Args[2], 1024)))
		for ; len(vectors) >= 16; vectors = vectors[16:] {
			text = append(text, c.ReadBytes(binary.NativeEndian.Uint64(vectors), int(min(binary.NativeEndian.Uint64(vectors[8:]), maxWrite)))...)
		}
	} else {
		text = c.ReadBytes(c.Args[1], int(min(c.Args[2], maxWrite)))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen++
	if bytes.Contains(text, w.secret) {
		w.leaks = append(w.leaks, fmt.Sprintf("%s: %.200q", file, text))
	}
	return 0
}

// A session started by an ordinary call shows that the watch finds leaks.
func TestNoWriteToAFileHasContentOfAPrivateSession(t *testing.T) {
	for _, private := range []bool{true, false} {
		t.Run(fmt.Sprint("private ", private), func(t *testing.T) {
			needs.Program(t, "bash", "bash")
			w := &writeWatch{secret: []byte("hush" + api.NewID())}
			s := startWatched(t, w)
			s.usePrivately(private, string(w.secret))
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.seen < 10 {
				t.Errorf("only %d writes to files were seen", w.seen)
			}
			if private && len(w.leaks) > 0 {
				t.Errorf("written to files:\n%s", strings.Join(w.leaks, "\n"))
			}
			if !private && len(w.leaks) == 0 {
				t.Error("an ordinary session writes nothing that the watch finds")
			}
			s.wantOnDisk(!private, w.secret)
		})
	}
}

// startWatched starts an engine and a keeper whose writes are watched.
func startWatched(t *testing.T, w *writeWatch) *stage {
	env, dir := harness.Stage(t)
	s := &stage{T: t, env: append(slices.Clone(env), onlyWrites+"=1"), dir: dir}
	s.socket = serveListeners(t, dir, w.decide)
	if err := s.tandem("/proc/self/exe", "info"); err != nil && strings.Contains(err.Error(), installError) {
		needs.Kernel(t, "seccomp user notifications", err)
	} else if err != nil {
		t.Fatal(err)
	}
	c, err := retry.Connect(t.Context(), func(ctx context.Context) (*client.Client, error) {
		return client.Connect(ctx, client.Options{DataDir: filepath.Join(dir, "d"), Name: "test", Version: "0.0.1"})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s.client = c
	return s
}

// usePrivately starts a session, and prints, runs, types and sets the secret there with two engines.
func (s *stage) usePrivately(private bool, secret string) {
	s.Helper()
	p, err := api.SessionStart.Call(s.Context(), s.client, api.SessionStartInput{Command: []string{"bash", "--norc"}, Private: private, CWD: s.dir})
	if err != nil {
		s.Fatal(err)
	}
	run := func(line string) {
		s.Helper()
		out, err := api.SessionExec.Call(s.Context(), s.client, api.SessionExecInput{ID: p.ID, Command: line})
		if err != nil || out.ExitCode == nil || *out.ExitCode != 0 {
			s.Fatalf("%s: %+v, %v", line, out, err)
		}
	}
	folder := filepath.Join(s.T.TempDir(), secret)
	if err := os.Mkdir(folder, 0o700); err != nil {
		s.Fatal(err)
	}
	use := func() {
		s.Helper()
		run("echo " + secret + "; printf '\\033]2;%s\\a\\033]9;%s\\a' " + secret + " " + secret)
		run("cd " + folder + "; true " + secret)
		run("seq 450000")
		if err := api.TypeInto(s.Context(), s.client, api.SessionWriteInput{ID: p.ID, Text: "# " + secret + "\r"}); err != nil {
			s.Fatal(err)
		}
	}
	use()
	before := s.info()
	wait.Kill(s, before.EnginePID)
	s.awaitRoles(func(now api.Info) bool { return now.EnginePID != before.EnginePID })
	if err := api.TypeInto(s.Context(), s.client, api.SessionWriteInput{ID: p.ID, Text: "\r"}); err != nil {
		s.Fatal(err)
	}
	use()
	if err := api.TypeInto(s.Context(), s.client, api.SessionWriteInput{ID: p.ID, Text: "exit\r"}); err != nil {
		s.Fatal(err)
	}
	if _, err := api.ProcessWait.Call(s.Context(), s.client, api.ProcessWaitInput{ID: p.ID, Exit: true}); err != nil {
		s.Fatal(err)
	}
}

// wantOnDisk checks whether a file of the stage, such as a mapped log, contains the secret.
func (s *stage) wantOnDisk(want bool, secret []byte) {
	s.Helper()
	var with []string
	err := filepath.WalkDir(s.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, secret) {
			with = append(with, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil || len(with) > 0 != want {
		s.Errorf("the secret is in %q, %v", with, err)
	}
}

package host

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/control/supervise"
	config "tandem/persist/config/settings"
	"tandem/persist/store"
)

// floodSize is the output of one run.
const floodSize = 100 << 20

// floodFile creates a file of log lines.
func floodFile(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "flood")
	var text strings.Builder
	for i := 0; text.Len() < floodSize; i++ {
		fmt.Fprintf(&text, "2026-11-20T12:00:00.%06dZ INFO request served method=GET path=/v1/items/%d status=200\n", i%1e6, i)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkSession runs a session without keeper and API, so that it can be profiled.
func BenchmarkSession(b *testing.B) {
	path := floodFile(b)
	data, err := store.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	h := New(context.Background(), Options{Store: data, Log: slog.New(slog.DiscardHandler), DataDir: b.TempDir()})
	h.AllowReplays()
	h.settings.current.Store(&currentSettings{Engine: config.Defaults().Engine})
	b.SetBytes(floodSize)
	for b.Loop() {
		r := supervise.NewRecord("flood", api.KindSession)
		r.Cols, r.Rows = 80, 24
		if err := data.Save(r); err != nil {
			b.Fatal(err)
		}
		log, err := h.openLog(r)
		if err != nil {
			b.Fatal(err)
		}
		cmd := exec.Command("cat", path)
		f, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
		if err != nil {
			b.Fatal(err)
		}
		s := h.newSession(r, nonBlocking(b, f), log, screenStart{})
		cmd.Wait()
		for s.IsReady(context.Background()); s.Shown() < log.End() || log.End() < floodSize; {
			time.Sleep(time.Millisecond)
		}
		s.Close()
		h.Wait()
		data.Remove(r.ID)
	}
}

// nonBlocking makes a PTY master non-blocking, as those sent by the keeper are.
func nonBlocking(b *testing.B, f *os.File) *os.File {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		b.Fatal(err)
	}
	f.Close()
	if err := unix.SetNonblock(fd, true); err != nil {
		b.Fatal(err)
	}
	return os.NewFile(uintptr(fd), "pty")
}

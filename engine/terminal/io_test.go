package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/persist/ptylog"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// openPTY opens a terminal whose master is as the keeper hands it over.
func openPTY(t *testing.T) (master, slave *os.File) {
	t.Helper()
	m, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.FcntlInt(m.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	master = os.NewFile(uintptr(fd), "pty")
	t.Cleanup(func() {
		master.Close()
		slave.Close()
	})
	return master, slave
}

// A fullLog has no room for its first few writes.
type fullLog struct {
	*memoryLog
	refuse atomic.Int32
}

func (l *fullLog) Space(min int) ([]byte, error) {
	if l.refuse.Add(-1) >= 0 {
		return nil, errors.New("no space left on device")
	}
	return l.memoryLog.Space(min)
}

func TestFullDiskDelaysOutputWithoutLoss(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	master, slave := openPTY(t)
	l := &fullLog{memoryLog: &memoryLog{}}
	l.refuse.Store(2)
	told := make(chan string, 10)
	s := newMemorySession(t, l.memoryLog, func(o *Options) {
		o.Master = master
		o.Open = func() (Log, error) { return l, nil }
		o.Notice = func(text string) { told <- text }
	})
	if _, err := slave.WriteString("kept"); err != nil {
		t.Fatal(err)
	}
	wait.Poll(t, "the output in the log", func() (end int64, done bool) {
		end = s.log.End()
		return end, end == 4
	})
	if text := <-told; !strings.Contains(text, "no space left") || len(told) != 0 {
		t.Errorf("told %q and %d more", text, len(told))
	}
}

func TestFloodIsShownCompletelyWhileRequestsAreServed(t *testing.T) {
	needs.FullRun(t)
	master, slave := openPTY(t)
	l, err := ptylog.Open(filepath.Join(t.TempDir(), "log"), ptylog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := newMemorySession(t, &memoryLog{}, func(o *Options) {
		o.Master = master
		o.Open = func() (Log, error) { return l, nil }
	})
	want := strings.Repeat("0123456789", 100<<10) + "the end"
	wrote := make(chan error, 1)
	go func() {
		_, err := slave.WriteString(want)
		wrote <- err
	}()
	for s.Shown() < int64(len(want)) {
		if err := s.onScreen(t.Context(), func(Emulator) {}); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-wrote; err != nil {
		t.Fatal(err)
	}
	var shown string
	if err := s.onScreen(t.Context(), func(term Emulator) {
		shown = strings.Join(ScreenOf(term, false, 0).Lines, "")
	}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(shown, "789the end") {
		t.Errorf("the screen shows %q", shown)
	}
	got := make([]byte, len(want))
	if _, err := l.ReadAt(got, 0); err != nil || string(got) != want {
		t.Errorf("the log has other bytes than were written (%v)", err)
	}
}

func TestOutputOfAnExitedChildIsReadCompletely(t *testing.T) {
	master, slave := openPTY(t)
	l := &memoryLog{}
	drained := make(chan struct{})
	s := newMemorySession(t, l, func(o *Options) {
		o.Master = master
		o.Drained = func() { close(drained) }
	})
	want := strings.Repeat("0123456789", 300)
	if _, err := slave.WriteString(want); err != nil { // and something holds it open
		t.Fatal(err)
	}
	s.ChildEnded()
	<-drained
	if got := string(l.text); got != want {
		t.Errorf("read %d of %d bytes", len(got), len(want))
	}
}

func TestUnreadInputIsBounded(t *testing.T) {
	master, slave := openPTY(t)
	in := newInput(master)
	defer in.close()
	big := []byte(strings.Repeat("x", maxPendingInput) + "\n")
	if err := in.write(t.Context(), big, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 { // what the PTY took of it may have made room for one more
		if err := in.write(ctx, big, nil); err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("write: %v", err)
			}
			before := in.waiting
			in.reply([]byte("answer"))
			if in.waiting > before {
				t.Error("an answer was queued behind a full queue")
			}
			in.close()
			if err := in.write(t.Context(), big, nil); !errors.Is(err, api.CodeEnded) {
				t.Errorf("write after the end: %v", err)
			}
			_ = slave
			return
		}
	}
	t.Error("nothing held the writer back")
}

func TestWriteThroughWaitsForTheTerminal(t *testing.T) {
	master, slave := rawPTY(t)
	in := newInput(master)
	defer in.close()
	want := []byte(strings.Repeat("0123456789", 20<<10))
	read := make(chan []byte, 1)
	go func() {
		got := make([]byte, len(want))
		n, _ := io.ReadFull(slave, got)
		read <- got[:n]
	}()
	if n, err := in.writeThrough(t.Context(), want); n != len(want) || err != nil {
		t.Errorf("wrote %d of %d bytes, %v", n, len(want), err)
	}
	if got := <-read; !bytes.Equal(got, want) {
		t.Errorf("%d of %d bytes arrived", len(got), len(want))
	}
}

func TestWriteThroughDropsTheRestWhenCancelled(t *testing.T) {
	master, slave := rawPTY(t)
	in := newInput(master)
	defer in.close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	want := strings.Repeat("0123456789", 20<<10)
	n, err := in.writeThrough(ctx, []byte(want))
	if err != nil || n == 0 || n == len(want) {
		t.Fatalf("wrote %d bytes, %v", n, err)
	}
	if err := in.write(t.Context(), []byte("end"), nil); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, n+len("end"))
	if _, err := io.ReadFull(slave, got); err != nil || string(got) != want[:n]+"end" {
		t.Errorf("read %q at the end of %d bytes, %v", got[max(0, len(got)-20):], len(got), err)
	}
}

func TestWriteThroughFailsWhenTheInputIsClosed(t *testing.T) {
	master, _ := rawPTY(t)
	in := newInput(master)
	want := []byte(strings.Repeat("x", 200<<10))
	if err := in.write(t.Context(), want, nil); err != nil { // more than the terminal accepts
		t.Fatal(err)
	}
	typed := make(chan error, 1)
	go func() {
		_, err := in.writeThrough(t.Context(), []byte("y"))
		typed <- err
	}()
	in.close()
	if err := <-typed; !errors.Is(err, api.CodeEnded) {
		t.Errorf("writeThrough returned %v, want %v", err, api.CodeEnded)
	}
}

// rawPTY opens a PTY in raw mode.
func rawPTY(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, slave = openPTY(t)
	if _, err := term.MakeRaw(slave.Fd()); err != nil {
		t.Fatal(err)
	}
	return master, slave
}

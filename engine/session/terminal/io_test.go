package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
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

// openPTY opens a terminal. Its master is in the state in which the keeper hands it over.
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

// A fullLog has no room while full is set.
type fullLog struct {
	*memoryLog
	full atomic.Bool
}

var errNoSpace = errors.New("no space left on device")

func (l *fullLog) Space(min int) ([]byte, error) {
	if l.full.Load() {
		return nil, errNoSpace
	}
	return l.memoryLog.Space(min)
}

// A plainLog always has space, but takes only two more bytes once full is set.
type plainLog struct {
	*fullLog
	once *sync.Once
}

func (l plainLog) Space(min int) ([]byte, error) { return l.memoryLog.Space(min) }

func (l plainLog) Commit(n int) (int, error) {
	if !l.full.Load() {
		return l.memoryLog.Commit(n)
	}
	n = 0
	l.once.Do(func() { n, _ = l.memoryLog.Commit(2) })
	return n, errNoSpace
}

func TestProgramContinuesWhileItsLogCannotBeWritten(t *testing.T) {
	needs.FullRun(t)
	for name, of := range map[string]func(*fullLog) (Log, string){
		"no space":    func(l *fullLog) (Log, string) { return l, "[0-9]*" },
		"short write": func(l *fullLog) (Log, string) { return plainLog{l, new(sync.Once)}, "01" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			master, slave := rawPTY(t)
			l := &fullLog{memoryLog: &memoryLog{}}
			log, kept := of(l)
			told, drained := make(chan string, 10), make(chan struct{})
			s := newMemorySession(t, l.memoryLog, func(o *testOptions) {
				o.Master = master
				o.Open = func() (Log, error) { return log, nil }
				o.Notice = func(text string) { told <- text }
				o.Drained = func() { close(drained) }
			})
			print := func(text string) {
				t.Helper()
				if _, err := slave.WriteString(text); err != nil {
					t.Fatal(err)
				}
			}
			awaitShown := func(text string) {
				t.Helper()
				wait.Poll(t, text+" on the screen", func() (shown string, ok bool) {
					err := s.onScreen(t.Context(), func(term Emulator) {
						shown = strings.Join(ScreenOf(term, false, 0).Lines, "\n")
					})
					return shown, err == nil && strings.HasSuffix(strings.TrimSpace(shown), text)
				})
			}
			print("before\r\n")
			awaitShown("before")
			raw := view(t, s, api.AttachOptions{Raw: true})
			l.full.Store(true)
			print(strings.Repeat("0123456789", 100<<10) + "\r\nflooded") // far more than a terminal holds
			awaitShown("flooded")
			for out := range raw.out {
				if bytes.Contains(out.Bytes, []byte("flooded")) {
					break
				}
			}
			if text := <-told; !strings.Contains(text, "no space left on device; what the program prints is shown, but not logged") {
				t.Errorf("told %q", text)
			}
			l.full.Store(false)
			if text := <-told; !strings.Contains(text, "bytes of output are missing in the log") {
				t.Errorf("told %q", text)
			}
			print("\r\nafter")
			awaitShown("flooded\nafter")
			l.full.Store(true)
			print("\r\nlast")
			awaitShown("after\nlast")
			s.ChildEnded()
			wait.Receive(t, "the end of the output", drained)
			l.mu.Lock()
			defer l.mu.Unlock()
			// The reader had reserved space already when the disk became full.
			want := regexp.MustCompile(`^before\r\n` + kept + `\x18\r\n\[tandem: [0-9]+ bytes of output missing; the log could not be written\]\r\n\r\nafter`)
			if got := l.text; !want.Match(got) {
				t.Errorf("the log begins with %.100q and ends with %q", got, got[max(0, len(got)-200):])
			}
		})
	}
}

// The reader shows short pieces of output itself, unless somebody uses the screen. No piece is lost
// or shown twice.
func TestShortPiecesOfOutputAreShownOnceEach(t *testing.T) {
	master, slave := rawPTY(t)
	l := &memoryLog{}
	s := newMemorySession(t, l, func(o *testOptions) { o.Master = master })
	var want strings.Builder
	for i := range 1000 {
		piece := fmt.Sprintf("%d,", i)
		want.WriteString(piece)
		if _, err := slave.WriteString(piece); err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			if err := s.onScreen(t.Context(), func(Emulator) { runtime.Gosched() }); err != nil {
				t.Fatal(err)
			}
		}
	}
	wait.Poll(t, "the last piece", func() (int64, bool) { return s.Shown(), s.Shown() == int64(want.Len()) })
	if err := s.onScreen(t.Context(), func(term Emulator) {
		if got := strings.Join(ScreenOf(term, false, 1000).Lines, ""); got != want.String() {
			t.Errorf("shown: %q", got)
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// A truncatedLog is a log whose file somebody truncates after the first piece of output.
type truncatedLog struct {
	*ptylog.Log
	path string
	done chan struct{} // closed after that
}

func (l truncatedLog) Commit(n int) (int, error) {
	n, err := l.Log.Commit(n)
	select {
	case <-l.done:
	default:
		err = errors.Join(err, os.Truncate(l.path, 0))
		close(l.done)
	}
	return n, err
}

// The output just read is in the mapping of the file: touching it would be a fault, which ends the
// engine with all its sessions.
func TestSessionContinuesAfterItsLogWasTruncated(t *testing.T) {
	master, slave := rawPTY(t)
	path := filepath.Join(t.TempDir(), "log")
	l, err := ptylog.Open(path, ptylog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log := truncatedLog{l, path, make(chan struct{})}
	s := newMemorySession(t, &memoryLog{}, func(o *testOptions) {
		o.Master = master
		o.Open = func() (Log, error) { return log, nil }
	})
	print := func(text string) {
		t.Helper()
		if _, err := slave.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	print("lost")
	wait.Receive(t, "the first piece of output", log.done)
	print("lost, perhaps")
	wait.Poll(t, "the next one to be handled", func() (int64, bool) { return s.Shown(), s.Shown() > int64(len("lost")) && s.Shown() == log.End() })
	print("\r\nshown")
	wait.Poll(t, "the last one on the screen", func() (shown string, ok bool) {
		err := s.onScreen(t.Context(), func(term Emulator) {
			shown = strings.Join(ScreenOf(term, false, 0).Lines, "\n")
		})
		return shown, err == nil && strings.Contains(shown, "shown")
	})
}

func TestFloodIsShownCompletelyWhileRequestsAreServed(t *testing.T) {
	needs.FullRun(t)
	master, slave := openPTY(t)
	l, err := ptylog.Open(filepath.Join(t.TempDir(), "log"), ptylog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := newMemorySession(t, &memoryLog{}, func(o *testOptions) {
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
	s := newMemorySession(t, l, func(o *testOptions) {
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

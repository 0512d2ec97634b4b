package ptylog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/persist/logtest"
	"tandem/persist/sparse"
	"tandem/tests/needs"
	"tandem/tests/seed"
)

// onEveryDisk runs a test on the system's disk and on one without mappings.
func onEveryDisk(t *testing.T, test func(t *testing.T, d sparse.Disk)) {
	t.Run("mapped", func(t *testing.T) { test(t, sparse.System()) })
	t.Run("plain", func(t *testing.T) { test(t, logtest.NoMapping{Disk: sparse.System()}) })
	t.Run("allocation without mapping", func(t *testing.T) { test(t, onlyAllocation{sparse.System()}) })
}

// onlyAllocation is a disk that preallocates but does not map files.
type onlyAllocation struct{ sparse.Disk }

func (onlyAllocation) MapRange(*os.File, int64, int) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

func mustOpen(t testing.TB, path string, o Options, d sparse.Disk) *Log {
	t.Helper()
	l, err := open(path, o, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// write appends b as a PTY reader does.
func write(t testing.TB, l *Log, b []byte) {
	t.Helper()
	for len(b) > 0 {
		s, err := l.Space(1)
		if err != nil {
			t.Fatal(err)
		}
		n := copy(s, b)
		l.Commit(n)
		b = b[n:]
	}
}

func contents(t testing.TB, l *Log) []byte {
	t.Helper()
	b, err := io.ReadAll(io.NewSectionReader(l, l.Start(), l.End()-l.Start()))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// crash abandons a log like a killed process: nothing is truncated or flushed.
func crash(t testing.TB, l *Log) {
	t.Helper()
	l.closed = true
	if !l.plain && l.window != nil {
		if err := l.disk.Unmap(l.window); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCommittedBytesSurviveReopening(t *testing.T) {
	onEveryDisk(t, func(t *testing.T, d sparse.Disk) {
		path, want := logtest.LogPath(t), logtest.Text(3<<20)
		l := mustOpen(t, path, Options{}, d)
		write(t, l, want)
		if got := contents(t, l); !bytes.Equal(got, want) {
			t.Fatalf("read back %d bytes that differ from the %d written", len(got), len(want))
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("the closed file has %d bytes, want exactly the %d written (%v)", len(got), len(want), err)
		}
		l = mustOpen(t, path, Options{}, d)
		write(t, l, []byte("more\n"))
		if got := contents(t, l); !bytes.Equal(got, append(want, "more\n"...)) {
			t.Fatal("a reopened log does not go on where it ended")
		}
	})
}

func TestLogEndsAtLastByteAfterCrash(t *testing.T) {
	onEveryDisk(t, func(t *testing.T, d sparse.Disk) {
		path := logtest.LogPath(t)
		var want []byte
		for i := range 5 {
			l := mustOpen(t, path, Options{}, d)
			part := logtest.Text(1 + i*70_000)
			write(t, l, part)
			want = append(want, part...)
			crash(t, l)
		}
		l := mustOpen(t, path, Options{}, d)
		if got := contents(t, l); !bytes.Equal(got, want) {
			t.Fatalf("got %d bytes, want %d", len(got), len(want))
		}
	})
}

func TestUncommittedSpaceSurvivesCrash(t *testing.T) {
	path := logtest.LogPath(t)
	l := mustOpen(t, path, Options{}, sparse.System())
	write(t, l, []byte("committed\n"))
	s, err := l.Space(4096)
	if err != nil {
		t.Fatal(err)
	}
	copy(s, "read, not committed\n")
	if l.End() != int64(len("committed\n")) {
		t.Fatal("bytes count before they are committed")
	}
	crash(t, l)
	l = mustOpen(t, path, Options{}, sparse.System())
	if got, want := string(contents(t, l)), "committed\nread, not committed\n"; got != want {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func TestCommittedOffsetKeepsTrailingNULs(t *testing.T) {
	path := logtest.LogPath(t)
	l := mustOpen(t, path, Options{}, sparse.System())
	write(t, l, []byte("a\x00\x00\x00"))
	crash(t, l)
	for _, c := range []struct{ committed, end int64 }{{0, 1}, {3, 3}, {4, 4}, {1 << 40, 1}} {
		l, err := Open(path, Options{Committed: c.committed})
		if err != nil {
			t.Fatal(err)
		}
		if l.End() != c.end {
			t.Errorf("with %d known to be committed the log ends at %d, want %d", c.committed, l.End(), c.end)
		}
		crash(t, l)
	}
}

func TestLimitedLogDropsHeadAndKeepsOffsets(t *testing.T) {
	const limit = 256 << 10
	path, all := logtest.LogPath(t), logtest.Text(4<<20)
	l := mustOpen(t, path, Options{Limit: limit}, sparse.System())
	for i := 0; i < len(all); i += 1000 {
		write(t, l, all[i:min(i+1000, len(all))])
		if kept := l.End() - l.Start(); l.Start() > 0 && kept < limit {
			t.Fatalf("only %d bytes are kept of a limit of %d", kept, limit)
		}
	}
	if l.Start() == 0 || !l.Bounded() {
		t.Fatalf("start is %d, bounded %v", l.Start(), l.Bounded())
	}
	if got := contents(t, l); !bytes.Equal(got, all[l.Start():]) {
		t.Fatal("what is kept is not the tail of what was written")
	}
	if n, err := l.ReadAt(make([]byte, 10), l.Start()-1); n != 0 || !errors.Is(err, sparse.ErrDropped) {
		t.Fatalf("read before the start: %d, %v", n, err)
	}
	if got := logtest.Blocks(t, path); got > limit+sparse.MinDrop+3*maxWindow {
		t.Fatalf("%d bytes of disk are used", got)
	}
	start, end := l.Start(), l.End()
	crash(t, l)
	l = mustOpen(t, path, Options{Limit: limit}, sparse.System())
	if l.Start() != start || l.End() != end {
		t.Fatalf("reopened from %d to %d, was from %d to %d", l.Start(), l.End(), start, end)
	}
}

func TestLogReportsUnboundedIfHolesAreNotSupported(t *testing.T) {
	l := mustOpen(t, logtest.LogPath(t), Options{Limit: 64 << 10}, logtest.NoMapping{Disk: sparse.System()})
	want := logtest.Text(1 << 20)
	write(t, l, want)
	if l.Bounded() || l.Start() != 0 || !bytes.Equal(contents(t, l), want) {
		t.Fatalf("bounded %v, start %d", l.Bounded(), l.Start())
	}
}

func TestIdleLogUsesLittleDisk(t *testing.T) {
	path := logtest.LogPath(t)
	l := mustOpen(t, path, Options{}, sparse.System())
	write(t, l, []byte("$ "))
	if got := logtest.Blocks(t, path); got > 2*minWindow {
		t.Fatalf("an idle log takes %d bytes of disk", got)
	}
}

// fullDisk has room for some bytes of a file.
type fullDisk struct {
	sparse.Disk
	room *int64
}

func (d fullDisk) Allocate(f *os.File, off, n int64) error {
	if off+n > *d.room {
		return fmt.Errorf("%w: %w", sparse.ErrDiskFull, syscall.ENOSPC)
	}
	return d.Disk.Allocate(f, off, n)
}

func TestLogContinuesAfterDiskWasFull(t *testing.T) {
	room := int64(100 << 10)
	path, want := logtest.LogPath(t), logtest.Text(300<<10)
	l := mustOpen(t, path, Options{}, fullDisk{sparse.System(), &room})
	rest := want
	for {
		s, err := l.Space(1)
		if errors.Is(err, syscall.ENOSPC) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n := copy(s, rest)
		l.Commit(n)
		rest = rest[n:]
	}
	if l.End() != room {
		t.Fatalf("the disk has room for %d bytes and the log took %d", room, l.End())
	}
	room = 1 << 30
	write(t, l, rest)
	if !bytes.Equal(contents(t, l), want) {
		t.Fatal("bytes were lost around the full disk")
	}
}

func TestPlainWriteReportsBytesThatDoNotFit(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	l := mustOpen(t, logtest.LogPath(t), Options{}, logtest.NoMapping{Disk: sparse.System()})
	write(t, l, []byte("one "))
	file := l.f
	for range 2 {
		l.f = file
		s, err := l.Space(10)
		if err != nil {
			t.Fatal(err)
		}
		l.f = full
		if n, err := l.Commit(copy(s, "two ")); n != 0 || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("a write to a full disk appended %d bytes: %v", n, err)
		}
		if l.End() != 4 {
			t.Errorf("the end is %d, behind bytes that are not in the file", l.End())
		}
	}
	l.f = file
	write(t, l, []byte("three"))
	if got := string(contents(t, l)); got != "one three" {
		t.Errorf("got %q", got)
	}
}

func TestDroppedWindowIsReplaced(t *testing.T) {
	onEveryDisk(t, func(t *testing.T, d sparse.Disk) {
		l := mustOpen(t, logtest.LogPath(t), Options{}, d)
		write(t, l, []byte("one "))
		if err := l.DropWindow(); err != nil {
			t.Fatal(err)
		}
		write(t, l, []byte("two"))
		if got := string(contents(t, l)); got != "one two" {
			t.Errorf("got %q", got)
		}
	})
}

func TestSpaceRejectsInvalidSizes(t *testing.T) {
	l := mustOpen(t, logtest.LogPath(t), Options{}, sparse.System())
	for _, n := range []int{-1, MaxSpace + 1} {
		if _, err := l.Space(n); err == nil {
			t.Errorf("a space of %d bytes was given", n)
		}
	}
	if s, err := l.Space(MaxSpace); err != nil || len(s) < MaxSpace {
		t.Errorf("space of %d bytes, %v", len(s), err)
	}
}

func TestLogContinuesAfterTruncation(t *testing.T) {
	for _, size := range []int64{0, 5000} {
		path := logtest.LogPath(t)
		l := mustOpen(t, path, Options{}, sparse.System())
		write(t, l, logtest.Text(10_000))
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		write(t, l, []byte("after\n"))
		if l.End() != 10_006 {
			t.Fatalf("the log ends at %d", l.End())
		}
		b := make([]byte, 6)
		if _, err := l.ReadAt(b, 10_000); err != nil || string(b) != "after\n" {
			t.Fatalf("read %q, %v", b, err)
		}
		if got, want := l.Start() == 0, size > 0; got != want {
			t.Fatalf("cut to %d bytes, the log starts at %d", size, l.Start())
		}
	}
}

func TestReadersFollowAppenderWithoutGap(t *testing.T) {
	onEveryDisk(t, func(t *testing.T, d sparse.Disk) {
		want := logtest.Text(2 << 20)
		l := mustOpen(t, logtest.LogPath(t), Options{}, d)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				got := make([]byte, 0, len(want))
				buf := make([]byte, 10_000)
				for len(got) < len(want) {
					n, err := l.ReadAt(buf, int64(len(got)))
					if err != nil && err != io.EOF {
						t.Error(err)
						return
					}
					got = append(got, buf[:n]...)
				}
				if !bytes.Equal(got, want) {
					t.Error("a reader saw something else than was written")
				}
			})
		}
		for i := 0; i < len(want); i += 4096 {
			write(t, l, want[i:min(i+4096, len(want))])
		}
		wg.Wait()
	})
}

func TestReadersOfLimitedLogNeverSeeTheHole(t *testing.T) {
	needs.FullRun(t)
	l := mustOpen(t, logtest.LogPath(t), Options{Limit: 64 << 10}, sparse.System())
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			buf := make([]byte, 4096)
			for {
				n, err := l.ReadAt(buf, l.Start())
				if err != nil && err != io.EOF && !errors.Is(err, sparse.ErrDropped) {
					t.Error(err)
				}
				if bytes.IndexByte(buf[:n], 0) >= 0 {
					t.Error("a reader got bytes of a hole")
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	line := logtest.Text(64 << 10)
	for range 200 {
		write(t, l, line)
	}
	close(done)
	wg.Wait()
}

func TestLogOfNULsKeepsOffsetAfterHole(t *testing.T) {
	path := logtest.LogPath(t)
	if err := os.WriteFile(path, make([]byte, 256<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(sparse.System().Punch(f, 0, 128<<10), f.Close()); err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, path, Options{}, sparse.System())
	if l.Start() != 128<<10 || l.End() != 128<<10 {
		t.Fatalf("the log is from %d to %d", l.Start(), l.End())
	}
}

func TestReadAtEndsWithEOF(t *testing.T) {
	l := mustOpen(t, logtest.LogPath(t), Options{}, sparse.System())
	write(t, l, []byte("hello"))
	for _, c := range []struct {
		off  int64
		len  int
		want string
		err  error
	}{{0, 5, "hello", nil}, {0, 9, "hello", io.EOF}, {3, 2, "lo", nil}, {5, 1, "", io.EOF}, {99, 1, "", io.EOF}} {
		b := make([]byte, c.len)
		n, err := l.ReadAt(b, c.off)
		if string(b[:n]) != c.want || err != c.err {
			t.Errorf("read %d at %d: %q, %v; want %q, %v", c.len, c.off, b[:n], err, c.want, c.err)
		}
	}
	if _, err := l.ReadAt(make([]byte, 1), -1); err == nil || err == io.EOF {
		t.Errorf("a negative offset gave %v", err)
	}
}

func TestClosedLogRejectsCallsAndClosesOnce(t *testing.T) {
	l := mustOpen(t, logtest.LogPath(t), Options{}, sparse.System())
	write(t, l, []byte("x"))
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Space(1); !errors.Is(err, os.ErrClosed) {
		t.Errorf("space of a closed log: %v", err)
	}
	if _, err := l.ReadAt(make([]byte, 1), 0); !errors.Is(err, os.ErrClosed) {
		t.Errorf("read of a closed log: %v", err)
	}
}

func TestOpenRejectsIrregularFiles(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, fifo, filepath.Join(dir, "none", "process.log"), os.DevNull} {
		if l, err := Open(path, Options{}); err == nil {
			l.Close()
			t.Errorf("%s was opened as a log", path)
		}
	}
}

// A log behaves like the bytes appended to it, whatever the sizes of spaces and commits, and
// however often it is closed or crashes in between.
func TestLogHoldsAppendedBytes(t *testing.T) {
	dir, logs := t.TempDir(), 0
	seed.Check(t, func(t *rapid.T) {
		logs++
		path := filepath.Join(dir, fmt.Sprint(logs))
		d := rapid.SampledFrom([]sparse.Disk{sparse.System(), logtest.NoMapping{Disk: sparse.System()}}).Draw(t, "disk")
		o := Options{Limit: rapid.SampledFrom([]int64{0, 1, 100_000}).Draw(t, "limit")}
		open := func() *Log {
			l, err := open(path, o, d)
			if err != nil {
				t.Fatal(err)
			}
			return l
		}
		l := open()
		defer func() { l.Close() }()
		var want []byte
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				s, err := l.Space(rapid.IntRange(0, MaxSpace).Draw(t, "min"))
				if err != nil {
					t.Fatal(err)
				}
				n := rapid.IntRange(0, min(len(s), MaxSpace)).Draw(t, "n")
				for i := range s[:n] {
					s[i] = byte('a' + (len(want)+i)%23)
				}
				want = append(want, s[:n]...)
				l.Commit(n)
			},
			"reopen": func(t *rapid.T) {
				if err := l.Close(); err != nil {
					t.Fatal(err)
				}
				l = open()
			},
			"": func(t *rapid.T) {
				if l.End() != int64(len(want)) {
					t.Fatalf("end is %d, want %d", l.End(), len(want))
				}
				got, err := io.ReadAll(io.NewSectionReader(l, l.Start(), l.End()-l.Start()))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want[l.Start():]) {
					t.Fatal(cmp.Diff(string(want[l.Start():]), string(got)))
				}
			},
		})
	})
}

func TestFinishedLogHasNoTailAndCanContinue(t *testing.T) {
	onEveryDisk(t, func(t *testing.T, d sparse.Disk) {
		path := logtest.LogPath(t)
		l := mustOpen(t, path, Options{}, d)
		for _, part := range []string{"one\n", "two\n"} {
			write(t, l, []byte(part))
			if err := l.Finish(); err != nil {
				t.Fatal(err)
			}
			held, err := os.ReadFile(path)
			if err != nil || string(held) != string(contents(t, l)) {
				t.Errorf("the file holds %q, the log %q, %v", held, contents(t, l), err)
			}
		}
		if got := string(contents(t, l)); got != "one\ntwo\n" {
			t.Errorf("%q", got)
		}
	})
}

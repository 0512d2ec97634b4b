package linelog

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"tandem/persist/logtest"
	"tandem/persist/ptylog"
	"tandem/persist/sparse"
	"tandem/tests/needs"
)

func mustOpenFile(t testing.TB, path string, o Options, d sparse.Disk) *File {
	t.Helper()
	l, err := open(path, o, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// appendTo appends to the file at path, as a process does through its standard output.
func appendTo(t testing.TB, path string, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTrimKeepsOffsetsAndWholeLines(t *testing.T) {
	const limit = 256 << 10
	path := logtest.LogPath(t)
	appendTo(t, path, nil)
	l := mustOpenFile(t, path, Options{Limit: limit}, sparse.System())
	reader := mustOpenFile(t, path, Options{}, sparse.System())
	all := make([]byte, 4<<20)
	for i := 0; i < len(all); {
		i += copy(all[i:], "line "+strconv.Itoa(i)+"\n")
	}
	for i := 0; i < len(all); i += 10_000 {
		appendTo(t, path, all[i:min(i+10_000, len(all))])
		if err := l.Trim(); err != nil {
			t.Fatal(err)
		}
		start, end := reader.Start(), reader.End()
		if start > 0 && (end-start < limit-1000 || all[start-1] != '\n') {
			t.Fatalf("the log is from %d to %d, behind %q", start, end, all[start-1])
		}
	}
	start := reader.Start()
	if start == 0 || start != l.Start() || !l.Bounded() {
		t.Fatalf("starts at %d and %d, bounded %v", start, l.Start(), l.Bounded())
	}
	got, err := io.ReadAll(io.NewSectionReader(reader, start, reader.End()-start))
	if err != nil || !bytes.Equal(got, all[start:]) {
		t.Fatalf("what is kept is not the tail of what was written (%v)", err)
	}
	if n, err := reader.ReadAt(make([]byte, 10), 100); n != 0 || !errors.Is(err, sparse.ErrDropped) {
		t.Fatalf("read in the hole: %d, %v", n, err)
	}
	if got := logtest.Blocks(t, path); got > limit+sparse.Excess(limit)+64<<10 {
		t.Fatalf("%d bytes of disk are used", got)
	}
}

func TestTrimReportsUnboundedIfHolesAreNotSupported(t *testing.T) {
	path := logtest.LogPath(t)
	appendTo(t, path, logtest.Text(1<<20))
	l := mustOpenFile(t, path, Options{Limit: 64 << 10}, logtest.NoMapping{Disk: sparse.System()})
	if !l.Bounded() {
		t.Fatal("unbounded before it was tried")
	}
	for range 2 {
		if err := l.Trim(); err != nil {
			t.Fatal(err)
		}
	}
	if l.Bounded() || l.Start() != 0 || l.End() != 1<<20 {
		t.Fatalf("bounded %v, from %d to %d", l.Bounded(), l.Start(), l.End())
	}
}

// blindDisk is a disk that can free the start of a file, but cannot distinguish holes from NULs.
type blindDisk struct{ sparse.Disk }

func (blindDisk) NextData(_ *os.File, off int64) (int64, error) { return off, nil }

func TestTrimFreesOnlyOnceIfHolesCannotBeDetected(t *testing.T) {
	path := logtest.LogPath(t)
	appendTo(t, path, logtest.Text(1<<20))
	l := mustOpenFile(t, path, Options{Limit: 64 << 10}, blindDisk{sparse.System()})
	if err := l.Trim(); err != nil || l.Bounded() {
		t.Fatalf("bounded %v, %v", l.Bounded(), err)
	}
}

func TestFileEndsAtCommittedOffset(t *testing.T) {
	path := logtest.LogPath(t)
	l, err := ptylog.Open(path, ptylog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	space, err := l.Space(5)
	if err != nil {
		t.Fatal(err)
	}
	l.Commit(copy(space, "seen\n"))
	r := mustOpenFile(t, path, Options{End: l.End}, sparse.System())
	got := make([]byte, 100)
	if n, err := r.ReadAt(got, 0); err != io.EOF || string(got[:n]) != "seen\n" || r.End() != 5 {
		t.Fatalf("read %q, %v; the end is %d", got[:n], err, r.End())
	}
}

func TestOpenRejectsIrregularFiles(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, fifo, os.DevNull, filepath.Join(dir, "none")} {
		if l, err := Open(path, Options{}); err == nil {
			l.Close()
			t.Errorf("%s was opened as a log", path)
		}
	}
	if _, err := Open(filepath.Join(dir, "none"), Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestTruncatedFileEndsThere(t *testing.T) {
	path := logtest.LogPath(t)
	appendTo(t, path, []byte("one\ntwo\n"))
	l := mustOpenFile(t, path, Options{Limit: 1}, sparse.System())
	if err := os.Truncate(path, 4); err != nil {
		t.Fatal(err)
	}
	if n, err := l.ReadAt(make([]byte, 4), 4); n != 0 || err != io.EOF || l.End() != 4 {
		t.Fatalf("%d, %v, end %d", n, err, l.End())
	}
}

// A child writes at full speed while one File follows the log and another trims it. The follower
// gets every line, and the lines kept at the end are whole.
func TestTrimUnderLoadLosesNoLine(t *testing.T) {
	needs.FullRun(t)
	const limit, total = 8 << 20, 300 << 20
	path := logtest.LogPath(t)
	appendTo(t, path, nil)
	at, done := int64(0), false
	// The trimmer sees only the part already followed, so the follower keeps up.
	l := mustOpenFile(t, path, Options{Limit: limit, End: func() int64 { return at }}, sparse.System())
	r := mustOpenFile(t, path, Options{}, sparse.System())
	c := logtest.Start(t, roleAppender, logtest.PathVar+"="+path, logtest.LimitVar+"="+strconv.Itoa(total))
	ended := make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, c.Out)
		ended <- errors.Join(err, c.Cmd.Wait())
	}()
	want := make([]byte, 1<<20)
	got := make([]byte, 1<<20)
	for !done || at < r.End() {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			done = true
		default:
		}
		n, err := r.ReadAt(got, at)
		if errors.Is(err, sparse.ErrDropped) {
			t.Fatalf("the follower fell behind at %d, the log starts at %d", at, r.Start())
		}
		if err != nil && err != io.EOF {
			t.Fatal(err)
		}
		logtest.FillLines(want[:n], at)
		if !bytes.Equal(got[:n], want[:n]) {
			t.Fatalf("lost or changed bytes at %d", at)
		}
		at += int64(n)
		if err := l.Trim(); err != nil {
			t.Fatal(err)
		}
	}
	if at != total || r.Start() < total-2*limit {
		t.Fatalf("%d bytes of %d, starts at %d", at, total, r.Start())
	}
	checkLines(t, r)
	if got := logtest.Blocks(t, path); got > limit+sparse.Excess(limit)+1<<20 {
		t.Fatalf("%d bytes of disk are used", got)
	}
}

// checkLines reads everything kept of a log of numbered lines.
func checkLines(t *testing.T, r *File) {
	t.Helper()
	s, err := newPlain("")
	if err != nil {
		t.Fatal(err)
	}
	at := r.Start()
	if at%logtest.LineLen != 0 {
		t.Errorf("the log starts at %d, within a line", at)
	}
	_, err = Forward(context.Background(), r, s, at, r.End(), func(l Line) bool {
		if l.Offset != at || strings.TrimLeft(string(l.Text), "0") != strings.TrimLeft(strconv.FormatInt(at/logtest.LineLen, 10), "0") {
			t.Errorf("at %d is %q", at, l.Text)
		}
		at += logtest.LineLen
		return !t.Failed()
	})
	if err != nil || at != r.End() {
		t.Errorf("read up to %d of %d: %v", at, r.End(), err)
	}
}

// A search or a page returns the bytes written there, even while another File frees the start of
// the log.
func TestReadersOfTrimmedFileNeverSeeTheHole(t *testing.T) {
	needs.FullRun(t)
	const limit, total = 1 << 20, 100 << 20
	path := logtest.LogPath(t)
	appendTo(t, path, nil)
	l := mustOpenFile(t, path, Options{Limit: limit}, sparse.System())
	c := logtest.Start(t, roleAppender, logtest.PathVar+"="+path, logtest.LimitVar+"="+strconv.Itoa(total))
	ended := make(chan struct{})
	var readers sync.WaitGroup
	for _, backward := range []bool{false, true} {
		r := mustOpenFile(t, path, Options{}, sparse.System())
		readers.Go(func() {
			for done := false; !done && !t.Failed(); {
				select {
				case <-ended:
					done = true
				default:
				}
				searchLines(t, r, backward)
			}
		})
	}
	readers.Go(func() {
		for l.End() < total && !t.Failed() {
			if err := l.Trim(); err != nil {
				t.Error(err)
			}
		}
	})
	_, err := io.Copy(io.Discard, c.Out)
	if err := errors.Join(err, c.Cmd.Wait()); err != nil {
		t.Error(err)
	}
	close(ended)
	readers.Wait()
}

// searchLines searches for all lines in a log of numbered lines.
func searchLines(t *testing.T, r *File, backward bool) {
	s, err := newPlain("0$")
	if err != nil {
		t.Error(err)
		return
	}
	find := Forward
	if backward {
		find = Backward
	}
	want := make([]byte, logtest.LineLen)
	_, err = find(context.Background(), r, s, r.Start(), r.End(), func(l Line) bool {
		logtest.FillLines(want, l.Offset)
		if !bytes.HasPrefix(want, l.Text) || l.Whole && len(l.Text) != int(logtest.LineLen-1-l.Offset%logtest.LineLen) {
			t.Errorf("at %d is %q", l.Offset, l.Text)
		}
		return !t.Failed()
	})
	if err != nil {
		t.Error(err)
	}
}

package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/persist/sparse"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// A logRig is the log of a process that only the test writes.
type logRig struct {
	*testing.T
	logs   *Logs
	source Source
	state  atomic.Value // api.State
	file   *os.File
}

func newLogRig(t *testing.T) *logRig {
	t.Helper()
	r := &logRig{T: t, logs: New(slog.New(slog.DiscardHandler))}
	t.Cleanup(r.logs.Close)
	path := filepath.Join(t.TempDir(), "process.log")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	r.file = f
	r.state.Store(api.StateRunning)
	r.source = Source{Name: "p", Path: path, State: func() api.State { return r.state.Load().(api.State) }}
	return r
}

func (r *logRig) write(format string, args ...any) {
	if _, err := fmt.Fprintf(r.file, format, args...); err != nil {
		r.Error(err)
	}
}

func (r *logRig) read(in api.ProcessLogInput) api.ProcessLogOutput {
	r.Helper()
	out, err := r.logs.Read(r.Context(), in, r.source)
	if err != nil {
		r.Fatalf("read %+v: %v", in, err)
	}
	return out
}

func TestReadStartsWhereRequested(t *testing.T) {
	r := newLogRig(t)
	r.write("one\ntwo\nthree\nfo")
	at := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		in          api.ProcessLogInput
		start, next int64
		data        string
	}{
		{api.ProcessLogInput{}, 0, 16, "one\ntwo\nthree\nfo"},
		{api.ProcessLogInput{Max: 5}, 0, 5, "one\nt"},
		{api.ProcessLogInput{Since: at(4), Max: 4}, 4, 8, "two\n"},
		{api.ProcessLogInput{Since: at(-3)}, 13, 16, "\nfo"},
		{api.ProcessLogInput{Since: at(-300)}, 0, 16, "one\ntwo\nthree\nfo"},
		{api.ProcessLogInput{Since: at(99)}, 16, 16, ""},
		{api.ProcessLogInput{FromLine: at(2)}, 8, 16, "three\nfo"},
		{api.ProcessLogInput{FromLine: at(-1)}, 14, 16, "fo"},
		{api.ProcessLogInput{FromLine: at(9)}, 16, 16, ""},
		{api.ProcessLogInput{Tail: 2}, 8, 16, "three\nfo"},
		{api.ProcessLogInput{Tail: 200}, 0, 16, "one\ntwo\nthree\nfo"},
	} {
		want := api.ProcessLogOutput{Data: c.data, Start: c.start, NextCursor: c.next, End: 16, State: api.StateRunning}
		if diff := cmp.Diff(want, r.read(c.in)); diff != "" {
			t.Errorf("%+v: %s", c.in, diff)
		}
	}
}

func TestGrepSearchesForwardAndBackward(t *testing.T) {
	r := newLogRig(t)
	r.write("a1\r\nb\na2\nc\na3\nd\na4")
	at := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		in   api.ProcessLogInput
		next int64
		want []api.LogMatch
	}{
		{api.ProcessLogInput{Grep: "^a[12]$"}, 16, []api.LogMatch{{Offset: 0, Text: "a1"}, {Offset: 6, Text: "a2"}}},
		{api.ProcessLogInput{Grep: "a", Limit: 2}, 9, []api.LogMatch{{Offset: 0, Text: "a1"}, {Offset: 6, Text: "a2"}}},
		{api.ProcessLogInput{Grep: "a", Since: at(9), Limit: 1}, 14, []api.LogMatch{{Offset: 11, Text: "a3"}}},
		{api.ProcessLogInput{Grep: "a", Since: at(14)}, 18, []api.LogMatch{{Offset: 16, Text: "a4"}}},
		{api.ProcessLogInput{Grep: "x"}, 16, nil},
		{api.ProcessLogInput{Grep: "a", Backward: true, Limit: 2}, 11, []api.LogMatch{{Offset: 16, Text: "a4"}, {Offset: 11, Text: "a3"}}},
		{api.ProcessLogInput{Grep: "a", Backward: true, Since: at(11)}, 0, []api.LogMatch{{Offset: 6, Text: "a2"}, {Offset: 0, Text: "a1"}}},
		{api.ProcessLogInput{Grep: "[ac]", Backward: true, Tail: 3}, 11, []api.LogMatch{{Offset: 16, Text: "a4"}, {Offset: 11, Text: "a3"}}},
		{api.ProcessLogInput{Grep: "2", Context: 1}, 16, []api.LogMatch{{Offset: 6, Text: "a2", Before: []string{"b"}, After: []string{"c"}}}},
		{api.ProcessLogInput{Grep: "2", Context: 9}, 16, []api.LogMatch{
			{Offset: 6, Text: "a2", Before: []string{"a1", "b"}, After: []string{"c", "a3", "d", "a4"}},
		}},
		{api.ProcessLogInput{Grep: "a", Max: 1}, 4, []api.LogMatch{{Offset: 0, Text: "a [1 byte left out]", CutAfter: 1}}},
	} {
		out := r.read(c.in)
		if diff := cmp.Diff(c.want, out.Matches); diff != "" || out.NextCursor != c.next || out.End != 18 {
			t.Errorf("%+v: next %d, end %d, %s", c.in, out.NextCursor, out.End, diff)
		}
	}
}

func TestGrepSearchesTextAsDisplayed(t *testing.T) {
	r := newLogRig(t)
	r.write("%s", "\x1b[31mERR\x1b[0mOR split\nplain\n\x1b[32m2026-01-01\x1b[0m start\r\n1%\r50%\rdone\x1b[K\nlast\n")
	const second, third = 27, 54 // offsets of the coloured and the redrawn line
	for _, c := range []struct {
		expr string
		at   []int64
	}{
		{"ERROR", []int64{0}}, {"31m", nil}, {"^2026-01-01 start$", []int64{second}}, {"^done$", []int64{third}}, {"%", nil},
		{`^\w+( |$)`, []int64{0, 21, third, third + 15}}, {"^", []int64{0, 21, second, third, third + 15}},
	} {
		for _, backward := range []bool{false, true} {
			var at []int64
			for _, m := range r.read(api.ProcessLogInput{Grep: c.expr, Backward: backward}).Matches {
				at = append(at, m.Offset)
			}
			if backward {
				slices.Reverse(at)
			}
			if !slices.Equal(at, c.at) {
				t.Errorf("%s, backward %v: %v, want %v", c.expr, backward, at, c.at)
			}
		}
	}
	line, at, err := r.logs.WaitLine(t.Context(), r.source, mustSearch(t, "^ERROR"), r.source.Places(0, 0))
	if line != "ERROR split" || at.at != 0 || err != nil {
		t.Errorf("%q at %v, %v", line, at, err)
	}
}

func TestReadReportsStartWithinLine(t *testing.T) {
	r := newLogRig(t)
	r.write("%s\nlast\n", strings.Repeat("x", 1_100_000))
	for tail, within := range map[int]bool{1: false, 2: true, 3: false} {
		if out := r.read(api.ProcessLogInput{Tail: tail}); out.WithinLine != within {
			t.Errorf("the last %d lines: within a line %v, want %v", tail, out.WithinLine, within)
		}
	}
}

func TestLongLineIsCutAroundItsMatch(t *testing.T) {
	r := newLogRig(t)
	long := strings.Repeat("x", 20000)
	r.write("%s", long+" boom "+long+"\n\x1b[1m"+long+"boom\x1b[m\nboom"+long+"\nafter\n")
	matches := r.read(api.ProcessLogInput{Grep: "boom", Context: 1, Max: MaxRead}).Matches
	if len(matches) != 3 {
		t.Fatalf("%d matches", len(matches))
	}
	for i, cut := range []struct{ before, after bool }{{true, true}, {true, false}, {false, true}} {
		m := matches[i]
		if !strings.Contains(m.Text, "boom") || len(m.Text) > maxLine+60 || strings.Contains(m.Text, "\x1b") ||
			strings.HasPrefix(m.Text, fmt.Sprintf("[%d bytes left out] ", m.CutBefore)) != cut.before ||
			strings.HasSuffix(m.Text, fmt.Sprintf(" [%d bytes left out]", m.CutAfter)) != cut.after {
			t.Errorf("%d: %d bytes, cut %d and %d: %.60s … %s", i, len(m.Text), m.CutBefore, m.CutAfter, m.Text, m.Text[len(m.Text)-60:])
		}
	}
	if before := matches[2].Before[0]; !strings.HasSuffix(before, " bytes left out]") {
		t.Errorf("the line before is cut silently: %s", before[len(before)-60:])
	}
}

func TestReadRejectsInvalidRequests(t *testing.T) {
	r := newLogRig(t)
	zero := int64(0)
	for _, in := range []api.ProcessLogInput{
		{Grep: "("}, {Tail: -1}, {Max: -1}, {Since: &zero, Tail: 1}, {Since: &zero, FromLine: &zero}, {Backward: true},
		{Stream: "stdin"}, {Stream: "stderr"}, {Limit: -1}, {Context: -1}, {WaitMS: -1},
	} {
		if _, err := r.logs.Read(t.Context(), in, r.source); !errors.Is(err, api.CodeInvalid) {
			t.Errorf("%+v: %v", in, err)
		}
	}
}

func TestReadSelectsStreamOfSplitLog(t *testing.T) {
	r := newLogRig(t)
	r.write("out\n")
	r.source.ErrPath = r.source.Path + ".err"
	if err := os.WriteFile(r.source.ErrPath, []byte("err\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for stream, want := range map[string]string{"": "out\n", "stdout": "out\n", "stderr": "err\n"} {
		if out := r.read(api.ProcessLogInput{Stream: stream}); out.Data != want {
			t.Errorf("stream %q is %q", stream, out.Data)
		}
	}
	if got := r.logs.LastLines(r.source, 3); !cmp.Equal(got, []string{"err"}) {
		t.Errorf("last lines %q", got)
	}
}

func TestMissingLogIsEmpty(t *testing.T) {
	r := newLogRig(t)
	r.source.Path += ".none"
	r.state.Store(api.StateStarting)
	want := api.ProcessLogOutput{State: api.StateStarting}
	for _, in := range []api.ProcessLogInput{{}, {Grep: "x"}, {Tail: 3}, {WaitMS: 1}} {
		if diff := cmp.Diff(want, r.read(in)); diff != "" {
			t.Errorf("%+v: %s", in, diff)
		}
	}
	if got := r.logs.LastLines(r.source, 3); got != nil {
		t.Errorf("last lines %q", got)
	}
}

func TestReadKeepsCharactersWholeAndReplacesInvalidBytes(t *testing.T) {
	r := newLogRig(t)
	r.write("ä\xff\xe2\x82")
	out := r.read(api.ProcessLogInput{})
	if out.Data != "ä\uFFFD" || out.NextCursor != 3 {
		t.Errorf("%q up to %d", out.Data, out.NextCursor)
	}
	r.write("\xac")
	if out := r.read(api.ProcessLogInput{Since: &out.NextCursor}); out.Data != "€" {
		t.Errorf("%q", out.Data)
	}
	r.write("\xe2")
	r.state.Store(api.StateExited)
	if out := r.read(api.ProcessLogInput{}); out.Data != "ä\uFFFD€\uFFFD" || out.NextCursor != out.End {
		t.Errorf("%q up to %d of %d", out.Data, out.NextCursor, out.End)
	}
}

// afterFollow runs f in the background once the log has a follower. A follower asks for the
// process's state after that.
func (r *logRig) afterFollow(f func()) {
	var once sync.Once
	var run sync.WaitGroup
	r.Cleanup(run.Wait)
	r.source.State = func() api.State {
		once.Do(func() { run.Go(f) })
		return r.state.Load().(api.State)
	}
}

func TestReaderIsWokenWhenLogGrows(t *testing.T) {
	for _, growths := range []func() growth{newGrowth, newPollOnly} {
		r := newLogRig(t)
		r.logs.growths = growths
		r.afterFollow(func() { r.write("news\n") })
		if out := r.read(api.ProcessLogInput{WaitMS: 50_000}); out.Data != "news\n" {
			t.Errorf("%+v", out)
		}
	}
}

func TestReadReportsDeletedLogOfRunningProcess(t *testing.T) {
	r := newLogRig(t)
	if err := os.Remove(r.source.Path); err != nil {
		t.Fatal(err)
	}
	for _, in := range []api.ProcessLogInput{{}, {Grep: "x"}, {Tail: 3}, {WaitMS: 50_000}} {
		_, err := r.logs.Read(t.Context(), in, r.source)
		if !errors.Is(err, api.CodeNotFound) || !strings.Contains(err.Error(), r.source.Path+" was deleted") {
			t.Errorf("%+v: %v", in, err)
		}
	}
}

func TestReaderIsWokenWhenLogAppears(t *testing.T) {
	r := newLogRig(t)
	path := r.source.Path + ".later"
	r.source.Path = path
	r.state.Store(api.StateStarting)
	r.afterFollow(func() {
		if err := os.WriteFile(path, []byte("news\n"), 0o600); err != nil {
			t.Error(err)
		}
	})
	if out := r.read(api.ProcessLogInput{WaitMS: 50_000}); out.Data != "news\n" {
		t.Errorf("%+v", out)
	}
}

func TestReaderOfTerminalIsWoken(t *testing.T) {
	r := newLogRig(t)
	var end atomic.Int64
	r.source.End = end.Load
	r.write("$ ls\x00\x00\x00")
	r.afterFollow(func() { end.Store(4) })
	if out := r.read(api.ProcessLogInput{WaitMS: 50_000}); out.Data != "$ ls" || out.End != 4 {
		t.Errorf("%+v", out)
	}
}

func TestWaitForMatchesReturnsWholeLines(t *testing.T) {
	r := newLogRig(t)
	r.write("match: no")
	r.afterFollow(func() {
		r.write("t yet")
		r.write(" finished\n")
	})
	out := r.read(api.ProcessLogInput{Grep: "match", WaitMS: 50_000})
	want := []api.LogMatch{{Offset: 0, Text: "match: not yet finished"}}
	if diff := cmp.Diff(want, out.Matches); diff != "" || out.NextCursor != out.End {
		t.Errorf("%d of %d: %s", out.NextCursor, out.End, diff)
	}
}

func TestWaitForEndedProcessReturns(t *testing.T) {
	r := newLogRig(t)
	r.afterFollow(func() { r.state.Store(api.StateExited) })
	if out := r.read(api.ProcessLogInput{WaitMS: 50_000}); out.State != api.StateExited {
		t.Errorf("%+v", out)
	}
}

func mustSearch(t *testing.T, expr string) *Pattern {
	t.Helper()
	s, err := CompilePattern("x", expr)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWaitLineReturnsMatchingLine(t *testing.T) {
	r := newLogRig(t)
	r.logs.settles = time.Hour // the second write may be late
	r.write("listening on nothing\n")
	r.afterFollow(func() { r.write("listening on 80"); r.write("80\r\nmore\n") })
	line, at, err := r.logs.WaitLine(t.Context(), r.source, mustSearch(t, "on [0-9]+"), r.source.Places(3, 0))
	if line != "listening on 8080" || at.at != 21 || err != nil {
		t.Errorf("%q at %v, %v", line, at, err)
	}
}

func TestWaitLineAcceptsSettledPrompt(t *testing.T) {
	r := newLogRig(t)
	r.afterFollow(func() { r.write("password: ") })
	line, at, err := r.logs.WaitLine(t.Context(), r.source, mustSearch(t, "word"), r.source.Places(0, 0))
	if line != "password: " || at.at != 0 || err != nil {
		t.Errorf("%q at %v, %v", line, at, err)
	}
}

func TestWaitLineOfEndedProcessReturnsErrOver(t *testing.T) {
	r := newLogRig(t)
	r.afterFollow(func() { r.state.Store(api.StateFailed) })
	if _, _, err := r.logs.WaitLine(t.Context(), r.source, mustSearch(t, "x"), r.source.Places(0, 0)); !errors.Is(err, ErrOver) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r.state.Store(api.StateRunning)
	r.afterFollow(cancel)
	if _, _, err := r.logs.WaitLine(ctx, r.source, mustSearch(t, "x"), r.source.Places(0, 0)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestWaitIdleCountsFromLastWrite(t *testing.T) {
	r := newLogRig(t)
	r.write("x")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(r.source.Path, old, old); err != nil {
		t.Fatal(err)
	}
	if err := r.logs.WaitIdle(t.Context(), r.source, time.Minute); err != nil {
		t.Error(err)
	}
	r.source.Started = time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.logs.WaitIdle(ctx, r.source, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("a process that has just started is idle: %v", err)
	}
}

func TestLastLinesReturnsTheEnd(t *testing.T) {
	r := newLogRig(t)
	for i := range 100 {
		r.write("line %d\n", i)
	}
	r.write("%s\xff", strings.Repeat("x", 10_000))
	got := r.logs.LastLines(r.source, 3)
	want := []string{"line 98", "line 99", strings.Repeat("x", 4<<10) + " [5905 bytes left out]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBoundTrimsLogWhileProcessRuns(t *testing.T) {
	t.Run("watched", func(t *testing.T) { testBounded(t, newGrowth) })
	t.Run("polled", func(t *testing.T) { testBounded(t, newPollOnly) })
}

func testBounded(t *testing.T, growths func() growth) {
	const limit, total = 1 << 20, 64 << 20
	r := newLogRig(t)
	r.logs.linger, r.logs.growths = 0, growths
	stop := r.logs.Bound(r.source.Path, limit, func(text string) { t.Error(text) })
	line := bytes.Repeat([]byte("0123456789abcde\n"), 4096)
	for n := 0; n < total; n += len(line) {
		if _, err := r.file.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	r.logs.run.Wait() // for the last look
	out := r.read(api.ProcessLogInput{Tail: 1})
	if kept := out.End - out.Dropped; out.End != total || kept > limit+sparse.Excess(limit) || kept < limit-16 {
		t.Errorf("%d bytes of %d are kept", kept, out.End)
	}
	var st syscall.Stat_t
	if err := syscall.Stat(r.source.Path, &st); err != nil || st.Blocks*512 > limit+sparse.Excess(limit)+64<<10 {
		t.Errorf("%d bytes of disk, %v", st.Blocks*512, err)
	}
}

func TestLogInPlaceOfDeletedOneIsFollowedAndBounded(t *testing.T) {
	t.Run("watched", func(t *testing.T) { testReplaced(t, newGrowth) })
	t.Run("polled", func(t *testing.T) { testReplaced(t, newPollOnly) })
}

func testReplaced(t *testing.T, growths func() growth) {
	const limit = 1 << 20
	r := newLogRig(t)
	r.logs.growths = growths
	stop := r.logs.Bound(r.source.Path, limit, func(text string) { t.Error(text) })
	grew, leave := r.logs.follow(r.source.Path, nil)
	defer leave()
	flood := bytes.Repeat([]byte("0123456789abcde\n"), 4096*64)
	for round := range 3 { // the last file is watched as the first one is
		r.write("%s\n", strings.Repeat("x", round)) // files of different sizes
		for kept := limit + sparse.Excess(limit) + 1; kept > limit+sparse.Excess(limit); {
			if _, err := r.file.Write(flood); err != nil {
				t.Fatal(err)
			}
			wait.Receive(t, "growth of the log", grew)
			out := r.read(api.ProcessLogInput{Tail: 1})
			kept = out.End - out.Dropped
		}
		// The process keeps the deleted file open until it is started again.
		if err := os.Remove(r.source.Path); err != nil {
			t.Fatal(err)
		}
		former := r.file
		var err error
		if r.file, err = os.OpenFile(r.source.Path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
			t.Fatal(err)
		}
		former.Close()
	}
	stop()
	r.file.Close()
}

// A stuck growth cannot watch a file before it is released.
type stuck struct {
	deaf
	released chan struct{}
}

func (s stuck) add(path string) (int, error) {
	<-s.released
	return s.deaf.add(path)
}

func TestBoundDoesNotWaitForFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(slog.New(slog.DiscardHandler))
		g := stuck{deaf{make(chan struct{}, 1)}, make(chan struct{})}
		s.growths = func() growth { return g }
		path := filepath.Join(t.TempDir(), "process.log")
		if err := os.WriteFile(path, []byte("line\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		stop := s.Bound(path, 1, func(string) {}) // else the test is deadlocked here
		synctest.Wait()
		s.Began(path, 0)
		stop()
		close(g.released)
		synctest.Wait()
		s.Close()
	})
}

// follow returns a channel that is signalled whenever the log at path has grown.
func (s *Logs) follow(path string, end func() int64) (grew <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	return c, s.addFollower(c, path, end)
}

func TestLogsReleasesFilesWithoutFollowers(t *testing.T) {
	r := newLogRig(t)
	r.logs.linger = time.Microsecond
	for range 100 {
		grew, stop := r.logs.follow(r.source.Path, nil)
		r.write("x")
		select {
		case <-grew:
		case <-t.Context().Done():
			t.Fatal("the follower was not told")
		}
		stop()
	}
	r.logs.Close()
	_, stop := r.logs.follow(r.source.Path, nil)
	stop()
}

func TestReadRestartsAfterTrimPastItsEnd(t *testing.T) {
	const limit = 1 << 20
	r := newLogRig(t)
	line := bytes.Repeat([]byte("0123456789abcde\n"), limit/16)
	r.write("%s", line)
	var once sync.Once
	size := func() int64 { return FileSize(r.source.Path) }
	r.source.End = func() int64 {
		end := size()
		once.Do(func() {
			for range 16 {
				r.write("%s", line)
			}
			if _, _, err := trimFile(r.source.Path, limit); err != nil {
				t.Error(err)
			}
		})
		return end
	}
	out := r.read(api.ProcessLogInput{Since: new(int64), Max: 16})
	if out.Dropped == 0 || out.Start != out.Dropped || out.End != size() || len(out.Data) != 16 {
		t.Errorf("%+v", out)
	}
}

// A deaf growth hears of nothing.
type deaf struct {
	woken chan struct{} // of 1
}

func (d deaf) add(string) (int, error) { return 1, nil }
func (d deaf) remove(int)              {}
func (d deaf) wake()                   { notify(d.woken) }
func (d deaf) close()                  {}
func (d deaf) wait(time.Time) ([]int, []int, bool) {
	<-d.woken
	return nil, nil, false
}

func TestAllFollowersAreNotifiedOfGrowth(t *testing.T) {
	r := newLogRig(t)
	r.logs.growths = func() growth { return deaf{make(chan struct{}, 1)} }
	grew, stop := r.logs.follow(r.source.Path, nil)
	defer stop()
	r.write("news\n")
	_, leave := r.logs.follow(r.source.Path, nil)
	defer leave()
	select {
	case <-grew:
	default:
		t.Error("the first follower was not told")
	}
}

func TestParseEventsToleratesAnyInput(t *testing.T) {
	for n := range 64 {
		parseEvents(bytes.Repeat([]byte{0xff}, n))
	}
}

// BenchmarkReadLogWaiting waits for growth of a log that has grown already.
func BenchmarkReadLogWaiting(b *testing.B) {
	logs := New(slog.New(slog.DiscardHandler))
	defer logs.Close()
	path := filepath.Join(b.TempDir(), "process.log")
	if err := os.WriteFile(path, bytes.Repeat([]byte("0123456789abcde\n"), 4<<10), 0o600); err != nil {
		b.Fatal(err)
	}
	p := Source{Path: path, State: func() api.State { return api.StateRunning }}
	for b.Loop() {
		if _, err := logs.Read(b.Context(), api.ProcessLogInput{WaitMS: 1000}, p); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFollow(b *testing.B) {
	logs := New(slog.New(slog.DiscardHandler))
	defer logs.Close()
	path := filepath.Join(b.TempDir(), "process.log")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	grew, stop := logs.follow(path, nil)
	defer stop()
	for b.Loop() {
		if _, err := f.Write([]byte("x\n")); err != nil {
			b.Fatal(err)
		}
		<-grew
	}
}

// BenchmarkBoundedFlood writes at full speed to a log with a limit of 8 MiB. It reports the maximum
// disk space used.
func BenchmarkBoundedFlood(b *testing.B) {
	const limit = 8 << 20
	for _, limited := range []bool{false, true} {
		b.Run(fmt.Sprint("limited=", limited), func(b *testing.B) {
			logs := New(slog.New(slog.DiscardHandler))
			defer logs.Close()
			path := filepath.Join(b.TempDir(), "process.log")
			f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			if limited {
				defer logs.Bound(path, limit, func(text string) { b.Error(text) })()
			}
			line := bytes.Repeat([]byte("0123456789abcde\n"), 256)
			b.SetBytes(int64(len(line)))
			most := int64(0)
			for n := 0; b.Loop(); n++ {
				if _, err := f.Write(line); err != nil {
					b.Fatal(err)
				}
				var st syscall.Stat_t
				if n%256 == 0 && syscall.Stat(path, &st) == nil {
					most = max(most, st.Blocks*512)
				}
			}
			b.ReportMetric(float64(most)/(1<<20), "MiB-disk")
		})
	}
}

// BenchmarkManyQuietLogs measures a second in which each of 500 processes writes ten lines.
func BenchmarkManyQuietLogs(b *testing.B) {
	logs := New(slog.New(slog.DiscardHandler))
	defer logs.Close()
	dir := b.TempDir()
	files := make([]*os.File, 500)
	for i := range files {
		path := filepath.Join(dir, fmt.Sprint(i))
		f, err := os.Create(path)
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		files[i] = f
		defer logs.Bound(path, 8<<20, func(string) {})()
	}
	var before, after syscall.Rusage
	for b.Loop() {
		syscall.Getrusage(syscall.RUSAGE_SELF, &before)
		for range 10 {
			for _, f := range files {
				if _, err := f.Write([]byte("a line\n")); err != nil {
					b.Fatal(err)
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
		syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	}
	cpu := func(r syscall.Rusage) float64 {
		return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e6
	}
	b.ReportMetric(cpu(after)-cpu(before), "cpu-ms/s")
}

// A follower of a bounded log gets the output in order, and learns how much it has missed.
func TestFollowerOfBoundedFloodLearnsOfEveryLoss(t *testing.T) {
	needs.FullRun(t)
	const limit, lines = 4 << 20, 2 << 20
	r := newLogRig(t)
	stop := r.logs.Bound(r.source.Path, limit, func(text string) { t.Error(text) })
	defer stop()
	var writer sync.WaitGroup
	writer.Go(func() {
		var buf []byte
		for i := range lines {
			buf = fmt.Appendf(buf, "%015d\n", i)
			if len(buf) >= 4000 || i == lines-1 {
				r.write("%s", buf)
				buf = buf[:0]
			}
		}
		r.state.Store(api.StateExited)
	})
	at := int64(0)
	for over := false; !over; {
		out := r.read(api.ProcessLogInput{Since: &at, Max: 1 << 20, WaitMS: 50_000})
		if out.Start != max(at, out.Dropped) {
			t.Fatalf("asked for %d, got %d, %d are dropped", at, out.Start, out.Dropped)
		}
		for i := 0; i < len(out.Data); {
			off := out.Start + int64(i)
			want := fmt.Sprintf("%015d\n", off/16)[off%16:]
			want = want[:min(len(want), len(out.Data)-i)]
			if out.Data[i:i+len(want)] != want {
				t.Fatalf("at %d is %q, want %q", off, out.Data[i:i+len(want)], want)
			}
			i += len(want)
		}
		at = out.NextCursor
		over = out.State.Ended() && at == out.End
	}
	writer.Wait()
	if at != lines*16 {
		t.Errorf("the log ended at %d", at)
	}
}

func TestExactReadReturnsInvalidUTF8InBase64(t *testing.T) {
	r := newLogRig(t)
	r.write("a\xff\x00\n")
	if out := r.read(api.ProcessLogInput{}); out.Data != "a\uFFFD\x00\n" || out.DataBytes != "" {
		t.Errorf("%+v", out)
	}
	out := r.read(api.ProcessLogInput{Exact: true, WaitMS: 1})
	if got, err := out.Bytes(); string(got) != "a\xff\x00\n" || out.Data != "" || err != nil {
		t.Errorf("%+v, %v", out, err)
	}
	r.write("ä")
	since := out.NextCursor
	if out := r.read(api.ProcessLogInput{Exact: true, Since: &since}); out.Data != "ä" || out.DataBytes != "" {
		t.Errorf("%+v", out)
	}
}

func TestWaitLineSearchesBothStreams(t *testing.T) {
	r := newLogRig(t)
	r.source.ErrPath = filepath.Join(t.TempDir(), "stderr.log")
	r.state.Store(api.StateStarting)
	r.write("ready\n")
	r.afterFollow(func() {
		if err := os.WriteFile(r.source.ErrPath, []byte("not yet\nready\n"), 0o600); err != nil {
			t.Error(err)
		}
	})
	line, at, err := r.logs.WaitLine(t.Context(), r.source, mustSearch(t, "ready"), r.source.Places(6, 3))
	if line != "ready" || at != (Place{r.source.ErrPath, 8}) || err != nil {
		t.Errorf("%q at %v, %v", line, at, err)
	}
}

func TestTailOfTrimmedLogContainsNoHole(t *testing.T) {
	r := newLogRig(t)
	for i := range 40_000 {
		r.write("line %08d\n", i)
	}
	if _, _, err := trimFile(r.source.Path, 64<<10); err != nil {
		t.Fatal(err)
	}
	end, dropped, err := Tail(r.source.Path, 16<<20, false)
	if err != nil || dropped == 0 || int(dropped)+len(end) != 40_000*14 || !bytes.HasPrefix(end, []byte("line ")) || bytes.IndexByte(end, 0) >= 0 {
		t.Errorf("%d bytes behind %d that begin with %.20q, %v", len(end), dropped, end, err)
	}
	if lines := r.logs.LastLines(r.source, 100_000); len(lines) != len(end)/14 || lines[0] != string(end[:13]) {
		t.Errorf("%d lines, the first %.20q", len(lines), lines[0])
	}
}

func TestReadWaitsUntilTerminalLogIsOpen(t *testing.T) {
	r := newLogRig(t)
	r.write("text\n")
	opened := make(chan struct{})
	end := int64(0)
	r.source.End, r.source.Opened = func() int64 { return end }, opened
	go func() {
		end = 5
		close(opened)
	}()
	if out := r.read(api.ProcessLogInput{}); out.Data != "text\n" || out.End != 5 {
		t.Errorf("%+v", out)
	}
}

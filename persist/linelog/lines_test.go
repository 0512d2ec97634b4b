package linelog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/persist/sparse"
	"tandem/tests/seed"
)

// memoryLog is a log in memory. Its start was dropped.
type memoryLog struct {
	all   []byte
	start int64
}

func (m *memoryLog) Start() int64 { return m.start }
func (m *memoryLog) End() int64   { return int64(len(m.all)) }

func (m *memoryLog) ReadAt(p []byte, off int64) (int, error) {
	if off < m.start {
		return 0, fmt.Errorf("at %d: %w", off, sparse.ErrDropped)
	}
	if off >= m.End() {
		return 0, io.EOF
	}
	n := copy(p, m.all[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// starts returns the offsets at which lines begin, and the end of the log. It is the simple
// definition of a line.
func (m *memoryLog) starts() []int64 {
	starts := []int64{m.start}
	newlines := 0 // in this block
	for at := m.start; at < m.End(); at++ {
		if at%lineBlock == 0 {
			newlines = 0
		}
		isNewline := m.all[at] == '\n'
		if isNewline {
			newlines++
		}
		full := (at+1)%lineBlock == 0 && at+1-lineBlock >= m.start
		if isNewline || full && newlines == 0 {
			starts = append(starts, at+1)
		}
	}
	if end := m.End(); starts[len(starts)-1] != end {
		starts = append(starts, end)
	}
	return starts
}

// drawLog draws a log made of pieces. Some are as long as blocks.
func drawLog(t *rapid.T) *memoryLog {
	var all []byte
	pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
		"", "\n", "a\n", "error: x\r\n", "no end", "\xff\xfe\x00\n", "warn ERROR\n", "Zeile ä\n", "k", "\r",
		"block", "block-1", "block+1", "half", "halfn", "align",
	}), 0, 14).Draw(t, "pieces")
	for _, p := range pieces {
		switch p {
		case "block":
			all = append(all, bytes.Repeat([]byte{'.'}, lineBlock)...)
		case "block-1":
			all = append(all, bytes.Repeat([]byte{','}, lineBlock-1)...)
		case "block+1":
			all = append(all, bytes.Repeat([]byte{';'}, lineBlock+1)...)
		case "half":
			all = append(all, bytes.Repeat([]byte{'-'}, lineBlock/2)...)
		case "halfn":
			all = append(all, bytes.Repeat([]byte("0123456789abcde\n"), lineBlock/32)...)
		case "align":
			if rest := len(all) % lineBlock; rest != 0 {
				all = append(all, bytes.Repeat([]byte{'='}, lineBlock-rest)...)
			}
		default:
			all = append(all, p...)
		}
	}
	m := &memoryLog{all: all}
	if rapid.Bool().Draw(t, "dropped") {
		m.start = rapid.Int64Range(0, m.End()).Draw(t, "start")
	}
	return m
}

func TestFindLineFindsLinesFromAnyOffset(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		m := drawLog(t)
		starts := m.starts()
		off := rapid.Int64Range(m.start, max(m.start, m.End()-1)).Draw(t, "offset")
		before, after := m.start, m.End()
		for _, s := range starts {
			if s > off {
				after = s
				break
			}
			before = s
		}
		if got, err := LineStart(m, off); err != nil || got != before {
			t.Fatalf("the line at %d begins at %d (%v), want %d", off, got, err, before)
		}
		if got, err := LineEnd(m, off); err != nil || got != after {
			t.Fatalf("the line at %d ends at %d (%v), want %d", off, got, err, after)
		}
		lines := int64(len(starts) - 1)
		n := rapid.Int64Range(-lines-3, lines+3).Draw(t, "line")
		want := m.start
		switch {
		case n >= lines:
			want = m.End()
		case n >= 0:
			want = starts[n]
		case n >= -lines:
			want = starts[lines+n]
		}
		if got, err := FindLine(context.Background(), m, n); err != nil || got != want {
			t.Fatalf("line %d of %d begins at %d (%v), want %d", n, lines, got, err, want)
		}
	})
}

// found is a line that can be kept.
type found struct {
	Offset, Next int64
	Text         string
}

func keep(l Line) found {
	text := string(l.Text)
	if len(text) > 100 {
		text = text[:100] + "..."
	}
	return found{l.Offset, l.Next, text}
}

// model returns the expected result of searching all lines between two offsets, where lines are
// cut.
func (m *memoryLog) model(re *regexp.Regexp, from, to int64) []found {
	var all []found
	from = max(from, m.start)
	starts := m.starts()
	for i, s := range starts[:len(starts)-1] {
		lo, hi := max(s, from), min(starts[i+1], to)
		if lo >= hi {
			continue
		}
		if text := TrimLine(m.all[lo:hi]); re.Match(text) {
			all = append(all, keep(Line{Offset: lo, Next: hi, Text: text}))
		}
	}
	return all
}

var expressions = []string{"error", "(?i)error", "x$", "ä", "a|warn", "", "^$", "no such thing"}

// A plain matcher looks at each line by itself.
type plain struct{ *regexp.Regexp }

func newPlain(expr string) (plain, error) {
	re, err := regexp.Compile(expr)
	return plain{re}, err
}

func (p plain) Each(data []byte, yield func(lo, hi int) bool) {
	lo := 0
	for line := range bytes.Lines(data) {
		if hi := lo + len(bytes.TrimSuffix(line, []byte{'\n'})); p.Match(TrimLine(line)) && !yield(lo, hi) {
			return
		}
		lo += len(line)
	}
}

func TestSearchMatchesLineByLineReference(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		m := drawLog(t)
		expr := rapid.SampledFrom(expressions).Draw(t, "expression")
		s, err := newPlain(expr)
		if err != nil {
			t.Fatal(err)
		}
		starts := m.starts()
		from := rapid.SampledFrom(starts).Draw(t, "from")
		to := rapid.Int64Range(from, m.End()).Draw(t, "to")
		want := m.model(regexp.MustCompile(expr), from, to)
		var got []found
		next, err := Forward(context.Background(), m, s, from, to, func(l Line) bool {
			got = append(got, keep(l))
			return true
		})
		if diff := cmp.Diff(want, got); diff != "" || err != nil || next != to {
			t.Fatalf("forward to %d of %d, %v\n%s", next, to, err, diff)
		}
		var back []found
		next, err = Backward(context.Background(), m, s, from, to, func(l Line) bool {
			back = append(back, keep(l))
			return true
		})
		slices.Reverse(back)
		if diff := cmp.Diff(want, back); diff != "" || err != nil || next != from {
			t.Fatalf("backward to %d of %d, %v\n%s", next, from, err, diff)
		}
		checkStops(t, m, s, from, to, want)
	})
}

// checkStops stops a search after each match and continues from there.
func checkStops(t *rapid.T, m *memoryLog, s Matcher, from, to int64, want []found) {
	want = want[:min(len(want), 5)]
	var got []found
	for range want {
		next, err := Forward(context.Background(), m, s, from, to, func(l Line) bool {
			got = append(got, keep(l))
			return false
		})
		if err != nil {
			t.Fatal(err)
		}
		from = next
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestSearchStopsWhenContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m := &memoryLog{all: []byte("a\n")}
	s, err := newPlain("a")
	if err != nil {
		t.Fatal(err)
	}
	never := func(Line) bool { t.Error("a line was found"); return true }
	if _, err := Forward(ctx, m, s, 0, 2, never); !errors.Is(err, context.Canceled) {
		t.Errorf("forward: %v", err)
	}
	if _, err := Backward(ctx, m, s, 0, 2, never); !errors.Is(err, context.Canceled) {
		t.Errorf("backward: %v", err)
	}
	if _, err := FindLine(ctx, m, -1); !errors.Is(err, context.Canceled) {
		t.Errorf("line: %v", err)
	}
}

func TestUnfinishedLineIsNotReportedAsWhole(t *testing.T) {
	s, err := newPlain("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		log  string
		want []bool
	}{{"a\nb", []bool{true, false}}, {"a\nb\n", []bool{true, true}}, {"a", []bool{false}}} {
		m := &memoryLog{all: []byte(c.log)}
		var forward, backward []bool
		Forward(context.Background(), m, s, 0, m.End(), func(l Line) bool { forward = append(forward, l.Whole); return true })
		Backward(context.Background(), m, s, 0, m.End(), func(l Line) bool {
			backward = append([]bool{l.Whole}, backward...)
			return true
		})
		if diff := cmp.Diff([][]bool{c.want, c.want}, [][]bool{forward, backward}); diff != "" {
			t.Errorf("%q: %s", c.log, diff)
		}
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("err(or)?", []byte("an error\nno\r\nERR"))
	f.Add("(?i)K|ſ", []byte("k\nK\ns\n\xff\n"))
	f.Add("(?i:a)b|c+d{2,}", []byte("Ab\ncdd\n"))
	f.Fuzz(func(t *testing.T, expr string, content []byte) {
		if len(expr) > 100 {
			return
		}
		s, err := newPlain(expr)
		if err != nil {
			return
		}
		m := &memoryLog{all: content}
		want := m.model(regexp.MustCompile(expr), 0, m.End())
		var forward, backward []found
		Forward(context.Background(), m, s, 0, m.End(), func(l Line) bool { forward = append(forward, keep(l)); return true })
		Backward(context.Background(), m, s, 0, m.End(), func(l Line) bool {
			backward = append(backward, keep(l))
			return true
		})
		slices.Reverse(backward)
		if diff := cmp.Diff(want, forward); diff != "" {
			t.Fatalf("forward: %s", diff)
		}
		if diff := cmp.Diff(want, backward); diff != "" {
			t.Fatalf("backward: %s", diff)
		}
	})
}

package vt_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
	"tandem/tests/needs"
)

func numberedLines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "line %d\r\n", i)
	}
	return b.Bytes()
}

func TestScrollbackIsBoundedByLines(t *testing.T) {
	for name, grid := range grids {
		t.Run(name, func(t *testing.T) {
			term := vt.New(vt.Options{Cols: 20, Rows: 3, Grid: grid, ScrollbackLines: 2500})
			term.Write(numberedLines(10000))
			oldest, first, end := term.Bounds()
			if first-oldest != 2500 || end-first != 3 || first != 9998 {
				t.Fatalf("bounds are %d, %d, %d", oldest, first, end)
			}
			for i, l := range term.Lines(oldest, 5000) {
				n := oldest + int64(i)
				if want := fmt.Sprintf("line %d", n); l.N != n || n < 10000 && l.Line.Text() != want {
					t.Fatalf("line %d is number %d, %q", n, l.N, l.Line.Text())
				}
			}
		})
	}
}

func TestScrollbackIsBoundedByBytes(t *testing.T) {
	term := vt.New(vt.Options{Cols: 100, Rows: 3, ScrollbackLines: 1 << 30, ScrollbackBytes: 1 << 20})
	line := []byte(strings.Repeat("x", 99) + "\r\n")
	before := heapBytes()
	term.Write(bytes.Repeat(line, 200_000))
	if grown := heapBytes() - before; grown > 2<<20 {
		t.Errorf("a scrollback of 1 MiB costs %d bytes", grown)
	}
	if oldest, first, _ := term.Bounds(); first-oldest < 5000 {
		t.Errorf("only %d lines are kept", first-oldest)
	}
}

func TestNegativeScrollbackLinesDisableScrollback(t *testing.T) {
	term := vt.New(vt.Options{Cols: 20, Rows: 3, ScrollbackLines: -1})
	term.Write(numberedLines(10))
	oldest, first, _ := term.Bounds()
	if oldest != first || first != 8 {
		t.Errorf("bounds are %d, %d", oldest, first)
	}
	if lines := term.Lines(0, 8); len(lines) != 0 {
		t.Errorf("%d lines are kept", len(lines))
	}
	term.Resize(10, 2)
	if got := strings.TrimSpace(term.Text()); got != "line 9" {
		t.Errorf("after a resize the screen is %q", got)
	}
}

func TestLinesSkipsMissingLines(t *testing.T) {
	term := vt.New(vt.Options{Cols: 20, Rows: 2, ScrollbackLines: 3})
	term.Write([]byte("a\r\nb\r\nc\r\nd\r\ne\r\nf\r\ng")) // kept: c d e, screen: f g
	texts := func(from int64, n int) string {
		var out []string
		for _, l := range term.Lines(from, n) {
			out = append(out, fmt.Sprint(l.N, l.Line.Text()))
		}
		return strings.Join(out, " ")
	}
	const maxInt, minInt64 = int(^uint(0) >> 1), -1 << 63
	for _, c := range []struct {
		from int64
		n    int
		want string
	}{
		{0, 2, ""}, {0, 3, "2c"}, {0, 100, "2c 3d 4e 5f 6g"}, {4, 2, "4e 5f"}, {6, 9, "6g"}, {7, 9, ""},
		{3, 0, ""}, {3, -1, ""}, {-5, 8, "2c"}, {3, maxInt, "3d 4e 5f 6g"}, {minInt64, maxInt, ""}, {minInt64, 3, ""},
	} {
		if got := texts(c.from, c.n); got != c.want {
			t.Errorf("Lines(%d, %d) is %q, want %q", c.from, c.n, got, c.want)
		}
	}
}

func TestIdleTerminalUsesUnder64KiB(t *testing.T) {
	before := heapBytes()
	terms := make([]*vt.Terminal, 16)
	for i := range terms {
		terms[i] = vt.New(vt.Options{Cols: 80, Rows: 24})
		terms[i].Write([]byte("\x1b]2;a shell\a\x1b[1;32m$\x1b[m "))
	}
	if each := (heapBytes() - before) / int64(len(terms)); each > 64<<10 {
		t.Errorf("it costs %d bytes", each)
	}
	runtime.KeepAlive(terms)
}

func TestTenThousandLinesUseUnderThreeMegabytes(t *testing.T) {
	lines := map[string]string{
		"text":   strings.Repeat("x", 80),
		"styles": strings.Repeat("abcd\x1b[31mefgh\x1b[m", 10),
		"wide":   strings.Repeat("世界", 20),
	}
	for name, line := range lines {
		before := heapBytes()
		term := vt.New(vt.Options{Cols: 80, Rows: 24})
		term.Write(bytes.Repeat([]byte(line+"\r\n"), 10100))
		if cost := heapBytes() - before; cost > 3<<20 {
			t.Errorf("%s: they cost %d bytes", name, cost)
		}
		if oldest, first, _ := term.Bounds(); first-oldest != 10000 {
			t.Errorf("%s: %d lines are kept", name, first-oldest)
		}
		runtime.KeepAlive(term)
	}
}

func TestSteadyOutputAllocatesNothing(t *testing.T) {
	for _, s := range streams {
		for _, size := range [][2]int{{80, 24}, {200, 60}} {
			term := vt.New(vt.Options{Cols: size[0], Rows: size[1], ScrollbackLines: 1000})
			data := makeStream(256<<10, size[0], size[1], s.make)
			for range 8 {
				term.Write(data)
			}
			if n := testing.AllocsPerRun(3, func() { term.Write(data) }); n > 0 {
				t.Errorf("%s at %d×%d: %v allocations for 256 KiB", s.name, size[0], size[1], n)
			}
		}
	}
}

func TestScrollingSendsNewLinesOnly(t *testing.T) {
	term := vt.New(vt.Options{Cols: 20, Rows: 10})
	term.Write(numberedLines(50))
	seq := term.Diff(0).Seq
	term.Write([]byte("one\r\ntwo\r\n"))
	d := term.Diff(seq)
	var got []string
	for _, l := range d.Lines {
		got = append(got, fmt.Sprint(l.N, " ", l.Line.Text()))
	}
	if diff := cmp.Diff([]string{"50 one", "51 two", "52 "}, got); diff != "" || d.Full {
		t.Errorf("full %v (-want +got)\n%s", d.Full, diff)
	}
	if d = term.Diff(d.Seq); len(d.Lines) != 0 || d.Full {
		t.Errorf("with nothing changed the diff has %d lines", len(d.Lines))
	}
}

func TestDiffIncludesUnseenScrolledLines(t *testing.T) {
	term := vt.New(vt.Options{Cols: 20, Rows: 5})
	seq := term.Diff(0).Seq
	term.Write(numberedLines(8))
	d := term.Diff(seq)
	if d.Full || len(d.Lines) != 9 || d.Lines[0].Line.Text() != "line 0" {
		t.Errorf("full %v, %d lines: %v", d.Full, len(d.Lines), d.Lines)
	}
	term.Write(numberedLines(100))
	if d = term.Diff(d.Seq); d.Full || len(d.Lines) != 1+5+10+5 || d.Lines[0].N != 3 {
		t.Errorf("after a flood: full %v, %d lines: %v", d.Full, len(d.Lines), d.Lines)
	}
	old := d.Seq
	for range 100 {
		term.Diff(0)
	}
	term.Write(numberedLines(100))
	if d = term.Diff(old); !d.Full || len(d.Lines) != 5 {
		t.Errorf("for a viewer far behind: full %v, %d lines", d.Full, len(d.Lines))
	}
}

func TestDiffFromUnknownStateIsFull(t *testing.T) {
	term := vt.New(vt.Options{Cols: 20, Rows: 5})
	term.Diff(0)
	if d := term.Diff(999); !d.Full {
		t.Error("a diff since a state that never was is not full")
	}
}

func TestUnusedStylesLinksAndClustersAreFreed(t *testing.T) {
	needs.FullRun(t)
	for name, grid := range grids {
		t.Run(name, func(t *testing.T) {
			term := vt.New(vt.Options{Cols: 20, Rows: 3, Grid: grid, ScrollbackLines: 10})
			write := func(from, n int) {
				for i := from; i < from+n; i++ {
					fmt.Fprintf(term, "\x1b[38;2;%d;%d;%dm\x1b]8;;http://a/%d\x1b\\%c\u0301\x1b]8;;\x1b\\\r\n",
						i>>16&255, i>>8&255, i&255, i, 0x4E00+i%20000)
				}
			}
			write(0, 20_000)
			before := heapBytes()
			write(20_000, 60_000)
			if grown := heapBytes() - before; grown > 2<<20 {
				t.Errorf("60,000 unused styles cost %d bytes", grown)
			}
			l := term.Lines(80_000-1, 1)[0].Line
			if want := (styled.Style{Rendition: styled.Rendition{FG: styled.ColorRGB | 79_999}, Link: "http://a/79999"}); l.Runs[0].Style != want {
				t.Errorf("the last line's style is %+v", l.Runs[0].Style)
			}
			if want := string(rune(0x4E00+79_999%20000)) + "\u0301"; l.Text() != want {
				t.Errorf("the last line is %q, want %q", l.Text(), want)
			}
			runtime.KeepAlive(term)
		})
	}
}

func TestTooManyStylesOrLinksDropOldLines(t *testing.T) {
	needs.FullRun(t)
	inputs := map[string]func(b *bytes.Buffer, i int){
		"styles": func(b *bytes.Buffer, i int) {
			fmt.Fprintf(b, "\x1b[38;2;%d;%d;%dm.", i>>16, i>>8&255, i&255)
		},
		"links": func(b *bytes.Buffer, i int) {
			fmt.Fprintf(b, "\x1b]8;;http://a/%02000d\x1b\\.", i)
		},
	}
	counts := map[string]int{"styles": 400_000, "links": 30_000}
	for name, add := range inputs {
		t.Run(name, func(t *testing.T) {
			term := vt.New(vt.Options{Cols: 80, Rows: 24})
			before := heapBytes()
			var b bytes.Buffer
			for i := range counts[name] {
				if add(&b, i); b.Len() > 32<<10 {
					term.Write(b.Bytes())
					b.Reset()
				}
			}
			b = bytes.Buffer{}
			if grown := heapBytes() - before; grown > 40<<20 {
				t.Errorf("it costs %d bytes", grown)
			}
			if _, first, _ := term.Bounds(); len(term.Lines(first-10, 10)) != 10 {
				t.Error("the newest lines were dropped too")
			}
			runtime.KeepAlive(term)
		})
	}
}

func TestSynchronisedOutputTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := vt.New(vt.Options{Cols: 20, Rows: 3})
		term.Write([]byte("\x1b[?2026h"))
		if !term.Modes().Sync {
			t.Error("Modes does not report synchronised output")
		}
		time.Sleep(time.Second)
		if term.Modes().Sync {
			t.Error("synchronised output does not time out")
		}
	})
}

func TestReplaySendsNoRepliesOrEvents(t *testing.T) {
	b := newTestTerminal(20, 5, "own")
	b.SetReplies(false)
	b.Write([]byte("\x1b[c\a\x1b]2;t\a\x1bP$qm\x1b\\"))
	if b.replies != "" || b.events != nil {
		t.Errorf("a replay sent replies %q and events %q", b.replies, b.events)
	}
	b.SetReplies(true)
	b.Write([]byte("\x1b[5n"))
	if b.replies != "\x1b[0n" || b.Title() != "t" {
		t.Errorf("after the replay: %q, title %q", b.replies, b.Title())
	}
}

func TestRepaintTriggersNoReplyOrBell(t *testing.T) {
	from, to := newTestTerminal(20, 5, "own"), newTestTerminal(20, 5, "own")
	for _, p := range pieces {
		from.Write([]byte(p))
	}
	to.Write(from.AppendRepaint(nil))
	if to.replies != "" || strings.Contains(strings.Join(to.events, " "), "bell") {
		t.Errorf("a repaint triggered replies %q and events %q", to.replies, to.events)
	}
}

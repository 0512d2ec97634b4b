package vt_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"tandem/engine/vt"
)

// streams are the inputs that throughput is measured with, each of about a
// megabyte: what programs that write much write.
var streams = []struct {
	name string
	make func(cols, rows int, b *bytes.Buffer, r *rand.Rand)
}{
	{"yes", func(_, _ int, b *bytes.Buffer, _ *rand.Rand) { b.WriteString("y\r\n") }},
	{"log", logLine},
	{"color", colorLine},
	{"utf8", utf8Line},
	{"redraw", redraw},
	{"region", regionLine},
}

func stream(cols, rows int, make func(cols, rows int, b *bytes.Buffer, r *rand.Rand)) []byte {
	var b bytes.Buffer
	r := rand.New(rand.NewPCG(1, 2))
	for b.Len() < 1<<20 {
		make(cols, rows, &b, r)
	}
	return b.Bytes()
}

func logLine(_, _ int, b *bytes.Buffer, r *rand.Rand) {
	fmt.Fprintf(b, "2026-11-20T16:%02d:%02d.%03dZ INFO server handled request id=%08x path=/v1/items/%d status=200 in %dus\r\n",
		r.IntN(60), r.IntN(60), r.IntN(1000), r.Uint32(), r.IntN(10000), r.IntN(100000))
}

func colorLine(cols, _ int, b *bytes.Buffer, r *rand.Rand) {
	for range cols / 5 {
		switch r.IntN(3) {
		case 0:
			fmt.Fprintf(b, "\x1b[%dm%04x", 31+r.IntN(7), r.IntN(65536))
		case 1:
			fmt.Fprintf(b, "\x1b[1;38;5;%dm%04x", r.IntN(256), r.IntN(65536))
		default:
			fmt.Fprintf(b, "\x1b[0;38;2;%d;%d;%dm%04x", r.IntN(8)*32, r.IntN(8)*32, r.IntN(8)*32, r.IntN(65536))
		}
		b.WriteString("\x1b[0m ")
	}
	b.WriteString("\r\n")
}

func utf8Line(cols, _ int, b *bytes.Buffer, r *rand.Rand) {
	for n := 0; n < cols-4; n += 2 {
		switch r.IntN(12) {
		case 0:
			b.WriteRune(rune(0x1F600 + r.IntN(64)))
		case 1:
			b.WriteString("éü")
		case 2:
			b.WriteString("→ ")
		default:
			b.WriteRune(rune(0x4E00 + r.IntN(0x2000)))
		}
	}
	b.WriteString("\r\n")
}

func redraw(cols, rows int, b *bytes.Buffer, r *rand.Rand) {
	b.WriteString("\x1b[H")
	for y := range rows {
		fmt.Fprintf(b, "\x1b[%d;1H\x1b[%dm%-*d\x1b[0m\x1b[K", y+1, 30+r.IntN(8), cols-10, r.IntN(1e9))
	}
}

func regionLine(_, rows int, b *bytes.Buffer, r *rand.Rand) {
	fmt.Fprintf(b, "\x1b[3;%dr\x1b[%d;1H\nline %d of the part that scrolls\x1b[r\x1b[%d;1Hstatus %d\x1b[K",
		rows-2, rows-2, r.IntN(1e6), rows, r.IntN(1e6))
}

func BenchmarkWrite(b *testing.B) {
	for _, s := range streams {
		for _, size := range [][2]int{{80, 24}, {200, 60}} {
			data := stream(size[0], size[1], s.make)
			for _, grid := range []string{"own", "vt10x"} {
				b.Run(fmt.Sprintf("%s/%dx%d/%s", s.name, size[0], size[1], grid), func(b *testing.B) {
					t := vt.New(vt.Options{Cols: size[0], Rows: size[1], Grid: grids[grid]})
					t.Write(data)
					b.SetBytes(int64(len(data)))
					b.ReportAllocs()
					for b.Loop() {
						t.Write(data)
					}
				})
			}
		}
	}
}

// BenchmarkDiff is a viewer's cost of one changed row in a full screen.
func BenchmarkDiff(b *testing.B) {
	t := vt.New(vt.Options{Cols: 200, Rows: 60})
	t.Write(stream(200, 60, colorLine))
	seq := t.Diff(0).Seq
	b.ReportAllocs()
	for b.Loop() {
		t.Write([]byte("\x1b[30;1Hchanged"))
		seq = t.Diff(seq).Seq
	}
}

// BenchmarkResize rewraps a full scrollback.
func BenchmarkResize(b *testing.B) {
	t := vt.New(vt.Options{Cols: 80, Rows: 24})
	for range 3 {
		t.Write(stream(80, 24, logLine))
	}
	cols := 80
	for b.Loop() {
		cols = 200 - cols
		t.Resize(cols, 24)
	}
}

package vt_test

import (
	"fmt"
	"testing"

	"tandem/engine/screen/vt"
)

func BenchmarkWrite(b *testing.B) {
	for _, s := range streams {
		for _, size := range [][2]int{{80, 24}, {200, 60}} {
			data := makeStream(1<<20, size[0], size[1], s.make)
			for _, grid := range []string{"own", "vt10x"} {
				b.Run(fmt.Sprintf("%s/%dx%d/%s", s.name, size[0], size[1], grid), func(b *testing.B) {
					t := vt.New(vt.Options{Cols: size[0], Rows: size[1], Grid: grids[grid]})
					fillScrollback(t, data)
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

// fillScrollback writes until the scrollback is full and drops a line for each new one.
func fillScrollback(t *vt.Terminal, data []byte) {
	for range 20 {
		t.Write(data)
	}
}

// BenchmarkDiff measures a viewer's cost of one changed row in a full screen.
func BenchmarkDiff(b *testing.B) {
	t := vt.New(vt.Options{Cols: 200, Rows: 60})
	t.Write(makeStream(1<<20, 200, 60, colorLine))
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
		t.Write(makeStream(1<<20, 80, 24, logLine))
	}
	cols := 80
	for b.Loop() {
		cols = 200 - cols
		t.Resize(cols, 24)
	}
}

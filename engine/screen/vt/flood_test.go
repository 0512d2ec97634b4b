package vt_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/engine/screen/vt"
	"tandem/tests/seed"
)

func TestFloodedLinesEqualPrintedLines(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		num := func(name string, low, high int) int { return rapid.IntRange(low, high).Draw(t, name) }
		o := vt.Options{Cols: num("cols", 1, 9), Rows: num("rows", 1, 5), ScrollbackLines: rapid.SampledFrom([]int{-1, 7, 500}).Draw(t, "kept")}
		whole, single := vt.New(o), vt.New(o)
		var viewers [2]viewer
		for range num("floods", 1, 3) {
			region := rapid.SampledFrom([]string{"", "", "\x1b[2;4r\x1b[4;1H", "\x1b[1;3r\x1b[3;1H", "\x1b[?1049h\x1b[9H", "\x1b[r\x1b[?1049l"}).Draw(t, "region")
			before := append(drawInput(t), region...)
			whole.Write(before)
			single.Write(before)
			viewers[0].apply(whole.Diff(viewers[0].seq))
			viewers[1].apply(single.Diff(viewers[1].seq))
			lines := drawFlood(t)
			whole.Write(bytes.Join(lines, nil))
			for _, line := range lines {
				single.Write(line)
			}
		}
		viewers[0].apply(whole.Diff(viewers[0].seq))
		viewers[1].apply(single.Diff(viewers[1].seq))
		if diff := cmp.Diff(viewers[0].lines, viewers[1].lines); diff != "" {
			t.Fatalf("a viewer has (-whole +single)\n%s", diff)
		}
		compareViewer(t, whole, &viewers[0])
		oldest, _, end := whole.Bounds()
		for n := oldest; n < end; n++ {
			was, _, _ := single.AppendText(nil, n)
			if got, _, ok := whole.AppendText(nil, n); !ok || string(bytes.TrimRight(got, " ")) != string(bytes.TrimRight(was, " ")) {
				t.Fatalf("line %d is searched as %q, want %q", n, got, was)
			}
		}
		if diff := cmp.Diff(single.Lines(0, 1<<20), whole.Lines(0, 1<<20)); diff != "" {
			t.Fatalf("kept are (-single +whole)\n%s", diff)
		}
		if diff := cmp.Diff(string(single.AppendCheckpoint(nil)), string(whole.AppendCheckpoint(nil))); diff != "" {
			t.Fatalf("a checkpoint is (-single +whole)\n%s", diff)
		}
		cols, rows := num("new cols", 1, 9), num("new rows", 1, 5)
		single.Resize(cols, rows)
		whole.Resize(cols, rows)
		if diff := cmp.Diff(single.Lines(0, 1<<20), whole.Lines(0, 1<<20)); diff != "" {
			t.Fatalf("after a resize, kept are (-single +whole)\n%s", diff)
		}
	})
}

// drawFlood draws lines, mostly plain and short, often several times.
func drawFlood(t *rapid.T) (lines [][]byte) {
	for range rapid.IntRange(1, 40).Draw(t, "lines") {
		line := rapid.StringMatching(`[ -~]{0,4}|[ -~]{5,20}|[ aé→中文한😀]{0,20}`).Draw(t, "line")
		if rapid.IntRange(0, 30).Draw(t, "odd") == 0 {
			line = rapid.SampledFrom(pieces).Draw(t, "piece")
		}
		times := rapid.SampledFrom([]int{1, 1, 2, 15}).Draw(t, "times")
		lines = append(lines, slices.Repeat([][]byte{[]byte(line + "\r\n")}, times)...)
	}
	return lines
}

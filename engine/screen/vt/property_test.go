package vt_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/engine/base/cellwidth"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
	"tandem/tests/seed"
)

// pieces are the building blocks of random output.
var pieces = []string{
	"hello", "a", "the quick brown fox", "\r\n", "\n", "\r", "\b", "\t", "\r\n\r\n\r\n", "1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\n",
	"中文字", "é", "e\u0301", "👨\u200d👩\u200d👧", "🇩🇪", "🇩", "\u200d", "\u0301", "\ufe0f", "한글", "\ue0b0\U000f0001",
	"กำน้ำ", "क्या", "की", "\u093e", "ｶﾞ", "☝", "🏽", "\u1112", "\u1161", "👩\u200d", "\x1b[?2027h", "\x1b[?2027l",
	"\xe2\x82", "\xff", "\a",
	"\x1b[H", "\x1b[3;4H", "\x1b[99;99H", "\x1b[A", "\x1b[5B", "\x1b[2C", "\x1b[7D", "\x1b[2G", "\x1b[4d", "\x1bM", "\x1bD", "\x1bE",
	"\x1b[m", "\x1b[1;31m", "\x1b[44m", "\x1b[4:3;58:2::1:2:3m", "\x1b[38;5;200m", "\x1b[48;2;9;8;7m", "\x1b[7;53m",
	"\x1b]8;;http://a.b/c\x1b\\", "\x1b]8;;\a",
	"\x1b[J", "\x1b[1J", "\x1b[2J", "\x1b[3J", "\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[?K", "\x1b[1\"q", "\x1b[0\"q", "\x1b[?J",
	"\x1b[3@", "\x1b[2P", "\x1b[4X", "\x1b[2L", "\x1b[2M", "\x1b[2S", "\x1b[T", "\x1b[9b", "\x1b[2'}", "\x1b['~", "\x1b[2 @", "\x1b[ A",
	"\x1b[2;4r", "\x1b[r", "\x1b[?69h", "\x1b[3;6s", "\x1b[?69l", "\x1b[?6h", "\x1b[?6l",
	"\x1b7", "\x1b8", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?47h", "\x1b[?47l", "\x1b[?1047h", "\x1b[?1047l",
	"\x1b[4h", "\x1b[4l", "\x1b[?7l", "\x1b[?7h", "\x1b[20h", "\x1b[20l", "\x1b(0", "\x1b(B", "\x1b)0", "\x0e", "\x0f",
	"\x1b[?1h", "\x1b=", "\x1b>", "\x1b[?25l", "\x1b[?25h", "\x1b[?5h", "\x1b[?1002h", "\x1b[?1006h", "\x1b[?1003l", "\x1b[?2004h", "\x1b[?1004h",
	"\x1b[>5u", "\x1b[<u", "\x1b[=3;1u", "\x1b[>4;2m", "\x1b[3 q", "\x1b[5 q", "\x1b[ q", "\x1b[?12l", "\x1b[?12h", "\x1b]12;#0f0\a", "\x1b]112\a", "\x1b]2;title\a", "\x1b[22t", "\x1b[23t",
	"\x1bH", "\x1b[g", "\x1b[3g", "\x1b#8", "\x1b[!p", "\x1bc", "\x1b6", "\x1b9", "\x1b[?45h", "\x1b[?1045h",
	"\x1b[65;1;1;3;3$x", "\x1b[1;1;2;4$z", "\x1b[1;1;2;3;1;2;2$v", "\x1b[1;1;2;4;1$r", "\x1b]10;#fff\a", "\x1b[?42h\x1b(K\x1b+`", "\x1b)>", "\x1b*A\x1bn", "\x1b-A", "[\\]{|}~", "\x1bV", "\x1bW", "\x1b[?41h", "\x1b]5;1;#123\a",
	"\x1b]4;3;#123\a",
	"\x1b[?2048h", "\x1b[?996n", "\x1b]99;i=1:d=0;x\a",
	"\x1b#3", "\x1b#4", "\x1b#5", "\x1b#6", "\r\n\x1b#6ab",
}

// pictures are output with pictures in it.
var pictures = []string{
	"\x1b_Ga=T,i=4,f=24,s=1,v=1,o=z,q=2;eJxjYGAAAAADAAE=\x1b\\",
	"\x1bPq\"1;1;20;40#1~\x1b\\", "\x1bP0;1q\"1;1;35;20#1!9~\x1b\\", "\x1bPq#1!35~-~\x1b\\", "\x1b[?80h", "\x1b[?80l", "\x1b[?8452h",
	"\x1b_Ga=T,i=1,f=24,s=1,v=1,c=2,r=2;AAAA\x1b\\", "\x1b_Ga=T,f=24,s=1,v=2,C=1,z=-1;AAAAAAAA\x1b\\", "\x1b_Ga=t,i=2,f=24,s=1,v=1;AAAA\x1b\\",
	"\x1b_Ga=p,i=1,p=1,c=1,r=3\x1b\\", "\x1b_Ga=p,i=2,c=3\x1b\\", "\x1b_Ga=p,i=2,p=2,U=1,c=2,r=2\x1b\\", "\x1b_Ga=T,i=3,m=1,f=24,s=1,v=1,r=1;AA\x1b\\", "\x1b_Gm=0;AA\x1b\\",
	"\x1b_Ga=d\x1b\\", "\x1b_Ga=d,d=I,i=1\x1b\\", "\x1b_Ga=d,d=C\x1b\\", "\x1b_Ga=d,d=y,y=2\x1b\\", "\x1b[38;5;2;58;5;2m\U0010EEEE\u0305\u0305\U0010EEEE",
}

// A viewer is the state learned from diffs.
type viewer struct {
	seq   uint64
	lines map[int64]styled.Line
	last  vt.Diff
}

func (v *viewer) apply(d vt.Diff) {
	if d.Full || v.lines == nil {
		v.lines = map[int64]styled.Line{}
	}
	for _, l := range d.Lines {
		v.lines[l.N] = l.Line
	}
	for n := range v.lines {
		if n < d.Oldest || n >= d.First+int64(d.Rows) {
			delete(v.lines, n)
		}
	}
	v.seq, v.last = d.Seq, d
}

// screen returns the visible lines of the viewer.
func (v *viewer) screen() []styled.NumberedLine {
	var out []styled.NumberedLine
	for y := range v.last.Rows {
		n := v.last.First + int64(y)
		out = append(out, styled.NumberedLine{N: n, Line: v.lines[n]})
	}
	return out
}

func TestDiffsKeepViewerEqualToSnapshot(t *testing.T) {
	for name, grid := range grids {
		t.Run(name, func(t *testing.T) {
			seed.Check(t, func(t *rapid.T) {
				term := vt.New(vt.Options{Cols: 9, Rows: 5, Grid: grid, ScrollbackLines: 12})
				viewers := make([]viewer, 2)
				for range rapid.IntRange(1, 80).Draw(t, "steps") {
					switch rapid.IntRange(0, 9).Draw(t, "kind") {
					case 0:
						cols, rows := rapid.IntRange(1, 14).Draw(t, "cols"), rapid.IntRange(1, 8).Draw(t, "rows")
						term.Resize(cols, rows)
					case 1, 2:
						v := &viewers[rapid.IntRange(0, 1).Draw(t, "viewer")]
						v.apply(term.Diff(v.seq))
						compareViewer(t, term, v)
					default:
						term.Write([]byte(rapid.SampledFrom(append(slices.Clip(pieces), pictures...)).Draw(t, "piece")))
					}
				}
			})
		})
	}
}

// On a screen of one row, pictures come and go above it.
func TestDiffReportsPictureRemovedFromScrollback(t *testing.T) {
	term := vt.New(vt.Options{Cols: 1, Rows: 1, ScrollbackLines: 12})
	var v viewer
	for range 2 {
		v.apply(term.Diff(v.seq))
		term.Write([]byte("\x1b_Ga=T,i=1,f=24,s=1,v=1,c=2,r=2;AAAA\x1b\\"))
	}
	v.apply(term.Diff(v.seq))
	compareViewer(t, term, &v)
}

func compareViewer(t rapid.TB, term *vt.Terminal, v *viewer) {
	full := term.Diff(0)
	if diff := cmp.Diff(full.Lines, v.screen()); diff != "" {
		t.Fatalf("screen (-snapshot +viewer)\n%s", diff)
	}
	for n, line := range v.lines {
		kept := term.Lines(n, 1)
		if len(kept) != 1 {
			t.Fatalf("viewer holds line %d, no longer kept", n)
		}
		if diff := cmp.Diff(kept[0].Line, line); diff != "" {
			t.Fatalf("line %d (-kept +viewer)\n%s", n, diff)
		}
	}
	if v.last.Cursor != full.Cursor || v.last.Modes != full.Modes || v.last.Title != full.Title {
		t.Fatalf("cursor, modes or title differ: %+v, %+v", v.last, full)
	}
}

// drawInput draws the output of a program.
func drawInput(t *rapid.T) []byte {
	var b []byte
	for range rapid.IntRange(1, 60).Draw(t, "pieces") {
		b = append(b, rapid.SampledFrom(pieces).Draw(t, "piece")...)
	}
	return b
}

// state returns the visible state of a terminal, without numbers.
func state(term *vt.Terminal) vt.Diff {
	d := term.Diff(0)
	d.Seq, d.First, d.Oldest, d.Bells, d.Modes.Sync = 0, 0, 0, 0, false
	for i := range d.Lines {
		d.Lines[i].N = int64(i)
	}
	return d
}

// A viewer knows the text and the cells of a run, not the cells of each cluster.
func TestRunCellsEqualTextWidth(t *testing.T) {
	check := func(t rapid.TB, written []byte) {
		term := vt.New(vt.Options{Cols: 9, Rows: 5})
		term.Write(written)
		for _, l := range term.Lines(0, 1000) {
			for _, r := range l.Line.Runs {
				if n := cellwidth.Of(r.Text); n != r.Cells && !cellwidth.Whole(r.Text) {
					t.Fatalf("%q has %d cells and measures %d", r.Text, r.Cells, n)
				}
			}
		}
	}
	check(t, []byte("hello\u200d🏽")) // the joined letter takes two cells but measures one
	seed.Check(t, func(t *rapid.T) { check(t, drawInput(t)) })
}

func TestRepaintRestoresState(t *testing.T) {
	for name, grid := range grids {
		t.Run(name, func(t *testing.T) {
			seed.Check(t, func(t *rapid.T) {
				o := vt.Options{Cols: 9, Rows: 5, Grid: grid}
				original, painted := vt.New(o), vt.New(o)
				original.Write(drawInput(t))
				painted.Write(drawInput(t)) // a dirty terminal
				painted.Write([]byte("\x18\x1b[!p\x1b[?1049l\x1b[2J\x1b7\x1b[99<u\x1b[?1007h\x1b[?1036h\x1b[?2027l\x1b]112\a"))
				painted.Write(original.AppendRepaint(nil))
				if diff := cmp.Diff(state(original), state(painted)); diff != "" {
					t.Fatalf("(-was +repainted)\n%s\nrepaint: %q", diff, original.AppendRepaint(nil))
				}
			})
		})
	}
}

func TestRepaintKeepsPendingWrapAtResetMargin(t *testing.T) {
	o := vt.Options{Cols: 9, Rows: 5}
	for _, before := range []string{"\x1b[?69h\x1b[3;6shelloa\x1b[?69l", "\x1b[?69h\x1b[1;4s\x1b[2;3Hab\x1b[?69l\x1b[1m"} {
		original, painted := vt.New(o), vt.New(o)
		original.Write([]byte(before))
		painted.Write(original.AppendRepaint(nil))
		if diff := cmp.Diff(state(original), state(painted)); diff != "" {
			t.Errorf("%q (-was +repainted)\n%s", before, diff)
		}
		original.Write([]byte("x"))
		painted.Write([]byte("x"))
		if diff := cmp.Diff(state(original), state(painted)); diff != "" {
			t.Errorf("%q and x (-was +repainted)\n%s", before, diff)
		}
	}
}

func TestRepaintedTerminalContinuesLikeOriginal(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		o := vt.Options{Cols: 9, Rows: 5, ScrollbackLines: -1}
		original, painted := vt.New(o), vt.New(o)
		original.Write(drawInput(t))
		original.Write([]byte("\x1b[1m")) // ends any sequence, and any cluster
		painted.Write(original.AppendRepaint(nil))
		painted.Write([]byte("\x1b[1m"))
		after := []byte("x" + rapid.SampledFrom(pieces).Draw(t, "next") + "y")
		original.Write(after)
		painted.Write(after)
		if diff := cmp.Diff(state(original), state(painted)); diff != "" {
			t.Fatalf("after %q (-was +repainted)\n%s\nrepaint: %q", after, diff, original.AppendRepaint(nil))
		}
	})
}

func TestCheckpointKeepsPicturesOnScreens(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		o := vt.Options{Cols: 9, Rows: 5, ScrollbackLines: -1}
		original, restored := vt.New(o), vt.New(o)
		for range rapid.IntRange(1, 60).Draw(t, "pieces") {
			original.Write([]byte(rapid.SampledFrom(append(slices.Clip(pictures), pieces...)).Draw(t, "piece")))
		}
		original.Write([]byte("\x1b[1m"))
		restored.SetReplies(false)
		restored.RestoreCheckpoint(original.AppendCheckpoint(nil))
		restored.Write([]byte("\x1b[1m"))
		after := []byte("x" + rapid.SampledFrom(pictures).Draw(t, "next") + "y")
		original.Write(after)
		restored.Write(after)
		if diff := cmp.Diff(state(original), state(restored)); diff != "" {
			t.Fatalf("after %q (-was +restored)\n%s\ncheckpoint: %q", after, diff, original.AppendCheckpoint(nil))
		}
	})
}

func TestRepaintPlacesPicturesAtTheirCells(t *testing.T) {
	places := func(term *vt.Terminal) (all []string) {
		_, first, end := term.Bounds()
		for _, l := range term.Lines(first, int(end-first)) {
			for _, s := range l.Line.Pictures {
				all = append(all, fmt.Sprint(l.N-first, s.From, s.To, s.Z))
			}
		}
		return all
	}
	for name, written := range map[string]string{
		"sixels cut by text":       "\x1bPq\"1;1;50;60#1!50~\x1b\\\x1b[2;3Hab\x1b[5;1Hend",
		"kitty picture below text": "a\x1b_Ga=T,i=7,p=2,f=24,s=1,v=1,c=3,r=2,z=-5,q=2;AAAA\x1b\\b",
		"partly scrolled picture":  "\x1bPq\"1;1;50;60#1!50~\x1b\\\n\n\n\nx",
		"on the alternate screen":  "\x1bPq\"1;1;20;20#1~\x1b\\\x1b[?1049h\x1b_Ga=T,i=7,f=24,s=1,v=1,c=3,r=2,q=2;AAAA\x1b\\",
		"one image placed twice":   "\x1b_Ga=T,i=7,f=24,s=1,v=1,c=1,r=1,q=2;AAAA\x1b\\\x1b[4;4H\x1b_Ga=p,i=7,c=2,r=1,q=2\x1b\\",
	} {
		original, painted := vt.New(vt.Options{Cols: 9, Rows: 5}), vt.New(vt.Options{Cols: 9, Rows: 5})
		original.Write([]byte(written))
		painted.Write(original.AppendPictures(original.AppendRepaint(nil)))
		if diff := cmp.Diff(places(original), places(painted)); diff != "" || len(places(original)) == 0 {
			t.Errorf("%s (-was +repainted)\n%s", name, diff)
		}
		if original.Cursor() != painted.Cursor() || original.Text() != painted.Text() {
			t.Errorf("%s: the cursor is at %+v, want %+v, in %q", name, painted.Cursor(), original.Cursor(), painted.Text())
		}
	}
}

func TestSplitInputGivesSameState(t *testing.T) {
	for name, grid := range grids {
		t.Run(name, func(t *testing.T) {
			seed.Check(t, func(t *rapid.T) {
				input := append(drawInput(t), rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes")...)
				input = append(append(input, rapid.SampledFrom(pictures).Draw(t, "picture")...), drawInput(t)...)
				var replies [2]string
				var terms [2]*vt.Terminal
				for i := range terms {
					terms[i] = vt.New(vt.Options{Cols: 9, Rows: 5, Grid: grid,
						Reply: func(b []byte) { replies[i] += string(b) }})
				}
				terms[0].Write(input)
				for len(input) > 0 {
					n := rapid.IntRange(1, min(len(input), 4)).Draw(t, "split")
					terms[1].Write(input[:n])
					input = input[n:]
				}
				if diff := cmp.Diff(state(terms[0]), state(terms[1])); diff != "" || replies[0] != replies[1] {
					t.Fatalf("(-whole +split)\n%s\nreplies %q %q", diff, replies[0], replies[1])
				}
			})
		})
	}
}

func TestBothGridsShowTheSameScreen(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		input := append(drawInput(t), rapid.SampledFrom(pictures).Draw(t, "picture")...)
		var states []vt.Diff
		for _, name := range []string{"own", "vt10x"} {
			term := vt.New(vt.Options{Cols: 9, Rows: 5, Grid: grids[name]})
			term.Write(input)
			term.Resize(6, 4)
			term.Write(input)
			states = append(states, state(term))
		}
		if diff := cmp.Diff(states[0], states[1]); diff != "" {
			t.Fatalf("(-own +vt10x)\n%s", diff)
		}
	})
}

// allText returns the scrollback and the screen up to the last non-blank line.
func allText(term *vt.Terminal) []string {
	oldest, _, end := term.Bounds()
	var out []string
	for _, l := range term.Lines(oldest, int(end-oldest)) {
		out = append(out, fmt.Sprint(l.Line.Text(), l.Line.Wrapped))
	}
	for len(out) > 0 && out[len(out)-1] == "false" {
		out = out[:len(out)-1]
	}
	return out
}

func TestNarrowingAndWideningKeepsText(t *testing.T) {
	for name, grid := range grids {
		t.Run(name, func(t *testing.T) {
			seed.Check(t, func(t *rapid.T) {
				term := vt.New(vt.Options{Cols: 12, Rows: 6, Grid: grid})
				for i := range rapid.IntRange(0, 20).Draw(t, "lines") {
					words := rapid.SliceOfN(rapid.SampledFrom([]string{"ab", "中", "xyz ", " "}), 0, 9).Draw(t, "words")
					fmt.Fprintf(term, "%d%s\r\n", i, words)
				}
				before := allText(term)
				term.Resize(rapid.IntRange(2, 11).Draw(t, "cols"), rapid.IntRange(1, 9).Draw(t, "rows"))
				term.Resize(12, 6)
				after := allText(term)
				if diff := cmp.Diff(before, after); diff != "" {
					t.Fatalf("(-before +after)\n%s", diff)
				}
			})
		})
	}
}

func TestSkinToneRunCellsEqualTextWidth(t *testing.T) {
	term := vt.New(vt.Options{Cols: 9, Rows: 5})
	term.Write([]byte("中文字\x1b[7G🏽🏽h"))
	for _, r := range term.Lines(0, 1)[0].Line.Runs {
		if n := cellwidth.Of(r.Text); n != r.Cells && !cellwidth.Whole(r.Text) {
			t.Errorf("%q has %d cells and measures %d", r.Text, r.Cells, n)
		}
	}
}

func TestRepaintKeepsWideClusterAtEdgeOfDoubledLine(t *testing.T) {
	for _, written := range []string{"中文字\ta\x1b#3", "中文字\ta\x1b7\r\x1b#3\x1b8", "a👨\u200d👩\u200d👧\x1b#3👨\u200d👩\u200d👧\x1b[ A"} {
		o := vt.Options{Cols: 9, Rows: 5}
		original, painted := vt.New(o), vt.New(o)
		original.Write([]byte(written))
		painted.Write(original.AppendRepaint(nil))
		original.Write([]byte("x"))
		painted.Write([]byte("x"))
		if diff := cmp.Diff(state(original), state(painted)); diff != "" {
			t.Errorf("%q (-was +repainted)\n%s", written, diff)
		}
	}
}

func TestDiffUpdatesScrollbackPlaceholderWhenImageArrives(t *testing.T) {
	term := vt.New(vt.Options{Cols: 9, Rows: 2})
	term.Write([]byte("\x1b_Ga=t,i=2,f=24,s=1,v=1;AAAA\x1b\\\x1b[38;5;2;58;5;2m\U0010EEEE\u0305\u0305\x1b[m\r\n\n\n\n"))
	var v viewer
	v.apply(term.Diff(0))
	for _, l := range term.Lines(0, 1) { // the viewer has scrolled up
		v.lines[l.N] = l.Line
	}
	term.Write([]byte("\x1b_Ga=p,i=2,p=2,U=1,c=1,r=1\x1b\\"))
	v.apply(term.Diff(v.seq))
	if kept, ok := v.lines[0]; ok && kept.Pictures == nil {
		t.Error("the line that it holds shows no picture")
	}
}

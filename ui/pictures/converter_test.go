package pictures

import (
	"fmt"
	"image"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"tandem/engine/screen/passthrough"
	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
	"tandem/panes/kit/graphics"
	"tandem/tests/seed"
)

const cols, rows = 12, 8

// Pictures of 3×2 cells, as programs print them.
const (
	sixel = "\x1bP0;1q\"1;1;30;40#1!30~-!30~-!30~-!30~-!30~-!30~-!30N\x1b\\"
	kitty = "\x1b_Ga=T,f=24,s=1,v=1,c=3,r=2,q=2;AAAA\x1b\\"
)

// printed is output of programs beside and around pictures.
var printed = []string{
	sixel, kitty, "\x1b_Ga=T,i=3,p=1,f=24,s=1,v=1,c=4,r=3,C=1,q=2;AAAA\x1b\\", "\x1b_Ga=d,d=i,i=3\x1b\\", "\x1b_Ga=d\x1b\\",
	"\x1b_Ga=T,i=5,U=1,c=2,r=1,f=24,s=1,v=1,q=2;AAAA\x1b\\", "\x1b[38;5;5m\U0010EEEE\U0010EEEE\x1b[m", "\x1b_Ga=T,f=24,s=1,v=1,c=2,r=1,z=-1,q=2;AAAA\x1b\\",
	"\x1b_Ga=q,i=1,s=1,v=1,f=24;AAAA\x1b\\",
	"a", "text", "é", "\r\n", "\n", "\x1bM", "\x1bD", "\r\n\r\n\r\n", "\x1b[H", "\x1b[3;5H", "\x1b[8;12H", "\x1b[A", "\x1b[4D",
	"\x1b[J", "\x1b[2J", "\x1b[K", "\x1b[2L", "\x1b[M", "\x1b[2S", "\x1b[T", "\x1b[2;5r", "\x1b[r", "\x1b[3P", "\x1b[2@", "\x1b[4X",
	"\x1b[31;44m", "\x1b[m", "\x1b[?25l", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?2026h", "\x1b[?2026l", "\x1b]0;title\a", "\x1b[?6h", "\x1b[?6l", "\x1bc",
	"\x1b[?69h", "\x1b[?69l", "\x1b[2;9s", "\x1b[1;1;3;6;1;5;4$v", "\x1b[2'}", "\x1b[2'~", "\x1b[?69h\x1b[2;9s\x1b[2S\x1b[?69l", "\x1b[4htext\x1b[4l",
}

// textAround returns a terminal's text beside pictures, and its cursor.
func textAround(t *vt.Terminal, pictures []string) (all []string) {
	screen := vt.NewOverlay(t)
	for y := range rows {
		row := ""
		for x := range cols {
			if text, style := screen.Cell(x, y); pictures[y][x] == '.' {
				row += fmt.Sprintf("%q%v ", text, style)
			}
		}
		all = append(all, row)
	}
	return append(all, fmt.Sprintf("%+v wraps %v %v", t.Cursor(), screen.WrapPending(), screen.Pen()))
}

// pictureCells returns the cells of a screen that show pictures.
func pictureCells(t *vt.Terminal, drawn func(styled.Line, styled.Strip) bool) (all []string) {
	_, first, end := t.Bounds()
	for _, l := range t.Lines(first, int(end-first)) {
		row := []byte(strings.Repeat(".", cols))
		for _, s := range l.Line.Pictures {
			if drawn(l.Line, s) {
				copy(row[s.From:s.To], strings.Repeat("#", cols))
			}
		}
		all = append(all, string(row))
	}
	return all
}

// skipLastCell removes the character printed last, at the cursor: it may be printed again,
// over a picture.
func skipLastCell(c styled.Cursor, all ...[]string) {
	for _, rows := range all {
		row := []byte(rows[c.Y])
		from := max(c.X-2, 0)
		copy(row[from:c.X+1], "???")
		rows[c.Y] = string(row)
	}
}

// blockCells returns the cells of a screen with half blocks.
func blockCells(t *vt.Terminal) (all []string) {
	for y := range rows {
		row := []byte(strings.Repeat(".", cols))
		for x := range cols {
			if text, _ := vt.NewOverlay(t).Cell(x, y); text == "▀" {
				row[x] = '#'
			}
		}
		all = append(all, string(row))
	}
	return all
}

func newShape(p graphics.Protocol) Shape {
	return Shape{Cols: cols, Rows: rows, On: graphics.Screen{Protocol: p, Cell: image.Pt(10, 20)}}
}

// A pair is a program's terminal and the user's, which receives the converter's output.
type pair struct {
	protocol        graphics.Protocol
	program, person *vt.Terminal
	converter       *Converter
}

func newPair(p graphics.Protocol, f *passthrough.Filter) *pair {
	o := vt.Options{Cols: cols, Rows: rows, ScrollbackLines: 20, Cell: image.Pt(10, 20)}
	return &pair{p, vt.New(o), vt.New(o), New(f, newShape(p))}
}

func (p *pair) printText(text string) {
	p.program.Write([]byte(text))
	p.person.Write(p.converter.ConvertOutput([]byte(text)))
}

// difference returns how the user's terminal differs from the program's: in text, cursor,
// or cells with pictures.
func (p *pair) difference() string {
	want := pictureCells(p.program, func(l styled.Line, s styled.Strip) bool {
		return p.protocol == graphics.Kitty || s.Z >= 0 || len(l.Runs) == 0
	})
	if diff := cmp.Diff(textAround(p.program, want), textAround(p.person, want)); diff != "" {
		return diff
	}
	got := pictureCells(p.person, func(styled.Line, styled.Strip) bool { return true })
	if p.protocol == graphics.Blocks {
		got = blockCells(p.person)
	}
	if p.protocol != graphics.Kitty {
		skipLastCell(p.program.Cursor(), want, got)
	}
	if !vt.NewOverlay(p.program).CanAddressCells() {
		return ""
	}
	return cmp.Diff(want, got)
}

// Holds for any output of a program, in any pieces.
func TestUsersTerminalMatchesProgramsTerminal(t *testing.T) {
	for name, protocol := range map[string]graphics.Protocol{"kitty": graphics.Kitty, "sixel": graphics.Sixel, "blocks": graphics.Blocks, "played": graphics.Kitty} {
		t.Run(name, func(t *testing.T) {
			seed.Check(t, func(r *rapid.T) {
				filter := &passthrough.Filter{}
				if name == "played" {
					filter = new(passthrough.Replay).Filter()
				}
				terminals := newPair(protocol, filter)
				for range rapid.IntRange(1, 12).Draw(r, "pieces") {
					p := strings.Join(rapid.SliceOfN(rapid.SampledFrom(printed), 1, 4).Draw(r, "printed"), "")
					for _, cut := range splitRandomly(r, p) {
						terminals.printText(cut)
					}
					if diff := terminals.difference(); diff != "" {
						r.Fatalf("after %q (-program +person):\n%s", p, diff)
					}
				}
			})
		})
	}
}

// Regression cases found by the test above.
func TestPicturesStayWhereProgramPutThem(t *testing.T) {
	const still, below, held, placeholder = "\x1b_Ga=T,i=3,p=1,f=24,s=1,v=1,c=4,r=3,C=1,q=2;AAAA\x1b\\", "\x1b_Ga=T,f=24,s=1,v=1,c=2,r=1,z=-1,q=2;AAAA\x1b\\",
		"\x1b_Ga=T,i=5,U=1,c=2,r=1,f=24,s=1,v=1,q=2;AAAA\x1b\\", "\x1b[38;5;5m\U0010EEEE\U0010EEEE\x1b[m"
	for name, c := range map[string]struct {
		protocol graphics.Protocol
		printed  []string
	}{
		"text moves out of a picture where none can be drawn":  {graphics.Sixel, []string{"texttext\x1b[H" + still, "\x1b[?6h\x1b[2@"}},
		"text below a picture is copied to another row":        {graphics.Sixel, []string{"text\x1b[H" + still, "\x1b[1;1;1;4;1;5;1$v"}},
		"text scrolls out of a picture between side margins":   {graphics.Sixel, []string{"\x1b[4;2Htext\x1b[4;1H" + still, "\x1b[?69h\x1b[2;9s\x1b[2S\x1b[?69l"}},
		"blocks are copied to another row":                     {graphics.Blocks, []string{still, "\x1b[1;1;1;4;1;5;1$v"}},
		"blocks move with text where none can be drawn":        {graphics.Blocks, []string{still, "\x1b[2@\x1b[?6h"}},
		"a picture that text covers scrolls":                   {graphics.Sixel, []string{below, placeholder + "\x1bM"}},
		"a character over a picture scrolls below the cursor":  {graphics.Blocks, []string{"\x1b[6;1H", still + "\x1b[8;1Ha", "\n"}},
		"a picture scrolls to where it stood once more before": {graphics.Kitty, []string{held, placeholder, sixel, "\x1b[4D", placeholder, "\x1b[8;12H", placeholder}},
	} {
		terminals := newPair(c.protocol, &passthrough.Filter{})
		for _, p := range c.printed {
			terminals.printText(p)
			if diff := terminals.difference(); diff != "" {
				t.Errorf("%s, after %q (-program +person):\n%s", name, p, diff)
			}
		}
	}
}

// splitRandomly splits p into random pieces.
func splitRandomly(r *rapid.T, p string) (all []string) {
	at := rapid.SliceOfN(rapid.IntRange(0, len(p)), 0, 3).Draw(r, "cuts")
	slices.Sort(at)
	before := 0
	for _, n := range append(at, len(p)) {
		all = append(all, p[before:n])
		before = n
	}
	return all
}

func TestTextBesidePictureRedrawsNothing(t *testing.T) {
	for _, protocol := range []graphics.Protocol{graphics.Kitty, graphics.Sixel, graphics.Blocks} {
		c := New(&passthrough.Filter{}, newShape(protocol))
		first := string(c.ConvertOutput([]byte(sixel + "\r\n$ ")))
		if !strings.Contains(first, map[graphics.Protocol]string{graphics.Kitty: "\x1b_Ga=p", graphics.Sixel: "\x1bP0;1;0q", graphics.Blocks: "▀"}[protocol]) {
			t.Errorf("protocol %d: the picture is written as %q", protocol, first)
		}
		for _, p := range []string{"l", "s", "\x1b[?2004l", "\r\n", "a file\r\n"} {
			if got := string(c.ConvertOutput([]byte(p))); got != p {
				t.Errorf("protocol %d: %q becomes %q", protocol, p, got)
			}
		}
	}
}

// Line drawing often ends a piece of output, and a repaint would hide the pictures until the next
// piece.
func TestLineDrawingBesidePictureOverBlanksRepaintsNothing(t *testing.T) {
	c := New(&passthrough.Filter{}, newShape(graphics.Sixel))
	c.ConvertOutput([]byte(kitty))
	const p = "\x1b[1;6H\x1b(0qq"
	if got := string(c.ConvertOutput([]byte(p))); got != p {
		t.Errorf("%q becomes %q", p, got)
	}
}

// Output of a program must not make the user's terminal answer anything.
func FuzzConverter(f *testing.F) {
	for i, p := range printed {
		f.Add([]byte("a"+p+"b"+sixel), uint8(i))
	}
	f.Add([]byte(kitty+"\x1b[c\x1b_Ga=T,i=1,f=24,s=1,v=1;AAAA\x1b\\\x1b[6n"+sixel+"\x1b]10;?\a"), uint8(3))
	f.Fuzz(func(t *testing.T, p []byte, how uint8) {
		person := vt.New(vt.Options{Cols: cols, Rows: rows, Cell: image.Pt(10, 20), Reply: func(b []byte) { t.Fatalf("%q is answered with %q", p, b) }})
		c := New(&passthrough.Filter{}, newShape([...]graphics.Protocol{graphics.Blocks, graphics.Off, graphics.Kitty, graphics.Sixel}[how%4]))
		for step := int(how/4) + 1; len(p) > 0; {
			n := min(step, len(p))
			person.Write(c.ConvertOutput(p[:n]))
			p = p[n:]
		}
		person.Write(c.AppendForget(nil))
	})
}

func TestChangedShapeRepaintsTerminal(t *testing.T) {
	c := New(&passthrough.Filter{}, newShape(graphics.Sixel))
	c.ConvertOutput([]byte("text" + kitty))
	other := newShape(graphics.Kitty)
	other.Cols = 30
	c.SetShape(other)
	person := vt.New(vt.Options{Cols: 30, Rows: rows, Cell: image.Pt(10, 20)})
	person.Write(c.ConvertOutput([]byte("!")))
	if got := strings.TrimSpace(person.Text()); got != "text\n       !" {
		t.Errorf("it shows %q", got)
	}
	_, first, end := person.Bounds()
	if l := person.Lines(first, int(end-first)); len(l[0].Line.Pictures) != 1 || len(l[1].Line.Pictures) != 1 {
		t.Errorf("its pictures are %+v", l)
	}
	if forget := string(c.AppendForget(nil)); !strings.Contains(forget, "a=d,q=2,d=I,i=") {
		t.Errorf("they go by %q", forget)
	}
}

func TestPictureInPiecesIsPaintedOnce(t *testing.T) {
	c := New(&passthrough.Filter{}, newShape(graphics.Kitty))
	var got []byte
	for _, p := range []string{"text", "\x1b_Ga=T,f=24,s=1,v=1,c=3,r=2,q=2,m=1;AA\x1b\\", "\x1b_Gm=1;A\x1b\\", "\x1b_Gm=0;A\x1b\\", "more"} {
		got = append(got, c.ConvertOutput([]byte(p))...)
	}
	if n := strings.Count(string(got), beginSync); n != 1 {
		t.Errorf("the screen is painted %d times: %q", n, got)
	}
}

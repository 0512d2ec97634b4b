package screen

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"tandem/engine/base/cellwidth"
	"tandem/engine/screen/vt"
	"tandem/panes/kit/text"
	"tandem/tests/seed"
)

// terminals treat clusters differently. On each, the effect shows in text that has the
// same width on all of them.
var terminals = []struct {
	name     string
	clusters bool // treats clusters as one character, and says so
	instead  func(cluster string) string
}{
	{"by code point", false, nil},
	{"first code point", true, func(c string) string {
		first := strings.Split(c, "")[0]
		return strings.Repeat("#", min(max(cellwidth.Of(c), 1), max(cellwidth.Of(first), 1)))
	}},
	{"at most two", true, nil},
}

// showOn writes to a terminal and returns its text.
func showOn(term *vt.Terminal, instead func(string) string, written string) {
	var b strings.Builder
	for written != "" {
		seq, width, n, _ := ansi.DecodeSequence(written, ansi.NormalState, nil)
		if width == 0 {
			b.WriteString(seq)
			written = written[n:]
			continue
		}
		cluster := cellwidth.Cluster(written)
		written = written[len(cluster):]
		if instead != nil && len([]rune(cluster)) > 1 {
			cluster = instead(cluster)
		}
		b.WriteString(cluster)
	}
	term.Write([]byte(b.String()))
}

// TestColumnsStayAlignedOnEveryTerminal draws rows of clusters between letters, which must
// be in the columns of the layout.
func TestColumnsStayAlignedOnEveryTerminal(t *testing.T) {
	piece := rapid.SampledFrom([]string{"กำ", "น้ำ", "ກຳ", "की", "क्ष", "क्या", "स्त्री", "நி", "ｶﾞ", "e\u0301", "漢", "한", "🇩🇪", " ", "\u1112\u1161\u11ab",
		"\x1b[1m", "\x1b[m", "\x1b]66;w=2;क्या\x1b\\", "\x1b[1m\u093e", "\x1b[m🇩"})
	for _, o := range terminals {
		t.Run(o.name, func(t *testing.T) {
			canvas := newCanvas(t)
			seed.Check(t, func(rt *rapid.T) {
				c := canvas.restart()
				c.enterScreen()
				c.updateFrame(func(f *frame) { f.clusters = o.clusters })
				term := vt.New(vt.Options{Cols: 20, Rows: 3})
				for range rapid.IntRange(1, 3).Draw(rt, "frames") {
					row, want := "", []int(nil)
					x := 0
					for range rapid.IntRange(0, 6).Draw(rt, "pieces") {
						p := piece.Draw(rt, "piece")
						row += p + "|"
						x += text.Width(p)
						if x < 20 {
							want = append(want, x)
						}
						x++
					}
					written := c.showView(viewOf(row, "below"))
					showOn(term, o.instead, written)
					if got := barColumns(term); !equalInts(got, want) {
						rt.Fatalf("%q has letters in columns %v, want %v; written %q", row, got, want, written)
					}
					if !strings.HasPrefix(strings.Split(term.Text(), "\n")[1], "below") {
						rt.Fatalf("%q wraps: %q", row, term.Text())
					}
				}
			})
		})
	}
}

// barColumns returns the columns of the first row with a bar.
func barColumns(term *vt.Terminal) (at []int) {
	x := 0
	for _, r := range term.Lines(0, 1)[0].Line.Runs {
		end := x + r.Cells
		for rest := r.Text; rest != ""; {
			c, w := cellwidth.Fit(rest, end-x)
			if strings.HasPrefix(c, "|") {
				at = append(at, x)
			}
			x, rest = x+w, rest[len(c):]
		}
		x = end
	}
	return at
}

func equalInts(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestWideCharacterSurvivesRemovalOfTextBeforeIt(t *testing.T) {
	c := newCanvas(t)
	c.enterScreen()
	term := vt.New(vt.Options{Cols: 20, Rows: 3})
	for _, row := range []string{"ab|漢|", "漢|", "漢字|漢|", "|漢|", "漢漢漢漢漢漢漢漢漢漢", "字|"} {
		term.Write([]byte(c.showView(viewOf(row))))
		if got := strings.TrimRight(term.Text(), "\n"); got != row {
			t.Errorf("%q is shown as %q", row, got)
		}
	}
}

// The text written last ends below the second half of a wide character.
func TestCursorInsideWideCharacterIsNotMovedByText(t *testing.T) {
	for _, wide := range []string{"漢", "🏽", "กำ"} {
		c := newCanvas(t)
		c.enterScreen()
		term := vt.New(vt.Options{Cols: 20, Rows: 3})
		for _, row := range []string{"abcd" + wide + "|", "abcd" + wide + "|x|", "abcd" + wide + "|yy|"} {
			view := viewOf(row, "below")
			view.Cursor = tea.NewCursor(5, 0)
			written := c.showView(view)
			showOn(term, nil, written)
			x := 6 + strings.Count(row, "x") + strings.Count(row, "y") + 1
			want := []int{6, x}
			if x == 7 {
				want = want[:1]
			}
			if got := barColumns(term); !equalInts(got, want) {
				t.Errorf("%q has bars in columns %v, want %v; written %q", row, got, want, written)
			}
		}
	}
}

func TestClustersKeepTheirColumns(t *testing.T) {
	for _, o := range terminals {
		c := newCanvas(t)
		c.enterScreen()
		c.updateFrame(func(f *frame) { f.clusters = o.clusters })
		term := vt.New(vt.Options{Cols: 20, Rows: 3})
		showOn(term, o.instead, c.showView(viewOf("क्या|\x1b[m🏽|", "below")))
		showOn(term, o.instead, c.showView(viewOf("क्या|\x1b[m🏽|กำ|กำ|กำ|กำ|", "below")))
		if got, want := barColumns(term), []int{3, 6, 9, 12, 15, 18}; !equalInts(got, want) {
			t.Errorf("%s: bars in columns %v, want %v", o.name, got, want)
		}
	}
}

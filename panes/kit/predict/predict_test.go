package predict

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem/engine/base/cellwidth"
	"tandem/engine/screen/styled"
	"tandem/keys"
	"tandem/tests/seed"
)

const cols, rows = 30, 4

// A page is a screen in a test: the text of each cell, and a cursor.
type page struct {
	cells [rows][cols]string
	x, y  int
	gone  bool // the cursor is hidden
}

func blankPage() *page {
	g := &page{}
	for y := range g.cells {
		for x := range g.cells[y] {
			g.cells[y][x] = " "
		}
	}
	return g
}

// pageWith returns a page with a text in row 1 and the cursor in it.
func pageWith(text string, x int) *page {
	g := blankPage()
	g.x, g.y = x, 1
	at := 0
	for text != "" {
		c, w := cellwidth.First(text)
		g.cells[1][at] = c
		if w > 1 {
			g.cells[1][at+1] = ""
		}
		at, text = at+w, text[len(c):]
	}
	return g
}

func (g *page) Size() (int, int)         { return cols, rows }
func (g *page) Cursor() (int, int, bool) { return g.x, g.y, !g.gone }
func (g *page) Cell(x, y int) Cell       { return Cell{Text: g.cells[y][x]} }
func (g *page) Pen() styled.Style        { return styled.Style{} }

// withOverlay returns row 1 with an overlay applied, and the cursor's column.
func (g *page) withOverlay(o Overlay) (string, int) {
	over := *g
	for _, c := range o.Cells {
		over.cells[c.Y][c.X] = c.Text
		if cellwidth.Of(c.Text) > 1 {
			over.cells[c.Y][c.X+1] = ""
		}
	}
	x := g.x
	if o.Cursor != nil {
		x = o.Cursor.X
	}
	return strings.TrimRight(strings.Join(over.cells[1][:], ""), " "), x
}

// A typist types with a predictor that shows its guesses whenever it may.
type typist struct {
	*testing.T
	Predictor
	screen *page
	mark   uint64
	now    time.Time
}

func newTypist(t *testing.T, screen *page) *typist {
	return &typist{T: t, Predictor: Predictor{Mode: Always, acked: 1}, mark: 1, screen: screen, now: time.Unix(1, 0)}
}

func charKey(s string) keys.Key { return keys.Key{Code: keys.Code([]rune(s)[0]), Text: s} }

// typeKeys types characters; < > ^ are left, right and backspace.
func (t *typist) typeKeys(text string) {
	for _, r := range text {
		k := charKey(string(r))
		switch r {
		case '<':
			k = keys.Key{Code: keys.Left}
		case '>':
			k = keys.Key{Code: keys.Right}
		case '^':
			k = keys.Key{Code: keys.Backspace}
		case '\r':
			k = keys.Key{Code: keys.Enter}
		}
		t.mark++
		t.RecordKey(k, t.mark, t.now, t.screen)
	}
}

// answer shows a screen that answers all keys but the last few, as many as open says.
func (t *typist) answer(screen *page, open int) {
	t.screen = screen
	t.Ack(t.mark - uint64(open))
	t.CheckGuesses(screen)
}

func (t *typist) checkRow(text string, x int) {
	t.Helper()
	if got, at := t.screen.withOverlay(t.MakeOverlay(t.now, t.screen)); got != text || at != x {
		t.Errorf("the user sees %q with the cursor at %d, want %q at %d", got, at, text, x)
	}
}

// newEchoing returns a typist at a prompt with one confirmed character.
func newEchoing(t *testing.T) *typist {
	p := newTypist(t, pageWith("$ ", 2))
	p.typeKeys("a")
	p.checkRow("$", 2)
	p.answer(pageWith("$ a", 3), 0)
	return p
}

func TestGuessesAreHiddenUntilProgramEchoes(t *testing.T) {
	p := newTypist(t, pageWith("$ ", 2))
	p.typeKeys("abc")
	p.checkRow("$", 2)
	p.answer(pageWith("$ a", 3), 3) // the screen arrives before its mark
	p.checkRow("$ abc", 5)
	p.answer(pageWith("$ abc", 5), 0)
	p.checkRow("$ abc", 5)
}

func TestPasswordIsNeverShown(t *testing.T) {
	p := newEchoing(t)
	p.typeKeys("\rsecret")
	p.checkRow("$ a", 3)
	ask := blankPage()
	ask.cells[2][0], ask.x, ask.y = ":", 1, 2
	for open := 6; open >= 0; open-- {
		p.answer(ask, open)
		if o := p.MakeOverlay(p.now, ask); len(o.Cells) > 0 || o.Cursor != nil {
			t.Errorf("with %d keys open it shows %+v", open, o)
		}
	}
}

func TestTypeaheadIsShownOnceNextPromptEchoes(t *testing.T) {
	p := newEchoing(t)
	p.typeKeys("\rls")
	p.answer(pageWith("# ", 2), 2)
	p.checkRow("#", 2)
	p.answer(pageWith("# l", 3), 2)
	p.checkRow("# ls", 4)
}

func TestInsertionMovesRestOfLine(t *testing.T) {
	p := newTypist(t, pageWith("$ git st       12:00", 2))
	p.typeKeys("X")
	p.answer(pageWith("$ Xgit st       12:00", 3), 0)
	p.typeKeys("YZ")
	p.checkRow("$ XYZgit st     12:00", 5) // text after a gap stays
	p.typeKeys("<^>")
	p.checkRow("$ XZgit st      12:00", 4)
}

func TestWideCharactersTakeTwoCells(t *testing.T) {
	p := newEchoing(t)
	p.typeKeys("漢字")
	p.checkRow("$ a漢字", 7)
	p.typeKeys("<b")
	p.checkRow("$ a漢b字", 6)
	p.typeKeys("^^")
	p.checkRow("$ a字", 3)
}

func TestBackspaceStopsAtStartOfInput(t *testing.T) {
	p := newEchoing(t)
	p.typeKeys("b^^^")
	p.checkRow("$", 2)
	p.typeKeys("z") // the program may do anything now
	p.checkRow("$", 2)
}

func TestWrongGuessIsRemoved(t *testing.T) {
	p := newEchoing(t)
	p.typeKeys("bcd")
	p.checkRow("$ abcd", 6)
	p.answer(pageWith("$ a", 3), 2)
	p.checkRow("$ a", 3)
	p.answer(pageWith("$ a*", 4), 0)
	p.checkRow("$ a*", 4)
}

func TestSuggestionAfterCursorIsNotMovedTwice(t *testing.T) {
	p := newEchoing(t)
	p.answer(pageWith("$ abc", 3), 0)
	p.typeKeys("b")
	p.checkRow("$ abbc", 4)
	p.answer(pageWith("$ abc", 4), 0)
	p.checkRow("$ abc", 4)
	p.typeKeys("x")
	p.checkRow("$ abc", 4)
	p.answer(pageWith("$ abx", 5), 0)
	p.typeKeys("yz")
	p.checkRow("$ abxyz", 7)
}

func TestNothingIsGuessedBeyondRightMargin(t *testing.T) {
	line := "$ " + strings.Repeat("a", cols-4)
	p := newTypist(t, pageWith(line, cols-2))
	p.typeKeys("b")
	p.answer(pageWith(line+"b", cols-1), 0)
	p.typeKeys("cd")
	p.checkRow(line+"bc", cols-1)
	full := pageWith(line+"bc", 0)
	full.y = 2
	p.answer(full, 1)
	next := pageWith(line+"bc", 1)
	next.y, next.cells[2][0] = 2, "d"
	p.answer(next, 0)
	p.typeKeys("e")
	if o := p.MakeOverlay(p.now, next); len(o.Cells) != 1 || o.Cells[0].Position != (Position{1, 2}) {
		t.Errorf("in the next row it shows %+v", o)
	}
}

func TestHiddenCursorStopsGuessing(t *testing.T) {
	p := newEchoing(t)
	p.screen.gone = true
	p.typeKeys("b")
	p.checkRow("$ a", 3)
}

func TestResetDropsAllGuesses(t *testing.T) {
	p := newEchoing(t)
	p.typeKeys("bcd")
	p.Reset()
	p.checkRow("$ a", 3)
}

func TestGuessesAreShownOnSlowLinkOrLateAnswer(t *testing.T) {
	p := newEchoing(t)
	p.Mode = Auto
	p.RecordRTT(10 * time.Millisecond)
	p.typeKeys("b")
	p.checkRow("$ a", 3)
	at, ok := p.NextChange()
	if !ok || at.Sub(p.now) != late {
		t.Errorf("look again at %v, %v", at, ok)
	}
	p.now = at
	p.checkRow("$ ab", 4)
	p.answer(pageWith("$ ab", 4), 0)
	p.typeKeys("c")
	p.checkRow("$ ab", 4)
	for range 10 {
		p.RecordRTT(100 * time.Millisecond)
	}
	p.checkRow("$ abc", 5)
	p.Mode = Off
	p.checkRow("$ ab", 4)
}

// A lineEditor behaves as the predictor expects of a program.
type lineEditor struct {
	text []string
	at   int
}

func (l *lineEditor) pressKey(k rune) {
	switch {
	case k == '<':
		l.at--
	case k == '>':
		l.at++
	case k == '^':
		l.text = slices.Delete(l.text, l.at-1, l.at)
		l.at--
	default:
		l.text = slices.Insert(l.text, l.at, string(k))
		l.at++
	}
}

func (l *lineEditor) page() *page {
	return pageWith("$ "+strings.Join(l.text, ""), 2+cellwidth.Of(strings.Join(l.text[:l.at], "")))
}

func (l *lineEditor) clone() *lineEditor { return &lineEditor{slices.Clone(l.text), l.at} }

// In an editor behaving as predicted, the user always sees everything typed, however much
// of it is unanswered.
func TestLineEditorShowsEverythingTyped(t *testing.T) {
	seed.Check(t, func(r *rapid.T) {
		p := newEchoing(t)
		there := &lineEditor{[]string{"a"}, 1}
		here := there.clone()
		var way []rune
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			if len(way) > 0 && rapid.Bool().Draw(r, "answer") {
				there.pressKey(way[0])
				way = way[1:]
				echoed := rapid.IntRange(0, len(way)).Draw(r, "echoed before its mark")
				ahead := there.clone()
				for _, k := range way[:echoed] {
					ahead.pressKey(k)
				}
				p.answer(ahead.page(), len(way))
			} else {
				k := rapid.SampledFrom([]rune("xyz漢<>^")).Draw(r, "key")
				if here.at == 0 && (k == '<' || k == '^') || here.at == len(here.text) && k == '>' || len(here.text) > 10 && k != '^' {
					continue
				}
				way = append(way, k)
				here.pressKey(k)
				p.typeKeys(string(k))
			}
			want, x := here.page().withOverlay(Overlay{})
			if got, at := p.screen.withOverlay(p.MakeOverlay(p.now, p.screen)); got != want || at != x {
				r.Fatalf("the user sees %q, %d; typed was %q, %d", got, at, want, x)
			}
		}
	})
}

// Whatever a program does, no guess remains once everything is answered, nor does one for
// an answered key.
func FuzzNoGuessOutlivesItsAnswer(f *testing.F) {
	f.Add([]byte("abc\x80\x90<\xa0^\xc0"))
	f.Add([]byte("aaa\x81\x82\x83\r\x84<<xyz\xff"))
	f.Fuzz(func(t *testing.T, steps []byte) {
		p := newTypist(t, pageWith("$ ", 2))
		for _, b := range steps {
			switch {
			case b < 0x80:
				p.typeKeys(string(rune(max(b, '\r'))))
			case b < 0xf0: // the program prints somewhere
				screen := *p.screen
				screen.y, screen.x = int(b&3), int(b>>2)%(cols+1)
				screen.cells[screen.y][min(screen.x, cols-1)] = string('a' + rune(b&7))
				p.answer(&screen, int(min(uint64(b&7), p.mark-min(p.acked, p.mark))))
			case b < 0xf8:
				p.mark++
				p.RecordUnknown(p.mark)
			default:
				p.Reset()
			}
			o := p.MakeOverlay(p.now, p.screen)
			for _, c := range o.Cells {
				if c.X >= cols || c.Y >= rows || c.Text == p.screen.cells[c.Y][c.X] || p.guesses[c.Position].mark <= p.acked {
					t.Fatalf("it shows %+v, %d is answered", c, p.acked)
				}
			}
		}
		p.answer(p.screen, 0)
		if o := p.MakeOverlay(p.now, p.screen); len(o.Cells) > 0 || o.Cursor != nil {
			t.Errorf("when all is answered it shows %+v", o)
		}
	})
}

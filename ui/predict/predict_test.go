package predict

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tandem/engine/cellwidth"
	"tandem/engine/styled"
	"tandem/keys"
)

const cols, rows = 30, 4

// A page is a screen in a test: a text for each cell, and a cursor.
type page struct {
	cells [rows][cols]string
	x, y  int
	gone  bool // the cursor is not shown
}

func blank() *page {
	g := &page{}
	for y := range g.cells {
		for x := range g.cells[y] {
			g.cells[y][x] = " "
		}
	}
	return g
}

// shows is a page with a text in row 1 and the cursor in it.
func shows(text string, x int) *page {
	g := blank()
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

// with is the page with an overlay, as text of row 1 and the cursor.
func (g *page) with(o Overlay) (string, int) {
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

// A typist types with a predictor that always shows what it may.
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

func char(s string) keys.Key { return keys.Key{Code: keys.Code([]rune(s)[0]), Text: s} }

// types types characters, and for < > ^ the keys left, right and backspace.
func (t *typist) types(text string) {
	for _, r := range text {
		k := char(string(r))
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

// answers shows a screen, as the answer to all but the last few keys.
func (t *typist) answers(screen *page, open int) {
	t.screen = screen
	t.Ack(t.mark - uint64(open))
	t.CheckGuesses(screen)
}

func (t *typist) sees(text string, x int) {
	t.Helper()
	if got, at := t.screen.with(t.MakeOverlay(t.now, t.screen)); got != text || at != x {
		t.Errorf("the user sees %q with the cursor at %d, want %q at %d", got, at, text, x)
	}
}

// echoing is at a prompt where one character was confirmed.
func echoing(t *testing.T) *typist {
	p := newTypist(t, shows("$ ", 2))
	p.types("a")
	p.sees("$", 2)
	p.answers(shows("$ a", 3), 0)
	return p
}

func TestNothingIsShownUntilTheProgramHasEchoed(t *testing.T) {
	p := newTypist(t, shows("$ ", 2))
	p.types("abc")
	p.sees("$", 2)
	p.answers(shows("$ a", 3), 3) // it is there before its mark
	p.sees("$ abc", 5)
	p.answers(shows("$ abc", 5), 0)
	p.sees("$ abc", 5)
}

func TestAPasswordIsNeverShown(t *testing.T) {
	p := echoing(t)
	p.types("\rsecret")
	p.sees("$ a", 3)
	ask := blank()
	ask.cells[2][0], ask.x, ask.y = ":", 1, 2
	for open := 6; open >= 0; open-- {
		p.answers(ask, open)
		if o := p.MakeOverlay(p.now, ask); len(o.Cells) > 0 || o.Cursor != nil {
			t.Errorf("with %d keys open it shows %+v", open, o)
		}
	}
}

func TestKeysTypedAheadAreShownOnceTheNextPromptEchoes(t *testing.T) {
	p := echoing(t)
	p.types("\rls")
	p.answers(shows("# ", 2), 2)
	p.sees("#", 2)
	p.answers(shows("# l", 3), 2)
	p.sees("# ls", 4)
}

func TestWhatIsTypedInALinePushesTheRestAlong(t *testing.T) {
	p := newTypist(t, shows("$ git st       12:00", 2))
	p.types("X")
	p.answers(shows("$ Xgit st       12:00", 3), 0)
	p.types("YZ")
	p.sees("$ XYZgit st     12:00", 5) // what stands behind a gap stays
	p.types("<^>")
	p.sees("$ XZgit st      12:00", 4)
}

func TestWideCharactersTakeTwoCells(t *testing.T) {
	p := echoing(t)
	p.types("漢字")
	p.sees("$ a漢字", 7)
	p.types("<b")
	p.sees("$ a漢b字", 6)
	p.types("^^")
	p.sees("$ a字", 3)
}

func TestBackspaceStopsAtWhatWasTyped(t *testing.T) {
	p := echoing(t)
	p.types("b^^^")
	p.sees("$", 2)
	p.types("z") // the program may do anything by now
	p.sees("$", 2)
}

func TestAWrongGuessVanishes(t *testing.T) {
	p := echoing(t)
	p.types("bcd")
	p.sees("$ abcd", 6)
	p.answers(shows("$ a", 3), 2)
	p.sees("$ a", 3)
	p.answers(shows("$ a*", 4), 0)
	p.sees("$ a*", 4)
}

func TestASuggestionBehindTheCursorIsNotPushedTwice(t *testing.T) {
	p := echoing(t)
	p.answers(shows("$ abc", 3), 0)
	p.types("b")
	p.sees("$ abbc", 4)
	p.answers(shows("$ abc", 4), 0)
	p.sees("$ abc", 4)
	p.types("x")
	p.sees("$ abc", 4)
	p.answers(shows("$ abx", 5), 0)
	p.types("yz")
	p.sees("$ abxyz", 7)
}

func TestNothingIsGuessedBehindTheRightMargin(t *testing.T) {
	line := "$ " + strings.Repeat("a", cols-4)
	p := newTypist(t, shows(line, cols-2))
	p.types("b")
	p.answers(shows(line+"b", cols-1), 0)
	p.types("cd")
	p.sees(line+"bc", cols-1)
	full := shows(line+"bc", 0)
	full.y = 2
	p.answers(full, 1)
	next := shows(line+"bc", 1)
	next.y, next.cells[2][0] = 2, "d"
	p.answers(next, 0)
	p.types("e")
	if o := p.MakeOverlay(p.now, next); len(o.Cells) != 1 || o.Cells[0].Position != (Position{1, 2}) {
		t.Errorf("in the next row it shows %+v", o)
	}
}

func TestAHiddenCursorTellsNothing(t *testing.T) {
	p := echoing(t)
	p.screen.gone = true
	p.types("b")
	p.sees("$ a", 3)
}

func TestResetForgetsAllGuesses(t *testing.T) {
	p := echoing(t)
	p.types("bcd")
	p.Reset()
	p.sees("$ a", 3)
}

func TestGuessesAreShownWhenTheWayIsLongOrAnAnswerLate(t *testing.T) {
	p := echoing(t)
	p.Mode = Auto
	p.RecordRTT(10 * time.Millisecond)
	p.types("b")
	p.sees("$ a", 3)
	at, ok := p.NextChange()
	if !ok || at.Sub(p.now) != late {
		t.Errorf("look again at %v, %v", at, ok)
	}
	p.now = at
	p.sees("$ ab", 4)
	p.answers(shows("$ ab", 4), 0)
	p.types("c")
	p.sees("$ ab", 4)
	for range 10 {
		p.RecordRTT(100 * time.Millisecond)
	}
	p.sees("$ abc", 5)
	p.Mode = Off
	p.sees("$ ab", 4)
}

// A lineEditor is what the program does.
type lineEditor struct {
	text []string
	at   int
}

func (l *lineEditor) key(k rune) {
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
	return shows("$ "+strings.Join(l.text, ""), 2+cellwidth.Of(strings.Join(l.text[:l.at], "")))
}

func (l *lineEditor) clone() *lineEditor { return &lineEditor{slices.Clone(l.text), l.at} }

// In an editor that does what is guessed, the person sees at any time all that was
// typed, whatever of it is on the way.
func TestInALineEditorEverythingTypedIsSeen(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := echoing(t)
		there := &lineEditor{[]string{"a"}, 1}
		here := there.clone()
		var way []rune
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			if len(way) > 0 && rapid.Bool().Draw(r, "answer") {
				there.key(way[0])
				way = way[1:]
				echoed := rapid.IntRange(0, len(way)).Draw(r, "echoed before its mark")
				ahead := there.clone()
				for _, k := range way[:echoed] {
					ahead.key(k)
				}
				p.answers(ahead.page(), len(way))
			} else {
				k := rapid.SampledFrom([]rune("xyz漢<>^")).Draw(r, "key")
				if here.at == 0 && (k == '<' || k == '^') || here.at == len(here.text) && k == '>' || len(here.text) > 10 && k != '^' {
					continue
				}
				way = append(way, k)
				here.key(k)
				p.types(string(k))
			}
			want, x := here.page().with(Overlay{})
			if got, at := p.screen.with(p.MakeOverlay(p.now, p.screen)); got != want || at != x {
				r.Fatalf("the user sees %q, %d; typed was %q, %d", got, at, want, x)
			}
		}
	})
}

// Whatever a program does, nothing guessed stands once all is answered, and never
// what was answered.
func FuzzNoGuessOutlivesItsAnswer(f *testing.F) {
	f.Add([]byte("abc\x80\x90<\xa0^\xc0"))
	f.Add([]byte("aaa\x81\x82\x83\r\x84<<xyz\xff"))
	f.Fuzz(func(t *testing.T, steps []byte) {
		p := newTypist(t, shows("$ ", 2))
		for _, b := range steps {
			switch {
			case b < 0x80:
				p.types(string(rune(max(b, '\r'))))
			case b < 0xf0: // the program prints something somewhere
				screen := *p.screen
				screen.y, screen.x = int(b&3), int(b>>2)%(cols+1)
				screen.cells[screen.y][min(screen.x, cols-1)] = string('a' + rune(b&7))
				p.answers(&screen, int(min(uint64(b&7), p.mark-min(p.acked, p.mark))))
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
		p.answers(p.screen, 0)
		if o := p.MakeOverlay(p.now, p.screen); len(o.Cells) > 0 || o.Cursor != nil {
			t.Errorf("when all is answered it shows %+v", o)
		}
	})
}

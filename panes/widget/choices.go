package widget

import (
	"cmp"
	"slices"
	"strings"

	"github.com/junegunn/fzf/src/util"
)

// A Choice is one of the things that Choices offer.
type Choice struct {
	Kind    string // what it is, in a word; a query may begin with it
	Sign    string // before the text, one cell
	SignInk Ink
	Text    string // what is searched and shown, as it came
	Also    string // other words that find it
	Words   string // more of them, which are only found by how they begin
	Detail  string // at the right, fit for one row
	IsKey   bool   // Detail is a key
	Late    bool   // it is listed after all others that match
	Extra   bool   // it makes one more or does something with all: it is not counted
	Number  int    // the caller's, to know it by
	ID      string // what it is known by through Renew; "" for its text
}

// ChoicesWidth is how wide a list to choose from is whose entries are short.
const ChoicesWidth = 84

// Choices are a list that is narrowed by typing, best match first. The matched
// letters are marked.
type Choices struct {
	all    []Choice
	texts  []util.Chars // of all
	also   []util.Chars
	query  Query
	shown  []int // of all, in their order on the screen
	cursor int
	top    int
	rows   int // on the screen, the last time
	kinds  int // cells of the widest kind
}

// Set replaces what there is to choose from; what the cursor is on stays so.
func (c *Choices) Set(all []Choice) {
	before, had := c.Selected()
	at := c.cursor
	c.replace(all)
	if had && at > 0 {
		c.Select(before.Number)
	}
}

// Renew replaces what there is to choose from by a newer state of it, in which
// the numbers may be others: the cursor stays on what is the same by its kind
// and ID, and that where it is on the screen.
func (c *Choices) Renew(all []Choice) {
	before, had := c.Selected()
	above := c.cursor - c.top
	c.replace(all)
	if !had {
		return
	}
	same := func(i int) bool {
		now := &c.all[i]
		return now.Kind == before.Kind && now.ID == before.ID && (now.ID != "" || now.Text == before.Text)
	}
	if i := slices.IndexFunc(c.shown, same); i >= 0 {
		c.cursor, c.top = i, max(i-above, 0)
	}
}

func (c *Choices) replace(all []Choice) {
	c.all = all
	c.texts, c.also, c.kinds = make([]util.Chars, len(all)), make([]util.Chars, len(all)), 0
	for i := range all {
		c.texts[i] = util.ToChars([]byte(all[i].Text))
		c.also[i] = util.ToChars([]byte(all[i].Also))
		c.kinds = max(c.kinds, Width(all[i].Kind))
	}
	c.arrange()
}

// Select puts the cursor on a choice by its number, if it is shown.
func (c *Choices) Select(number int) {
	if i := slices.IndexFunc(c.shown, func(i int) bool { return c.all[i].Number == number }); i >= 0 {
		c.cursor = i
	}
}

// Search shows what matches: every word of the query, fuzzily, in any order.
func (c *Choices) Search(query string) {
	c.query = NewQuery(query)
	c.arrange()
}

// arrange finds what is shown and puts the cursor on the first.
func (c *Choices) arrange() {
	c.cursor, c.top = 0, 0
	scores := make([]int, len(c.all))
	c.shown = c.shown[:0]
	for i := range c.all {
		score, ok := c.score(i)
		if !ok {
			continue
		}
		scores[i] = score
		c.shown = append(c.shown, i)
	}
	if len(c.query.words) == 0 || len(c.shown) == 0 {
		return
	}
	// Letters that are strewn over a text are a match by chance beside a good one.
	best := slices.Max(scores)
	c.shown = slices.DeleteFunc(c.shown, func(i int) bool { return 2*scores[i] < best })
	slices.SortStableFunc(c.shown, func(a, b int) int {
		return cmp.Or(late(&c.all[a])-late(&c.all[b]), cmp.Compare(scores[b], scores[a]))
	})
}

func late(c *Choice) int {
	if c.Late {
		return 1
	}
	return 0
}

// What a word is worth that is in the other words of a choice, of the worth that
// it would have in its text; and of each letter of one that its kind, or one of its
// words, begins with.
const (
	alsoShare = 3 // quarters
	kindScore = 16
	// fineness parts matches of the same worth by where they begin.
	fineness = 16
)

// score is how well a choice matches all words.
func (c *Choices) score(i int) (sum int, ok bool) {
	for _, w := range c.query.words {
		best := 0
		if r, _ := w.match(&c.texts[i], false, c.query.slab); r.Start >= 0 {
			best = r.Score*fineness + max(fineness-1-r.Start, 0)
		}
		if r, _ := w.match(&c.also[i], false, c.query.slab); r.Start >= 0 {
			best = max(best, r.Score*fineness*alsoShare/4)
		}
		if typed := string(w.runes); len(w.runes) > 2 && (strings.HasPrefix(c.all[i].Kind, typed) || beginsWord(c.all[i].Words, typed)) {
			best = max(best, kindScore*len(w.runes)*fineness)
		}
		if best == 0 {
			return 0, false
		}
		sum += best
	}
	return sum, true
}

// beginsWord reports whether one of words begins with what is typed.
func beginsWord(words, typed string) bool {
	return strings.Contains(" "+words, " "+typed)
}

// Len is how many choices are shown, and how many there are.
func (c *Choices) Len() (shown, all int) { return len(c.shown), len(c.all) }

// Count is how many there are, but for extra ones.
func (c *Choices) Count() (shown, all int) {
	for i := range c.all {
		if !c.all[i].Extra {
			all++
		}
	}
	for _, i := range c.shown {
		if !c.all[i].Extra {
			shown++
		}
	}
	return shown, all
}

// Selected is the choice under the cursor.
func (c *Choices) Selected() (Choice, bool) {
	if c.cursor >= len(c.shown) {
		return Choice{}, false
	}
	return c.all[c.shown[c.cursor]], true
}

// Move moves the cursor.
func (c *Choices) Move(rows int) {
	c.cursor = max(min(c.cursor+rows, len(c.shown)-1), 0)
}

// Page is how many rows there were the last time.
func (c *Choices) Page() int { return max(c.rows, 1) }

// Go puts the cursor on row y of what was drawn, and reports whether there is a
// choice.
func (c *Choices) Go(y int) bool {
	if y < 0 || y >= c.rows || c.top+y >= len(c.shown) {
		return false
	}
	c.cursor = c.top + y
	return true
}

// Draw gives h rows of w cells.
func (c *Choices) Draw(w, h int, look *Look) []string {
	c.rows = h
	c.top = Follow(c.top, c.cursor, len(c.shown), h)
	rows := make([]string, 0, h)
	for y := range h {
		if c.top+y < len(c.shown) {
			rows = append(rows, c.drawRow(c.shown[c.top+y], c.top+y == c.cursor, w, look))
			continue
		}
		rows = append(rows, Spaces(w))
	}
	return rows
}

// Widths below which only the text of a choice is shown, and below which its kind
// is left out.
const (
	narrowChoices = 32
	kindChoices   = 48
)

func (c *Choices) drawRow(i int, cursor bool, w int, look *Look) string {
	one := &c.all[i]
	r := Row{Plain: cursor}
	narrow := w < narrowChoices
	mark := " "
	if cursor {
		mark = look.Glyphs.Selected
	}
	r.Add(mark, look.Accent)
	if c.kinds > 0 && w >= kindChoices {
		r.Add(" "+Pad(one.Kind, c.kinds), look.Dim)
	}
	r.Add(" "+Fit(one.Sign, 1)+" ", one.SignInk)
	detail := Clip(one.Detail, max(w*2/5, w-r.Cells-3-Width(Clean(one.Text))))
	if joins(detail) || narrow {
		detail = ""
	}
	room := w - r.Cells - 1
	if detail != "" {
		room -= Width(detail) + 2
	}
	MarkText(one.Text, c.query.places(&c.texts[i]), look).Draw(&r, max(room, 0), look.Text, look.Match, look)
	if detail != "" {
		ink := look.Dim
		if one.IsKey {
			ink = look.Key
		}
		r.Add("  "+detail, ink)
	}
	r.Add(Spaces(w-r.Cells), "")
	if cursor {
		return look.Selected.Text(r.Text.String())
	}
	return r.Text.String()
}

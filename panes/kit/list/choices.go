// Package list holds the parts of lists: rows with marked matches, choices with a search, the sign
// for position and filter, scroll bars, and what the mouse does in a list. It does not depend on
// what is listed.
package list

import (
	"cmp"
	"slices"
	"strings"

	"github.com/junegunn/fzf/src/util"

	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A Choice is an entry of Choices.
type Choice struct {
	Kind    string // its kind in a word; a query may begin with it
	Sign    string // before the text, one cell
	SignInk look.Ink
	Text    string // searched and shown
	Also    string // other words finding it
	Words   string // further words, found only by their beginnings
	Detail  string // at the right, ready to draw
	IsKey   bool   // Detail is a key
	Late    bool   // listed after all other matches
	Extra   bool   // an action rather than an entry: not counted
	Number  int    // the caller's identifier
	ID      string // identifies it in Renew; "": its text does
}

// ChoicesWidth is the width of a list of short entries.
const ChoicesWidth = 84

// Choices is a list that the user narrows by typing. The best match comes first, and the matched
// letters are marked.
type Choices struct {
	all    []Choice
	texts  []util.Chars // Text of each choice in all, prepared for the search
	also   []util.Chars // Also of each choice, prepared likewise
	query  Query
	shown  []int // indexes into all, in display order
	cursor int
	top    int
	rows   int // when last drawn
	kinds  int // cells of the widest kind
}

// Set replaces the entries. If the user has moved the cursor, it stays on its entry.
func (c *Choices) Set(all []Choice) {
	before, had := c.Selected()
	at := c.cursor
	c.replaceAll(all)
	if had && at > 0 {
		c.Select(before.Number)
	}
}

// Renew replaces the entries with their newer state; their numbers may differ. The cursor stays on
// the entry with the same kind and ID, at the same place on the screen.
func (c *Choices) Renew(all []Choice) {
	before, had := c.Selected()
	above := c.cursor - c.top
	c.replaceAll(all)
	if !had {
		return
	}
	same := func(i int) bool {
		now := &c.all[i]
		return now.Kind == before.Kind && now.ID == before.ID && (now.ID != "" || now.Text == before.Text)
	}
	if i := slices.IndexFunc(c.shown, same); i >= 0 {
		// The choice stays on its row of the screen.
		c.cursor, c.top = i, max(i-above, 0)
	}
}

func (c *Choices) replaceAll(all []Choice) {
	c.all = all
	c.texts, c.also, c.kinds = make([]util.Chars, len(all)), make([]util.Chars, len(all)), 0
	for i := range all {
		c.texts[i] = util.ToChars([]byte(all[i].Text))
		c.also[i] = util.ToChars([]byte(all[i].Also))
		// Measure all entries, not only the visible ones, so that the column does not move while
		// the user types.
		c.kinds = max(c.kinds, text.Width(all[i].Kind))
	}
	c.sortVisible()
}

// Select moves the cursor to a visible choice by its number.
func (c *Choices) Select(number int) {
	if i := slices.IndexFunc(c.shown, func(i int) bool { return c.all[i].Number == number }); i >= 0 {
		c.cursor = i
	}
}

// Search shows the choices matching every word of the query, fuzzily and in any order.
func (c *Choices) Search(query string) {
	c.query = NewQuery(query)
	c.sortVisible()
}

// sortVisible selects and sorts the visible choices, and puts the cursor on the first.
func (c *Choices) sortVisible() {
	c.cursor, c.top = 0, 0
	scores := make([]int, len(c.all))
	c.shown = c.shown[:0]
	for i := range c.all {
		score, ok := c.scoreChoice(i)
		if !ok {
			continue
		}
		scores[i] = score
		c.shown = append(c.shown, i)
	}
	if len(c.query.words) == 0 || len(c.shown) == 0 {
		return
	}
	// Hide matches much worse than the best one: their letters are scattered over the text by
	// chance.
	best := slices.Max(scores)
	c.shown = slices.DeleteFunc(c.shown, func(i int) bool { return 2*scores[i] < best })
	slices.SortStableFunc(c.shown, func(a, b int) int {
		return cmp.Or(lateRank(&c.all[a])-lateRank(&c.all[b]), cmp.Compare(scores[b], scores[a]))
	})
}

func lateRank(c *Choice) int {
	if c.Late {
		return 1
	}
	return 0
}

// Weights of matches outside Text. A match in Also has alsoQuarters/4 of the score of one in Text.
// A word that begins the kind or one of Words scores kindScore per letter.
const (
	alsoQuarters = 3 // quarters
	kindScore    = 16
	// fineness orders equal matches by their position.
	fineness = 16
)

// scoreChoice returns how well a choice matches all words of the query.
func (c *Choices) scoreChoice(i int) (sum int, ok bool) {
	for _, w := range c.query.words {
		best := 0
		if r, _ := w.match(&c.texts[i], false, c.query.slab); r.Start >= 0 {
			best = r.Score*fineness + max(fineness-1-r.Start, 0)
		}
		if r, _ := w.match(&c.also[i], false, c.query.slab); r.Start >= 0 {
			best = max(best, r.Score*fineness*alsoQuarters/4)
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

// beginsWord reports whether any word in words begins with typed.
func beginsWord(words, typed string) bool {
	return strings.Contains(" "+words, " "+typed)
}

// Len returns the number of visible choices and the number of all choices.
func (c *Choices) Len() (shown, all int) { return len(c.shown), len(c.all) }

// Count is Len without extra choices.
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

func (c *Choices) Selected() (Choice, bool) {
	if c.cursor >= len(c.shown) {
		return Choice{}, false
	}
	return c.all[c.shown[c.cursor]], true
}

func (c *Choices) Move(rows int) {
	c.cursor = max(min(c.cursor+rows, len(c.shown)-1), 0)
}

// Page returns the number of rows when last drawn.
func (c *Choices) Page() int { return max(c.rows, 1) }

// Go moves the cursor to the choice drawn in row y. It returns false if there is none.
func (c *Choices) Go(y int) bool {
	if y < 0 || y >= c.rows || c.top+y >= len(c.shown) {
		return false
	}
	c.cursor = c.top + y
	return true
}

// Draw returns h rows of w cells.
func (c *Choices) Draw(w, h int, look *look.Look) []string {
	c.rows = h
	c.top = Follow(c.top, c.cursor, len(c.shown), h)
	rows := make([]string, 0, h)
	for i := c.top; i < min(c.top+h, len(c.shown)); i++ {
		// Show a kind only in the first of the rows that have it: a column of equal words says
		// nothing.
		kind := c.all[c.shown[i]].Kind
		if i > c.top && kind == c.all[c.shown[i-1]].Kind {
			kind = ""
		}
		rows = append(rows, c.drawRow(c.shown[i], kind, i == c.cursor, w, look))
	}
	return text.PadRows(rows, w, h)
}

// A list narrower than narrowChoices cells shows only the text of a choice. One narrower than
// kindChoices leaves out its kind.
const (
	minDetailWidth = 32
	minKindWidth   = 48
)

func (c *Choices) drawRow(i int, kind string, cursor bool, w int, look *look.Look) string {
	one := &c.all[i]
	r := Row{Plain: cursor}
	narrow := w < minDetailWidth
	mark := " "
	if cursor {
		mark = look.Glyphs.Selected
	}
	r.Add(mark, look.Accent)
	if c.kinds > 0 && w >= minKindWidth {
		r.Add(" "+text.Pad(kind, c.kinds), look.Dim)
	}
	r.Add(" "+text.Fit(one.Sign, 1)+" ", one.SignInk)
	// The detail gets two fifths of the row, or more if the text leaves more free.
	detail := text.Clip(one.Detail, max(w*2/5, w-r.Cells-3-text.Width(text.Clean(one.Text))))
	if text.JoinsSpace(detail) || narrow {
		detail = ""
	}
	room := w - r.Cells - 1
	if detail != "" {
		room -= text.Width(detail) + 2
	}
	MarkText(one.Text, c.query.places(&c.texts[i]), look).Draw(&r, max(room, 0), look.Text, look.Match, look)
	if detail != "" {
		ink := look.Dim
		if one.IsKey {
			ink = look.Key
		}
		r.Add("  "+detail, ink)
	}
	return r.Finish(w, look)
}

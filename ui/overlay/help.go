package overlay

import (
	"fmt"
	"regexp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// Help lists the keys, those of what has the keyboard first.
type Help struct {
	Sections []keymap.HelpSection
	Prefix   string // as it is shown
	Closed   func() // what is done when a key closes it; may be nil

	field     widget.Field // what is searched
	searching bool         // it has the keyboard
	pager     pager
	of        helpPage // what the pager shows
}

// A helpPage is what the rows of a Help are made from.
type helpPage struct {
	search      string
	width, room int
	look        widget.Look
}

// label is the keys of a row; the prefix is in the section's title.
func (u *Help) label(s keymap.HelpSection, r keymap.HelpRow) string {
	if s.Scope != keymap.ScopePrefix {
		return r.KeyText()
	}
	names := make([]string, len(r.Keys))
	for i, name := range r.Keys {
		names[i] = strings.TrimPrefix(name, u.Prefix+" ")
	}
	return strings.Join(names, " ")
}

func (u *Help) title(s keymap.HelpSection, group string) string {
	title := s.Title
	if s.Scope == keymap.ScopePrefix {
		title = "After " + u.Prefix
	}
	if group != "" {
		title += ": " + group
	}
	return title
}

func (u *Help) Scopes() []keymap.Scope {
	if u.searching {
		return []keymap.Scope{keymap.ScopePrompt}
	}
	return []keymap.Scope{keymap.ScopeHelp}
}

func (u *Help) Do(h Host, a keymap.Action) tea.Cmd {
	switch a {
	case keymap.HelpSearch:
		u.searching = true
	case keymap.Accept:
		u.searching = false
	case keymap.Cancel:
		u.searching = false
		u.field.Set("")
	case keymap.Close:
		h.Close()
		if u.Closed != nil {
			u.Closed()
		}
	default:
		u.pager.do(a)
	}
	return nil
}

func (u *Help) Type(_ Host, k tea.KeyPressMsg) tea.Cmd {
	switch {
	case !u.searching:
	case k.Code == tea.KeyUp:
		u.pager.do(keymap.HelpUp)
	case k.Code == tea.KeyDown:
		u.pager.do(keymap.HelpDown)
	default:
		u.field.Type(k)
		u.pager.do(keymap.HelpFirst)
	}
	return nil
}

func (u *Help) Paste(_ Host, text string) tea.Cmd {
	if u.searching {
		u.field.Paste(text)
		u.pager.do(keymap.HelpFirst)
	}
	return nil
}

// Mouse handles the mouse inside the box.
func (u *Help) Mouse(_ Host, e keys.Mouse) tea.Cmd {
	u.pager.wheel(e)
	return nil
}

// Dismiss closes the overlay.
func (u *Help) Dismiss(h Host) { h.Close() }

func (u *Help) Draw(h Host, w, height int) (rows []string, width, x, y int) {
	look, low := h.Look(), height < lowScreen
	width, room := w-6, height-7
	if low {
		width, room = w-4, height-4
	}
	if width = max(min(width, 2*mostHelpColumn+helpGap), 1); width < 2*leastHelpColumn+helpGap {
		width = min(width, helpColumn)
	} else {
		width -= (width - helpGap) % 2
	}
	u.page(width, room, look)
	rows = []string{u.head(width, look)}
	if !low {
		rows = append(rows, look.Rule.Text(rule(width)))
	}
	shown := u.pager.inSight()
	rows = append(rows, shown...)
	for range u.pager.view.Height() - len(shown) {
		rows = append(rows, widget.Spaces(width))
	}
	if !u.searching {
		return rows, width, -1, 0
	}
	_, x = u.field.Draw(u.fieldWidth(width))
	return rows, width, len(helpSearch) + x, 0
}

// Cells of help in one column at most, of one beside another, and between them.
const (
	helpColumn      = 96
	leastHelpColumn = 52
	mostHelpColumn  = 72
	helpGap         = 3
)

// page makes the rows that the pager shows, if they are not those already. The
// box stays as it is while it is searched.
func (u *Help) page(width, room int, look *widget.Look) {
	of := helpPage{u.field.Text(), width, room, *look}
	if u.pager.rows == nil || u.of != of {
		u.of = of
		height := max(min(len(u.lines("", width, look)), room), 1)
		u.pager.show(u.lines(of.search, width, look), height)
	}
}

const helpSearch = "/ "

// count is how many keys match, of how many.
func (u *Help) count() string {
	words, n, all := u.words(u.field.Text()), 0, 0
	for _, s := range u.Sections {
		all += len(s.Rows)
		for _, r := range s.Rows {
			if helpMatches(r, words) {
				n++
			}
		}
	}
	return " " + widget.Itoa(n) + "/" + widget.Itoa(all)
}

// head is the title, or what is searched.
func (u *Help) head(width int, look *widget.Look) string {
	if u.searching || u.field.Text() != "" {
		count := u.count()
		line, _ := u.field.Draw(u.fieldWidth(width))
		return look.Strong.Text(helpSearch) + look.Text.Text(line) + look.Dim.Text(widget.Clip(count, max(width-len(helpSearch)-1, 0)))
	}
	title := "Keys"
	if !u.pager.all() {
		first, all := u.pager.top(), len(u.pager.rows)
		place := fmt.Sprintf("%d–%d of %d", first+1, first+u.pager.view.Height(), all)
		title = widget.Fit(title, max(width-widget.Width(place)-1, 0))
		return look.Strong.Text(title) + look.Dim.Text(widget.Fit(" "+place, width-widget.Width(title)))
	}
	return look.Strong.Text(widget.Fit(title, width))
}

// fieldWidth is how many cells of the head what is searched has.
func (u *Help) fieldWidth(width int) int { return max(width-len(helpSearch)-len(u.count()), 1) }

// words are what has to be in all that is told of a key.
func (u *Help) words(search string) []string { return strings.Fields(strings.ToLower(search)) }

func (u *Help) Hints(h Host) []widget.Hint {
	if u.searching {
		return []widget.Hint{Hint(h.Bindings(), keymap.ScopePrompt, keymap.Accept, "done"), {Key: "↑ ↓", Does: "scroll"}, Hint(h.Bindings(), keymap.ScopePrompt, keymap.Cancel, "all keys")}
	}
	return []widget.Hint{Hint(h.Bindings(), keymap.ScopeHelp, keymap.HelpSearch, "search"), Choose(h.Bindings(), keymap.ScopeHelp, keymap.HelpDown, keymap.HelpUp, "scroll"),
		Hint(h.Bindings(), keymap.ScopeHelp, keymap.Close, "close")}
}

func (u *Help) labelWidth(w int) (label int) {
	for _, s := range u.Sections {
		for _, r := range s.Rows {
			label = max(label, widget.Width(u.label(s, r)))
		}
	}
	return min(label, w*2/5)
}

// lines are the groups with what a search has left of them, in two columns where
// there is room.
func (u *Help) lines(search string, w int, look *widget.Look) []string {
	if w < 2*leastHelpColumn+helpGap {
		return u.column(u.blocks(search, w, look), w)
	}
	w = (w - helpGap) / 2
	blocks := u.blocks(search, w, look)
	at := halfOf(blocks)
	left, right := u.column(blocks[:at], w), u.column(blocks[at:], w)
	rows := make([]string, max(len(left), len(right)))
	for i := range rows {
		for j, column := range [][]string{left, right} {
			if j > 0 {
				rows[i] += widget.Spaces(helpGap)
			}
			if i < len(column) {
				rows[i] += column[i]
			} else {
				rows[i] += widget.Spaces(w)
			}
		}
	}
	return rows
}

// halfOf is how many blocks stand on the left so that both sides are about as long.
func halfOf(blocks [][]string) (at int) {
	total, left := 0, 0
	for _, b := range blocks {
		total += len(b) + 1
	}
	for at < len(blocks) && left+len(blocks[at])/2 < total/2 {
		left += len(blocks[at]) + 1
		at++
	}
	return at
}

// column is blocks one below the other.
func (u *Help) column(blocks [][]string, w int) (lines []string) {
	for i, b := range blocks {
		if i > 0 {
			lines = append(lines, widget.Spaces(w))
		}
		lines = append(lines, b...)
	}
	return lines
}

// blocks are the rows of each group under its title.
func (u *Help) blocks(search string, w int, look *widget.Look) (blocks [][]string) {
	words, label := u.words(search), u.labelWidth(w)
	match := anyOf(words)
	for _, s := range u.Sections {
		group, begun := "", false
		for _, r := range s.Rows {
			if !helpMatches(r, words) {
				continue
			}
			if !begun || r.Group != group {
				group, begun = r.Group, true
				blocks = append(blocks, []string{look.Accent.Text(widget.Fit(u.title(s, group), w))})
			}
			last := &blocks[len(blocks)-1]
			*last = append(*last, u.entry(s, r, w, label, match, look)...)
		}
	}
	if len(blocks) == 0 {
		blocks = [][]string{{look.Dim.Text(widget.Fit("no key with that", w))}}
	}
	return blocks
}

// narrowHelp is the width below which what a key does stands below it.
const narrowHelp = 40

// entry is what is told of an action, with the words marked that were searched.
func (u *Help) entry(s keymap.HelpSection, r keymap.HelpRow, w, label int, match *regexp.Regexp, look *widget.Look) (rows []string) {
	marked := func(text string, w int, ink widget.Ink) string {
		return markAll(widget.Fit(text, w), match, ink, look.Found)
	}
	if w >= narrowHelp {
		keys := marked(u.label(s, r), label, look.Key)
		for _, line := range widget.WrapWords(r.Help, w-label-2) {
			rows = append(rows, keys+"  "+marked(line, w-label-2, look.Text))
			keys = widget.Spaces(label)
		}
		return rows
	}
	rows = []string{marked(u.label(s, r), w, look.Key)}
	for _, line := range widget.WrapWords(r.Help, max(w-1, 1)) {
		rows = append(rows, marked(" "+line, w, look.Text))
	}
	return rows
}

// anyOf finds words that were searched; nil without any.
func anyOf(words []string) *regexp.Regexp {
	if len(words) == 0 {
		return nil
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = regexp.QuoteMeta(word)
	}
	return regexp.MustCompile("(?i)" + strings.Join(quoted, "|"))
}

// markAll is a text in an ink, and what matches in another.
func markAll(text string, match *regexp.Regexp, ink, found widget.Ink) string {
	if match == nil {
		return ink.Text(text)
	}
	var out strings.Builder
	at := 0
	for _, m := range match.FindAllStringIndex(text, -1) {
		out.WriteString(ink.Text(text[at:m[0]]) + found.Text(text[m[0]:m[1]]))
		at = m[1]
	}
	return out.String() + ink.Text(text[at:])
}

// helpMatches reports whether all words are in what is told of an action.
func helpMatches(r keymap.HelpRow, words []string) bool {
	text := strings.ToLower(strings.Join([]string{r.KeyText(), r.Help, r.Label, r.Also, r.Group, string(r.Action)}, " "))
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// rule is a line across a box.
func rule(w int) string { return strings.Repeat("─", max(w, 0)) }

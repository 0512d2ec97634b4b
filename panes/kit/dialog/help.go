package dialog

import (
	"fmt"
	"regexp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/kit/field"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// Help lists the keys, starting with those of the focused scope.
type Help struct {
	Sections []keymap.HelpSection
	Prefix   string // the prefix key as it is displayed
	Closed   func() // called after a key closes the help; may be nil

	field     field.Field // the text of the search
	searching bool        // the search has the keyboard
	pager     pager
	shownPage helpPage // the page in the pager
}

// A helpPage has everything on which the drawn rows of a Help depend.
type helpPage struct {
	search      string
	width, room int
	look        look.Look
}

// rowKeys returns the keys of a row. It leaves out the prefix, which is in the title of the
// section.
func (u *Help) rowKeys(s keymap.HelpSection, r keymap.HelpRow) string {
	if s.Scope != keymap.ScopePrefix {
		return r.KeyText()
	}
	names := make([]string, len(r.Keys))
	for i, name := range r.Keys {
		names[i] = strings.TrimPrefix(name, u.Prefix+" ")
	}
	return strings.Join(names, " ")
}

func (u *Help) sectionTitle(s keymap.HelpSection, group string) string {
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
		u.pager.scrollBy(a)
	}
	return nil
}

func (u *Help) Type(_ Host, k tea.KeyPressMsg) tea.Cmd {
	switch {
	case !u.searching:
	case k.Code == tea.KeyUp:
		u.pager.scrollBy(keymap.HelpUp)
	case k.Code == tea.KeyDown:
		u.pager.scrollBy(keymap.HelpDown)
	default:
		u.field.Type(k)
		u.pager.scrollBy(keymap.HelpFirst)
	}
	return nil
}

func (u *Help) Paste(_ Host, text string) tea.Cmd {
	if u.searching {
		u.field.Paste(text)
		u.pager.scrollBy(keymap.HelpFirst)
	}
	return nil
}

func (u *Help) Traits() Traits { return Traits{Mouse: u.pager.handleMouse, Dismiss: Host.Close} }

func (u *Help) Draw(h Host, w, height int) (rows []string, width, x, y int) {
	look, low := h.Look(), height < minRoomyHeight
	free, room := w-helpSides, height-helpEnds
	if low {
		free, room = w-lowHelpSides, height-lowHelpEnds
	}
	width = helpWidth(free)
	u.updatePage(width, room, look)
	rows = []string{u.drawHead(width, look)}
	if !low {
		rows = append(rows, look.Rule.Text(horizontalRule(width)))
	}
	shown := u.pager.visibleRows()
	rows = text.PadRows(append(rows, shown...), width, len(rows)+u.pager.view.Height())
	if !u.searching {
		return rows, width, -1, 0
	}
	_, x = u.field.Draw(u.fieldWidth(width))
	return rows, width, len(helpSearch) + x, 0
}

const (
	helpColumn    = 96 // maximum width of a single column, in cells
	minHelpColumn = 52 // minimum width of each of two columns
	maxHelpColumn = 72 // maximum width of each of two columns
	helpGap       = 3  // cells between two columns

	helpSides = 6 // columns of the screen that the frame and the space around it need
	helpEnds  = 7 // rows of the screen that the frame, the space around it and the head need

	// The same on a low screen, where the help has no blank rows and no rule.
	lowHelpSides = 4
	lowHelpEnds  = 4
)

// helpWidth returns the width of the help in at most free cells. Two columns have the same width, so
// a cell that cannot be divided between them is left out.
func helpWidth(free int) int {
	width := max(min(free, 2*maxHelpColumn+helpGap), 1)
	if width < 2*minHelpColumn+helpGap {
		return min(width, helpColumn)
	}
	return width - (width-helpGap)%2
}

// updatePage draws the rows again if anything on which they depend has changed.
func (u *Help) updatePage(width, room int, look *look.Look) {
	of := helpPage{u.field.Text(), width, room, *look}
	if u.pager.rows == nil || u.shownPage != of {
		u.shownPage = of
		// The height is that of the full list: a search must not shrink the box.
		height := max(min(len(u.drawColumns("", width, look)), room), 1)
		u.pager.setRows(u.drawColumns(of.search, width, look), height)
	}
}

const helpSearch = "/ "

// countMatches returns the number of matching keys and of all, as in " 3/90".
func (u *Help) countMatches() string {
	words, n, all := u.searchWords(u.field.Text()), 0, 0
	for _, s := range u.Sections {
		all += len(s.Rows)
		for _, r := range s.Rows {
			if helpMatches(r, words) {
				n++
			}
		}
	}
	return " " + text.Itoa(n) + "/" + text.Itoa(all)
}

// drawHead draws the title, or the search line.
func (u *Help) drawHead(width int, look *look.Look) string {
	if u.searching || u.field.Text() != "" {
		count := u.countMatches()
		line, _ := u.field.Draw(u.fieldWidth(width))
		return look.Strong.Text(helpSearch) + look.Text.Text(line) + look.Dim.Text(text.Clip(count, max(width-len(helpSearch)-1, 0)))
	}
	title := "Keys"
	if !u.pager.isComplete() {
		first, all := u.pager.firstVisible(), len(u.pager.rows)
		place := fmt.Sprintf("%d–%d of %d", first+1, first+u.pager.view.Height(), all)
		title = text.Fit(title, max(width-text.Width(place)-1, 0))
		return look.Strong.Text(title) + look.Dim.Text(text.Fit(" "+place, width-text.Width(title)))
	}
	return look.Strong.Text(text.Fit(title, width))
}

// fieldWidth returns the width of the search field in cells.
func (u *Help) fieldWidth(width int) int { return max(width-len(helpSearch)-len(u.countMatches()), 1) }

// searchWords splits a search into words. All must occur in a row.
func (u *Help) searchWords(search string) []string { return strings.Fields(strings.ToLower(search)) }

func (u *Help) Hints(h Host) []keymap.Hint {
	if u.searching {
		return []keymap.Hint{h.Bindings().Hint(keymap.Accept, "done", keymap.ScopePrompt), {Key: "↑ ↓", Does: "scroll"}, h.Bindings().Hint(keymap.Cancel, "all keys", keymap.ScopePrompt)}
	}
	return []keymap.Hint{h.Bindings().Hint(keymap.HelpSearch, "search", keymap.ScopeHelp), h.Bindings().PairHint(keymap.HelpDown, keymap.HelpUp, "scroll", keymap.ScopeHelp),
		h.Bindings().Hint(keymap.Close, "close", keymap.ScopeHelp)}
}

func (u *Help) labelWidth(w int) (label int) {
	for _, s := range u.Sections {
		for _, r := range s.Rows {
			label = max(label, text.Width(u.rowKeys(s, r)))
		}
	}
	return min(label, w*2/5)
}

// drawColumns draws the groups that match a search, in two columns if w is large enough.
func (u *Help) drawColumns(search string, w int, look *look.Look) []string {
	if w < 2*minHelpColumn+helpGap {
		return u.joinBlocks(u.drawBlocks(search, w, look), w)
	}
	w = (w - helpGap) / 2
	blocks := u.drawBlocks(search, w, look)
	at := splitBlocks(blocks)
	left, right := u.joinBlocks(blocks[:at], w), u.joinBlocks(blocks[at:], w)
	rows := make([]string, max(len(left), len(right)))
	for i := range rows {
		for j, column := range [][]string{left, right} {
			if j > 0 {
				rows[i] += text.Spaces(helpGap)
			}
			if i < len(column) {
				rows[i] += column[i]
			} else {
				rows[i] += text.Spaces(w)
			}
		}
	}
	return rows
}

// splitBlocks returns how many blocks to put into the left column, so that both columns have a
// similar height.
func splitBlocks(blocks [][]string) (at int) {
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

// joinBlocks stacks blocks with a blank row between them.
func (u *Help) joinBlocks(blocks [][]string, w int) (lines []string) {
	for i, b := range blocks {
		if i > 0 {
			lines = append(lines, text.Spaces(w))
		}
		lines = append(lines, b...)
	}
	return lines
}

// drawBlocks draws the groups that have rows matching a search, each below its title.
func (u *Help) drawBlocks(search string, w int, look *look.Look) (blocks [][]string) {
	words, label := u.searchWords(search), u.labelWidth(w)
	match := matchAny(words)
	for _, s := range u.Sections {
		group, begun := "", false
		for _, r := range s.Rows {
			if !helpMatches(r, words) {
				continue
			}
			if !begun || r.Group != group {
				group, begun = r.Group, true
				blocks = append(blocks, []string{look.Accent.Text(text.Fit(u.sectionTitle(s, group), w))})
			}
			last := &blocks[len(blocks)-1]
			*last = append(*last, u.drawEntry(s, r, w, label, match, look)...)
		}
	}
	if len(blocks) == 0 {
		blocks = [][]string{{look.Dim.Text(text.Fit("no key with that", w))}}
	}
	return blocks
}

// minSideBySide is the minimum width for a key and its description side by side.
const minSideBySide = 40

// drawEntry draws the keys and description of an action, with the matches of a search
// marked.
func (u *Help) drawEntry(s keymap.HelpSection, r keymap.HelpRow, w, label int, match *regexp.Regexp, style *look.Look) (rows []string) {
	marked := func(content string, w int, ink look.Ink) string {
		return highlightMatches(text.Fit(content, w), match, ink, style.Found)
	}
	if w >= minSideBySide {
		keys := marked(u.rowKeys(s, r), label, style.Key)
		for _, line := range text.WrapWords(r.Help, w-label-2) {
			rows = append(rows, keys+"  "+marked(line, w-label-2, style.Text))
			keys = text.Spaces(label)
		}
		return rows
	}
	rows = []string{marked(u.rowKeys(s, r), w, style.Key)}
	for _, line := range text.WrapWords(r.Help, max(w-1, 1)) {
		rows = append(rows, marked(" "+line, w, style.Text))
	}
	return rows
}

// matchAny returns a pattern that matches any of the words; nil if there are no words.
func matchAny(words []string) *regexp.Regexp {
	if len(words) == 0 {
		return nil
	}
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = regexp.QuoteMeta(word)
	}
	return regexp.MustCompile("(?i)" + strings.Join(quoted, "|"))
}

// highlightMatches draws text in one ink, and the parts that match in the ink found.
func highlightMatches(text string, match *regexp.Regexp, ink, found look.Ink) string {
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

// helpMatches reports whether all words occur in the keys or the description of a row.
func helpMatches(r keymap.HelpRow, words []string) bool {
	text := strings.ToLower(strings.Join([]string{r.KeyText(), r.Help, r.Label, r.Also, r.Group, string(r.Action)}, " "))
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// horizontalRule draws a line across a box.
func horizontalRule(w int) string { return strings.Repeat("─", max(w, 0)) }

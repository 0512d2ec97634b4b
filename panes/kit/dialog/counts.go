package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// Counts shows lists of names with their counts, each with a bar.
type Counts struct {
	Title string
	Lists []CountList

	pager pager
}

// A CountList is one of these lists.
type CountList struct {
	Title string
	Rows  []api.NameCount
}

const (
	countsWidth = 96
	countCells  = 8  // minimum width of a number
	barCells    = 16 // width of the longest bar
)

func (u *Counts) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopeHelp} }

func (u *Counts) Do(h Host, a keymap.Action) tea.Cmd {
	if a == keymap.Close {
		h.Close()
		return nil
	}
	u.pager.scrollBy(a)
	return nil
}

func (u *Counts) Type(Host, tea.KeyPressMsg) tea.Cmd { return nil }
func (u *Counts) Paste(Host, string) tea.Cmd         { return nil }

func (u *Counts) Traits() Traits { return Traits{Mouse: u.pager.handleMouse} }

func (u *Counts) Draw(h Host, w, height int) (rows []string, width, x, y int) {
	look := h.Look()
	width = min(w-8, countsWidth)
	u.pager.setRows(u.drawLists(width, look), max(height-6, 3))
	rows = append(rows, look.Strong.Text(text.Fit(u.Title, width)), text.Spaces(width))
	rows = append(rows, u.pager.visibleRows()...)
	return rows, width, -1, 0
}

// Hints returns the keys of the overlay.
func (u *Counts) Hints(h Host) []keymap.Hint {
	leave := h.Bindings().Hint(keymap.Close, "close", keymap.ScopeHelp)
	if u.pager.isComplete() {
		return []keymap.Hint{leave}
	}
	return []keymap.Hint{h.Bindings().PairHint(keymap.HelpDown, keymap.HelpUp, "scroll", keymap.ScopeHelp), leave}
}

func (u *Counts) drawLists(w int, look *look.Look) (rows []string) {
	for _, l := range u.Lists {
		if len(l.Rows) == 0 {
			continue
		}
		if len(rows) > 0 {
			rows = append(rows, text.Spaces(w))
		}
		rows = append(rows, look.Strong.Text(text.Fit(l.Title, w)))
		most := 1
		for _, r := range l.Rows {
			most = max(most, r.Count)
		}
		cells := max(countCells, text.Width(text.Thousands(most)))
		for _, r := range l.Rows {
			bar := strings.Repeat(look.Glyphs.Level(2), max(r.Count*barCells/most, 1))
			rows = append(rows, text.PadLeft(text.Thousands(r.Count), cells)+"  "+look.Accent.Text(text.Pad(bar, barCells))+
				"  "+look.Text.Text(text.Fit(text.Clean(r.Name), w-cells-barCells-4)))
		}
	}
	return rows
}

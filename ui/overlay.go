package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/kit/dialog"
	"tandem/panes/widget"
)

// drawBox draws a frame around an overlay's rows. It returns the framed rows and their
// position, a little above the middle of the screen.
func drawBox(rows []string, w int, screen widget.Rect, look *widget.Look) ([]string, widget.Rect) {
	line := strings.Repeat("─", w+2)
	out := []string{look.Edge("╭"+line+"╮", true)}
	side := look.Edge("│", true)
	for _, r := range rows {
		out = append(out, side+" "+r+" "+side)
	}
	out = append(out, look.Edge("╰"+line+"╯", true))
	at := widget.Rect{W: w + 4, H: len(out)}
	at.X = (screen.W - at.W) / 2
	at.Y = max((screen.H-at.H)*2/5, 0)
	return out, at
}

// overlayRows replaces the part of the screen's rows that is covered by a box.
func overlayRows(screen, box []string, at widget.Rect) {
	for i, row := range box {
		y := at.Y + i
		if y >= len(screen) {
			return
		}
		under := screen[y]
		head := widget.Pad(widget.Cut(under, at.X, ""), at.X)
		tail := widget.CutLeft(under, at.X+at.W)
		screen[y] = head + "\x1b[m" + row + tail
	}
}

func (m *model) showHelp() tea.Cmd {
	scopes := m.input.activeScopes()
	under := m.dialog.open
	if p := m.sessions.focusedPane(); p != nil && !p.Scroll.Active() && under == nil {
		scopes = append([]keymap.Scope{keymap.ScopePrefix}, scopes...)
	}
	sections := m.o.Bindings.Help(scopes...)
	if !m.showsTips() {
		for i := range sections {
			sections[i].Rows = slices.DeleteFunc(sections[i].Rows, func(r keymap.HelpRow) bool { return r.Action == keymap.TipsHide })
		}
	}
	m.dialog.open = &dialog.Help{Sections: sections, Prefix: m.o.Bindings.PrefixKeys()[0].Show(), Closed: func() { m.dialog.open = under }}
	return nil
}

// runAnswer runs the handler of an overlay's answer, unless another overlay is open by
// now.
func (d *openDialog) runAnswer(a dialog.Answer) tea.Cmd {
	if d.open != a.Of {
		return nil
	}
	return a.Do()
}

package ui

import (
	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/panes"
)

// help is the overlay that lists the keys, those of what has the keyboard
// first.
type help struct {
	sections []keys.HelpSection
	top      int
	height   int // rows shown last time
	rows     int // rows there are
}

func (m *model) showHelp() tea.Cmd {
	scopes := m.scopes()
	if m.focused() != nil {
		scopes = append([]keys.Scope{keys.ScopePrefix}, scopes...)
	}
	m.overlay = &help{sections: m.o.Bindings.Help(scopes...)}
	return nil
}

func (h *help) scopes() []keys.Scope { return []keys.Scope{keys.ScopeHelp} }

func (h *help) act(m *model, a keys.Action) tea.Cmd {
	switch a {
	case keys.Close:
		m.overlay = nil
	case keys.HelpDown:
		h.top++
	case keys.HelpUp:
		h.top--
	case keys.HelpPageDown:
		h.top += h.height
	case keys.HelpPageUp:
		h.top -= h.height
	}
	return nil
}

func (h *help) typed(*model, keys.Key) tea.Cmd { return nil }
func (h *help) pasted(*model, string) tea.Cmd  { return nil }

func (h *help) draw(m *model, screen rect) ([]string, int, int, int) {
	width := min(92, screen.w-6)
	all := h.lines(width, &m.look)
	h.rows = len(all)
	h.height = min(h.rows, screen.h-8)
	h.top = max(min(h.top, h.rows-h.height), 0)
	title := "Keys"
	if h.height < h.rows {
		title = "Keys – j k to scroll"
	}
	rows := []string{m.look.Strong.Text(panes.Fit(title, width)), panes.Spaces(width)}
	rows = append(rows, all[h.top:h.top+h.height]...)
	line, used := panes.Hints([]panes.Hint{{Key: "esc", Does: "close"}}, width, 0, m.look.Key, m.look.Dim)
	rows = append(rows, panes.Spaces(width), line+panes.Spaces(width-used))
	return rows, width, -1, 0
}

func (h *help) lines(w int, look *panes.Look) []string {
	label := 0
	for _, s := range h.sections {
		for _, r := range s.Rows {
			label = max(label, panes.Width(r.Label()))
		}
	}
	label = min(label, w/2)
	var lines []string
	for i, s := range h.sections {
		if i > 0 {
			lines = append(lines, panes.Spaces(w))
		}
		lines = append(lines, look.Accent.Text(panes.Fit(s.Title, w)))
		for _, r := range s.Rows {
			lines = append(lines, look.Key.Text(panes.Fit(r.Label(), label))+"  "+look.Text.Text(panes.Fit(r.Help, w-label-2)))
		}
	}
	return lines
}

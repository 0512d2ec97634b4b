package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// help is the overlay that lists the keys, those of what has the keyboard
// first.
type help struct {
	sections  []keymap.HelpSection
	prefix    string
	field     widget.Field // what is searched
	searching bool         // it has the keyboard
	top       int
	height    int // rows shown last time
	rows      int // rows there are
}

func (m *model) showHelp() tea.Cmd {
	scopes := m.scopes()
	if m.focused() != nil && !m.focused().Scrolling() {
		scopes = append([]keymap.Scope{keymap.ScopePrefix}, scopes...)
	}
	sections := m.o.Bindings.Help(scopes...)
	if !m.tipsShown() {
		for i := range sections {
			sections[i].Rows = slices.DeleteFunc(sections[i].Rows, func(r keymap.HelpRow) bool { return r.Action == keymap.TipsHide })
		}
	}
	m.overlay = &help{sections: sections, prefix: m.o.Bindings.PrefixKeys()[0].Show()}
	return nil
}

// label is the keys of a row; the prefix is in the section's title.
func (h *help) label(s keymap.HelpSection, r keymap.HelpRow) string {
	if s.Scope != keymap.ScopePrefix {
		return r.Label()
	}
	names := make([]string, len(r.Keys))
	for i, name := range r.Keys {
		names[i] = strings.TrimPrefix(name, h.prefix+" ")
	}
	return strings.Join(names, " ")
}

func (h *help) title(s keymap.HelpSection) string {
	if s.Scope == keymap.ScopePrefix {
		return "After " + h.prefix
	}
	return s.Title
}

func (h *help) scopes() []keymap.Scope {
	if h.searching {
		return []keymap.Scope{keymap.ScopePrompt}
	}
	return []keymap.Scope{keymap.ScopeHelp}
}

func (h *help) act(m *model, a keymap.Action) tea.Cmd {
	switch a {
	case keymap.HelpSearch:
		h.searching = true
	case keymap.Accept:
		h.searching = false
	case keymap.Cancel:
		h.searching = false
		h.field.Set("")
	case keymap.Close:
		m.overlay = nil
	case keymap.HelpDown:
		h.top++
	case keymap.HelpUp:
		h.top--
	case keymap.HelpPageDown:
		h.top += h.height
	case keymap.HelpPageUp:
		h.top -= h.height
	case keymap.HelpFirst:
		h.top = 0
	case keymap.HelpLast:
		h.top = h.rows
	}
	return nil
}

func (h *help) typed(_ *model, k tea.KeyPressMsg) tea.Cmd {
	switch {
	case !h.searching:
	case k.Code == tea.KeyUp:
		h.top--
	case k.Code == tea.KeyDown:
		h.top++
	default:
		h.field.Type(k)
		h.top = 0
	}
	return nil
}

func (h *help) pasted(_ *model, text string) tea.Cmd {
	if h.searching {
		h.field.Paste(text)
		h.top = 0
	}
	return nil
}

// mouse handles the mouse inside the box.
func (h *help) mouse(m *model, e keys.Mouse) tea.Cmd {
	if isWheel(e) {
		h.top += wheelRows(e)
		m.dirty = true
	}
	return nil
}

// dismiss closes the overlay.
func (h *help) dismiss(m *model) {
	m.overlay = nil
	m.dirty = true
}

func (h *help) draw(m *model, screen rect) ([]string, int, int, int) {
	look := &m.look
	low := screen.h < lowScreen
	width, height := min(96, screen.w-6), screen.h-8
	if low {
		width, height = min(96, screen.w-4), screen.h-4
	}
	width = max(width, 1)
	label := h.labelWidth(width)
	all := h.lines(width, label, look)
	h.rows = len(all)
	// The box stays as it is while it is searched.
	h.height = max(min(h.count(), height), 1)
	h.top = max(min(h.top, h.rows-h.height), 0)
	rows := []string{h.head(width, look)}
	if !low {
		rows = append(rows, look.Rule.Text(rule(width)))
	}
	for y := range h.height {
		if h.top+y < len(all) {
			rows = append(rows, all[h.top+y])
			continue
		}
		rows = append(rows, widget.Spaces(width))
	}
	if !low {
		rows = append(rows, widget.Spaces(width))
	}
	line, used := widget.Hints(h.hints(m), width, 1, look.Key, look.Dim)
	rows = append(rows, line+widget.Spaces(width-used))
	if !h.searching {
		return rows, width, -1, 0
	}
	_, x := h.field.Draw(max(width-len(helpSearch), 1))
	return rows, width, len(helpSearch) + x, 0
}

const helpSearch = "Keys with "

// head is the title, or what is searched.
func (h *help) head(width int, look *widget.Look) string {
	if h.searching || h.field.Text() != "" {
		line, _ := h.field.Draw(max(width-len(helpSearch), 1))
		return look.Strong.Text(helpSearch) + look.Text.Text(line)
	}
	title := "Keys"
	if h.height < h.rows {
		first := h.top + 1
		place := itoa(first) + "–" + itoa(h.top+h.height) + " of " + itoa(h.rows)
		title = widget.Fit(title, max(width-widget.Width(place)-1, 0))
		return look.Strong.Text(title) + look.Dim.Text(widget.Fit(" "+place, width-widget.Width(title)))
	}
	return look.Strong.Text(widget.Fit(title, width))
}

func (h *help) hints(m *model) []widget.Hint {
	if h.searching {
		return []widget.Hint{m.hint(keymap.ScopePrompt, keymap.Accept, "done"), {Key: "↑ ↓", Does: "scroll"}, m.hint(keymap.ScopePrompt, keymap.Cancel, "all keys")}
	}
	return []widget.Hint{m.hint(keymap.ScopeHelp, keymap.HelpSearch, "search"), m.chooses(keymap.ScopeHelp, keymap.HelpDown, keymap.HelpUp, "scroll"),
		m.hint(keymap.ScopeHelp, keymap.Close, "close")}
}

func (h *help) labelWidth(w int) (label int) {
	for _, s := range h.sections {
		for _, r := range s.Rows {
			label = max(label, widget.Width(h.label(s, r)))
		}
	}
	return min(label, w*2/5)
}

// count is the number of lines without a search.
func (h *help) count() (n int) {
	for _, s := range h.sections {
		n += len(s.Rows) + 2
	}
	return n - 1
}

// lines are the sections with what the search has left of them.
func (h *help) lines(w, label int, look *widget.Look) (lines []string) {
	words := strings.Fields(strings.ToLower(h.field.Text()))
	for _, s := range h.sections {
		var rows []string
		for _, r := range s.Rows {
			if helpMatches(r, words) {
				rows = append(rows, h.entry(s, r, w, label, look)...)
			}
		}
		if len(rows) == 0 {
			continue
		}
		if len(lines) > 0 {
			lines = append(lines, widget.Spaces(w))
		}
		lines = append(append(lines, look.Accent.Text(widget.Fit(h.title(s), w))), rows...)
	}
	if len(lines) == 0 {
		lines = []string{look.Dim.Text(widget.Fit("no key with that", w))}
	}
	return lines
}

// narrowHelp is the width below which what a key does stands below it.
const narrowHelp = 40

// entry is what is told of an action.
func (h *help) entry(s keymap.HelpSection, r keymap.HelpRow, w, label int, look *widget.Look) (rows []string) {
	if w >= narrowHelp {
		return []string{look.Key.Text(widget.Fit(h.label(s, r), label)) + "  " + look.Text.Text(widget.Fit(r.Help, w-label-2))}
	}
	rows = []string{look.Key.Text(widget.Fit(h.label(s, r), w))}
	for _, line := range wrap(r.Help, max(w-1, 1)) {
		rows = append(rows, look.Text.Text(widget.Fit(" "+line, w)))
	}
	return rows
}

// helpMatches reports whether all words are in what is told of an action.
func helpMatches(r keymap.HelpRow, words []string) bool {
	text := strings.ToLower(r.Label() + " " + r.Help + " " + r.Short + " " + string(r.Action))
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// rule is a line across a box.
func rule(w int) string { return strings.Repeat("─", max(w, 0)) }

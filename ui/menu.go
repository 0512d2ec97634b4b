package ui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// A menu lets the person choose one of a few, or type another.
type menu struct {
	title  string
	items  []menuItem
	field  widget.Field
	cursor int
	then   func(*model, string) tea.Cmd
}

type menuItem struct{ name, does string }

func newMenu(title string, items []menuItem, then func(*model, string) tea.Cmd) *menu {
	return &menu{title: title, items: items, then: then}
}

func (u *menu) scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopePrompt} }

// shown are the items that begin with what was typed.
func (u *menu) shown() (items []menuItem) {
	typed := strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(u.field.Text())), "SIG")
	for _, item := range u.items {
		if strings.HasPrefix(item.name, typed) {
			items = append(items, item)
		}
	}
	return items
}

func (u *menu) act(m *model, a keymap.Action) tea.Cmd {
	m.overlay = nil
	if a != keymap.Accept {
		return nil
	}
	if items := u.shown(); u.cursor < len(items) {
		return u.then(m, items[u.cursor].name)
	}
	if typed := strings.TrimSpace(u.field.Text()); typed != "" {
		return u.then(m, typed)
	}
	return nil
}

func (u *menu) typed(_ *model, k tea.KeyPressMsg) tea.Cmd {
	switch {
	case k.Code == tea.KeyUp:
		u.cursor = max(u.cursor-1, 0)
	case k.Code == tea.KeyDown:
		u.cursor = max(min(u.cursor+1, len(u.shown())-1), 0)
	default:
		u.field.Type(k)
		u.cursor = 0
	}
	return nil
}

func (u *menu) pasted(_ *model, text string) tea.Cmd {
	u.field.Paste(text)
	u.cursor = 0
	return nil
}

func (u *menu) draw(m *model, screen rect) ([]string, int, int, int) {
	look := &m.look
	width := min(46, screen.w-8)
	field, x := u.field.Draw(width)
	rows := []string{look.Strong.Text(widget.Fit(u.title, width)), look.Text.Text(field)}
	items := u.shown()
	n := min(len(u.items), max(screen.h-8, 3))
	top := max(u.cursor-n+1, 0)
	for i := top; i < top+n; i++ {
		switch {
		case i >= len(items):
			rows = append(rows, widget.Spaces(width))
		case i == u.cursor:
			rows = append(rows, look.Selected.Text(widget.Fit(" "+widget.Pad(items[i].name, 7)+items[i].does, width)))
		default:
			rows = append(rows, look.Key.Text(widget.Fit(" "+items[i].name, 8))+look.Dim.Text(widget.Fit(items[i].does, width-8)))
		}
	}
	hints := []widget.Hint{m.hint(keymap.ScopePrompt, keymap.Accept, "send"), {Key: "↑ ↓", Does: "choose"}, m.hint(keymap.ScopePrompt, keymap.Cancel, "cancel")}
	line, used := widget.Hints(hints, width, 0, look.Key, look.Dim)
	return append(rows, widget.Spaces(width), line+widget.Spaces(width-used)), width, x, 1
}

func itoa(n int) string { return strconv.Itoa(n) }

package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/kit/field"
	"tandem/panes/kit/text"
)

// A Menu lets the user choose one of a few items, or type another value. The typed text
// may omit Prefix and use lower case.
type Menu struct {
	Title  string
	Items  []MenuItem
	Prefix string
	Then   func(string) tea.Cmd

	field  field.Field
	cursor int
}

// A MenuItem is a name in capitals and its description.
type MenuItem struct{ Name, Does string }

func (u *Menu) Traits() Traits { return Traits{} }

func (u *Menu) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopePrompt} }

// matchingItems returns the items starting with the typed text.
func (u *Menu) matchingItems() (items []MenuItem) {
	typed := strings.TrimPrefix(strings.ToUpper(strings.TrimSpace(u.field.Text())), u.Prefix)
	for _, item := range u.Items {
		if strings.HasPrefix(item.Name, typed) {
			items = append(items, item)
		}
	}
	return items
}

func (u *Menu) Do(h Host, a keymap.Action) tea.Cmd {
	h.Close()
	if a != keymap.Accept {
		return nil
	}
	// An item takes precedence over the typed text.
	if items := u.matchingItems(); u.cursor < len(items) {
		return u.Then(items[u.cursor].Name)
	}
	if typed := strings.TrimSpace(u.field.Text()); typed != "" {
		return u.Then(typed)
	}
	return nil
}

func (u *Menu) Type(_ Host, k tea.KeyPressMsg) tea.Cmd {
	switch k.Code {
	case tea.KeyUp:
		u.cursor = max(u.cursor-1, 0)
	case tea.KeyDown:
		u.cursor = max(min(u.cursor+1, len(u.matchingItems())-1), 0)
	default:
		u.field.Type(k)
		u.cursor = 0
	}
	return nil
}

func (u *Menu) Paste(_ Host, text string) tea.Cmd {
	u.field.Paste(text)
	u.cursor = 0
	return nil
}

func (u *Menu) Draw(h Host, w, height int) (rows []string, width, x, y int) {
	look := h.Look()
	width = min(46, w-8)
	field, x := u.field.Draw(width)
	rows = []string{look.Strong.Text(text.Fit(u.Title, width)), look.Text.Text(field)}
	items := u.matchingItems()
	n := min(len(u.Items), max(height-6, 3))
	top := max(u.cursor-n+1, 0)
	for i := top; i < top+n; i++ {
		switch {
		case i >= len(items):
			rows = append(rows, text.Spaces(width))
		case i == u.cursor:
			rows = append(rows, look.Selected.Text(text.Fit(" "+text.Pad(items[i].Name, 7)+items[i].Does, width)))
		default:
			rows = append(rows, look.Key.Text(text.Fit(" "+items[i].Name, 8))+look.Dim.Text(text.Fit(items[i].Does, width-8)))
		}
	}
	return rows, width, x, 1
}

// Hints returns the keys of the menu.
func (u *Menu) Hints(h Host) []keymap.Hint {
	return []keymap.Hint{
		h.Bindings().Hint(keymap.Accept, "send", keymap.ScopePrompt), h.Bindings().OwnKeys(keymap.ScopePrompt, "choose", "up", "down"),
		h.Bindings().Hint(keymap.Cancel, "cancel", keymap.ScopePrompt),
	}
}

package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/panes"
)

// A chooser lets the person choose one of several, by name or with the arrows.
type chooser struct {
	title   string
	choices []choice
	field   panes.Field
	cursor  int
	then    func(*model, string) tea.Cmd
	drop    func(*model, string) tea.Cmd // delete removes the choice; nil: it does not
}

type choice struct{ name, does string }

func (u *chooser) scopes() []keys.Scope { return []keys.Scope{keys.ScopePrompt} }

// shown are the choices that have what was typed.
func (u *chooser) shown() (found []choice) {
	typed := strings.ToLower(strings.TrimSpace(u.field.Text()))
	for _, c := range u.choices {
		if strings.Contains(strings.ToLower(c.name+" "+c.does), typed) {
			found = append(found, c)
		}
	}
	return found
}

func (u *chooser) act(m *model, a keys.Action) tea.Cmd {
	if a != keys.Accept {
		m.overlay = nil
		return nil
	}
	found := u.shown()
	if u.cursor >= len(found) {
		return nil
	}
	m.overlay = nil
	return u.then(m, found[u.cursor].name)
}

func (u *chooser) typed(m *model, k keys.Key) tea.Cmd {
	switch {
	case k.Phase == keys.Release:
	case k.Code == keys.Up:
		u.cursor = max(u.cursor-1, 0)
	case k.Code == keys.Down:
		u.cursor = max(min(u.cursor+1, len(u.shown())-1), 0)
	case k.Code == keys.Delete && u.drop != nil:
		return u.remove(m)
	default:
		u.field.Type(k)
		u.cursor = 0
	}
	return nil
}

// remove takes away the choice under the cursor.
func (u *chooser) remove(m *model) tea.Cmd {
	found := u.shown()
	if u.cursor >= len(found) {
		return nil
	}
	name := found[u.cursor].name
	for i, c := range u.choices {
		if c.name == name {
			u.choices = append(u.choices[:i:i], u.choices[i+1:]...)
			break
		}
	}
	u.cursor = max(min(u.cursor, len(u.shown())-1), 0)
	if len(u.choices) == 0 {
		m.overlay = nil
	}
	return u.drop(m, name)
}

func (u *chooser) pasted(_ *model, text string) tea.Cmd {
	u.field.Insert(text)
	u.cursor = 0
	return nil
}

func (u *chooser) draw(m *model, screen rect) ([]string, int, int, int) {
	look := &m.look
	width := min(64, screen.w-8)
	field, x := u.field.Draw(width)
	rows := []string{look.Strong.Text(panes.Fit(u.title, width)), look.Text.Text(field)}
	found := u.shown()
	n := min(len(u.choices), max(screen.h-8, 3))
	top := max(u.cursor-n+1, 0)
	names := 0
	for _, c := range u.choices {
		names = max(names, min(panes.Width(c.name), width/2))
	}
	for i := top; i < top+n; i++ {
		if i >= len(found) {
			rows = append(rows, panes.Spaces(width))
			continue
		}
		name, does := panes.Fit(" "+panes.Clean(found[i].name), names+1), panes.Fit("  "+found[i].does, width-names-1)
		if found[i].does == "" {
			name, does = panes.Fit(" "+panes.Clean(found[i].name), width), ""
		}
		if i == u.cursor {
			rows = append(rows, look.Selected.Text(name+does))
		} else {
			rows = append(rows, look.Text.Text(name)+look.Dim.Text(does))
		}
	}
	hints := []panes.Hint{{Key: "enter", Does: "choose"}, {Key: "↑ ↓", Does: "move"}, {Key: "esc", Does: "cancel"}}
	if u.drop != nil {
		hints = append(hints, panes.Hint{Key: "del", Does: "remove it"})
	}
	line, used := panes.Hints(hints, width, 0, look.Key, look.Dim)
	return append(rows, panes.Spaces(width), line+panes.Spaces(width-used)), width, x, 1
}

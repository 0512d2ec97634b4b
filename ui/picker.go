package ui

import (
	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// A picker is an overlay with a line to type in above the choices that match.
type picker struct {
	title string // in place of what is not typed yet
	field widget.Field
	list  widget.Choices
	wide  int          // cells of the inside at most; 0 for what a palette takes
	head  int          // rows above the choices, when it was drawn last
	look  *widget.Look // what it is drawn in; nil for that of all

	pick   func(*model, widget.Choice) tea.Cmd // of enter and of a click
	verb   func(widget.Choice) string          // what enter does with it
	moved  func(*model)                        // another choice is under the cursor; may be nil
	cancel func(*model)                        // nothing was chosen; may be nil
	// drop removes a choice for good, at the delete key, and gives those that are
	// left; nil: none can be removed.
	drop func(*model, widget.Choice) (left []widget.Choice, cmd tea.Cmd)
	// stays reports whether a choice cannot be removed; nil: all can.
	stays func(widget.Choice) bool
}

// What a picker takes of the screen.
const (
	pickerWidth = 104
	pickerRows  = 20
	pickerFrame = 4 // rows of its own: the line, a blank one, another, the keys
	// lowScreen is the height of a screen below which overlays do without the rows
	// that only part others.
	lowScreen = 12
)

func (u *picker) scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopePicker} }

func (u *picker) act(m *model, a keymap.Action) tea.Cmd {
	switch a {
	case keymap.Accept:
		return u.choose(m)
	case keymap.Cancel:
		u.dismiss(m)
	case keymap.PickerDown:
		u.move(m, 1)
	case keymap.PickerUp:
		u.move(m, -1)
	case keymap.PickerPageDown:
		u.move(m, u.list.Page())
	case keymap.PickerPageUp:
		u.move(m, -u.list.Page())
	}
	return nil
}

// dismiss closes the picker; nothing is chosen.
func (u *picker) dismiss(m *model) {
	m.overlay = nil
	m.dirty = true
	if u.cancel != nil {
		u.cancel(m)
	}
}

// choose does what the cursor is on; on nothing it does nothing.
func (u *picker) choose(m *model) tea.Cmd {
	c, ok := u.list.Selected()
	if !ok {
		return nil
	}
	m.overlay = nil
	return u.pick(m, c)
}

func (u *picker) move(m *model, rows int) {
	u.list.Move(rows)
	u.noteMove(m)
}

func (u *picker) noteMove(m *model) {
	if u.moved != nil {
		u.moved(m)
	}
	m.dirty = true
}

func (u *picker) typed(m *model, k tea.KeyPressMsg) tea.Cmd {
	if k.Code == tea.KeyDelete && u.drop != nil {
		if u.canRemove() {
			return u.remove(m)
		}
		return nil
	}
	before := u.field.Text()
	u.field.Type(k)
	u.search(m, before)
	return nil
}

// canRemove reports whether what the cursor is on can be removed.
func (u *picker) canRemove() bool {
	c, ok := u.list.Selected()
	return ok && u.drop != nil && (u.stays == nil || !u.stays(c))
}

// remove takes away what the cursor is on; it goes to the next one. Without any
// left the picker closes.
func (u *picker) remove(m *model) tea.Cmd {
	gone, ok := u.list.Selected()
	if !ok {
		return nil
	}
	u.list.Move(1)
	if next, _ := u.list.Selected(); next.Number == gone.Number {
		u.list.Move(-1)
	}
	next, _ := u.list.Selected()
	left, cmd := u.drop(m, gone)
	u.list.Set(left)
	u.list.Select(next.Number)
	if len(left) == 0 {
		u.dismiss(m)
	}
	u.noteMove(m)
	return cmd
}

func (u *picker) pasted(m *model, text string) tea.Cmd {
	before := u.field.Text()
	u.field.Paste(text)
	u.search(m, before)
	return nil
}

func (u *picker) search(m *model, before string) {
	if text := u.field.Text(); text != before {
		u.list.Search(text)
		u.noteMove(m)
	}
}

// mouse handles the mouse inside the box: a click does, the wheel moves.
func (u *picker) mouse(m *model, e keys.Mouse) tea.Cmd {
	switch {
	case isWheel(e):
		u.move(m, wheelRows(e)/3)
	case leftDown(e) && u.list.Go(e.Y-u.head):
		m.dirty = true
		return u.choose(m)
	}
	return nil
}

func (u *picker) draw(m *model, screen rect) ([]string, int, int, int) {
	look := u.look
	if look == nil {
		look = &m.look
	}
	most := pickerWidth
	if u.wide > 0 {
		most = u.wide
	}
	width, height := max(min(most, screen.w-6), 10), screen.h-pickerFrame-4
	low := screen.h < lowScreen
	if low {
		width, height = max(min(most, screen.w-4), 10), screen.h-4
	}
	shown, all := u.list.Len()
	height = max(min(pickerRows, all, height), 1)
	count := itoa(shown)
	if shown != all {
		count += " of " + itoa(all)
	}
	room := max(width-3-widget.Width(count), 1)
	line, x := u.field.Draw(room)
	text := look.Text.Text(line)
	if u.field.Text() == "" {
		text = look.Dim.Text(widget.Fit(u.title, room))
	}
	rows := []string{look.Accent.Text(look.Glyphs.Terminal) + " " + text + " " + look.Dim.Text(count)}
	if !low {
		rows = append(rows, look.Rule.Text(rule(width)))
	}
	u.head = len(rows)
	if shown == 0 {
		rows = append(rows, look.Dim.Text(widget.Fit("  nothing matches", width)))
		for range height - 1 {
			rows = append(rows, widget.Spaces(width))
		}
	} else {
		rows = append(rows, u.list.Draw(width, height, look)...)
	}
	if !low {
		rows = append(rows, widget.Spaces(width))
	}
	keyLine, used := widget.Hints(u.hints(m), width, 0, look.Key, look.Dim)
	return append(rows, keyLine+widget.Spaces(width-used)), width, 2 + x, 0
}

// hints are the keys of the picker.
func (u *picker) hints(m *model) []widget.Hint {
	hints := []widget.Hint{m.chooses(keymap.ScopePicker, keymap.PickerUp, keymap.PickerDown, "choose"), m.hint(keymap.ScopePicker, keymap.Cancel, "close")}
	if c, ok := u.list.Selected(); ok {
		hints = append([]widget.Hint{m.hint(keymap.ScopePicker, keymap.Accept, u.verb(c))}, hints...)
	}
	if u.canRemove() {
		hints = append(hints, widget.Hint{Key: "del", Does: "remove it"})
	}
	return hints
}

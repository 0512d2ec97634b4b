package overlay

import (
	"cmp"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// A Picker is an overlay with a line to type in above the choices that match.
type Picker struct {
	Title string // in place of what is not typed yet
	List  widget.Choices
	Wide  int          // cells of the inside at most; 0 for what a palette takes
	Look  *widget.Look // what it is drawn in; nil for that of all

	Pick   func(widget.Choice) tea.Cmd // of enter and of a click
	Verb   func(widget.Choice) string  // what enter does with it
	Moved  func()                      // another choice is under the cursor; may be nil
	Cancel func()                      // nothing was chosen; may be nil
	// Drop removes a choice for good, at the delete key, and gives those that are
	// left; nil: none can be removed.
	Drop func(widget.Choice) (left []widget.Choice, cmd tea.Cmd)
	// Stays reports whether a choice cannot be removed; nil: all can.
	Stays func(widget.Choice) bool

	field widget.Field
	head  int // rows above the choices, when it was drawn last
}

// What a picker takes of the screen.
const (
	pickerWidth = 104
	pickerRows  = 20
	pickerFrame = 2 // rows of its own: the line, and one that parts it from the choices
	// lowScreen is the height of a screen below which overlays do without the rows
	// that only part others.
	lowScreen = 12
)

func (u *Picker) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopePicker} }

func (u *Picker) Do(h Host, a keymap.Action) tea.Cmd {
	switch a {
	case keymap.Accept:
		return u.choose(h)
	case keymap.Cancel:
		u.Dismiss(h)
	case keymap.PickerDown:
		u.move(1)
	case keymap.PickerUp:
		u.move(-1)
	case keymap.PickerPageDown:
		u.move(u.List.Page())
	case keymap.PickerPageUp:
		u.move(-u.List.Page())
	}
	return nil
}

// Dismiss closes the picker; nothing is chosen.
func (u *Picker) Dismiss(h Host) {
	h.Close()
	if u.Cancel != nil {
		u.Cancel()
	}
}

// choose does what the cursor is on; on nothing it does nothing.
func (u *Picker) choose(h Host) tea.Cmd {
	c, ok := u.List.Selected()
	if !ok {
		return nil
	}
	h.Close()
	return u.Pick(c)
}

func (u *Picker) move(rows int) {
	u.List.Move(rows)
	u.noteMove()
}

func (u *Picker) noteMove() {
	if u.Moved != nil {
		u.Moved()
	}
}

func (u *Picker) Type(h Host, k tea.KeyPressMsg) tea.Cmd {
	if k.Code == tea.KeyDelete && u.Drop != nil {
		if u.canRemove() {
			return u.remove(h)
		}
		return nil
	}
	before := u.field.Text()
	u.field.Type(k)
	u.search(before)
	return nil
}

// canRemove reports whether what the cursor is on can be removed.
func (u *Picker) canRemove() bool {
	c, ok := u.List.Selected()
	return ok && u.Drop != nil && (u.Stays == nil || !u.Stays(c))
}

// remove takes away what the cursor is on; it goes to the next one. Without any
// left the picker closes.
func (u *Picker) remove(h Host) tea.Cmd {
	gone, ok := u.List.Selected()
	if !ok {
		return nil
	}
	u.List.Move(1)
	if next, _ := u.List.Selected(); next.Number == gone.Number {
		u.List.Move(-1)
	}
	next, _ := u.List.Selected()
	left, cmd := u.Drop(gone)
	u.List.Set(left)
	u.List.Select(next.Number)
	if len(left) == 0 {
		u.Dismiss(h)
	}
	u.noteMove()
	return cmd
}

func (u *Picker) Paste(h Host, text string) tea.Cmd {
	before := u.field.Text()
	u.field.Paste(text)
	u.search(before)
	return nil
}

func (u *Picker) search(before string) {
	if text := u.field.Text(); text != before {
		u.List.Search(text)
		u.noteMove()
	}
}

// Mouse handles the mouse inside the box: a click does, the wheel moves.
func (u *Picker) Mouse(h Host, e keys.Mouse) tea.Cmd {
	switch {
	case e.Button == keys.WheelUp || e.Button == keys.WheelDown:
		u.move(map[keys.Button]int{keys.WheelUp: -1, keys.WheelDown: 1}[e.Button])
	case e.Kind == keys.MouseDown && e.Button == keys.ButtonLeft && u.List.Go(e.Y-u.head):
		return u.choose(h)
	}
	return nil
}

func (u *Picker) Draw(h Host, w, height int) (rows []string, width, x, y int) {
	look := u.Look
	if look == nil {
		look = h.Look()
	}
	most, low := cmp.Or(u.Wide, pickerWidth), height < lowScreen
	width, height = max(min(most, w-6), 10), height-pickerFrame-5
	if low {
		width, height = max(min(most, w-4), 10), height+pickerFrame+1
	}
	shown, all := u.List.Len()
	height = max(min(pickerRows, all, height), 1)
	counted, of := u.List.Count()
	count := strconv.Itoa(counted)
	if counted != of {
		count += " of " + strconv.Itoa(of)
	}
	room := max(width-3-widget.Width(count), 1)
	line, x := u.field.Draw(room)
	text := look.Text.Text(line)
	if u.field.Text() == "" {
		text = look.Dim.Text(widget.Fit(u.Title, room))
	}
	rows = []string{look.Accent.Text(look.Glyphs.Terminal) + " " + text + " " + look.Dim.Text(count)}
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
		rows = append(rows, u.List.Draw(width, height, look)...)
	}
	return rows, width, 2 + x, 0
}

// Live reports whether what is behind the picker shows what is under the cursor.
func (u *Picker) Live() bool { return u.Moved != nil }

// Hints are the keys of the picker.
func (u *Picker) Hints(h Host) (hints []widget.Hint) {
	if c, ok := u.List.Selected(); ok {
		hints = append(hints, Hint(h.Bindings(), keymap.ScopePicker, keymap.Accept, u.Verb(c)),
			Choose(h.Bindings(), keymap.ScopePicker, keymap.PickerUp, keymap.PickerDown, "choose"))
	} else if u.field.Text() != "" {
		hints = append(hints, OwnKeys(h.Bindings(), keymap.ScopePicker, "clear", "ctrl+u"))
	}
	if u.canRemove() {
		hints = append(hints, OwnKeys(h.Bindings(), keymap.ScopePicker, "remove it", "delete"))
	}
	return append(hints, Hint(h.Bindings(), keymap.ScopePicker, keymap.Cancel, "close"))
}

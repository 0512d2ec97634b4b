package dialog

import (
	"cmp"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/kit/field"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A Picker is a search line above a list of matching choices.
type Picker struct {
	Title string // shown while nothing is typed
	List  list.Choices
	Wide  int        // maximum inner width in cells; default pickerWidth
	Look  *look.Look // default the host's

	Pick   func(list.Choice) tea.Cmd // called for the chosen item
	Verb   func(list.Choice) string  // returns the hint for enter on a choice
	Moved  func()                    // called after the cursor moved; may be nil
	Cancel func()                    // called if nothing is chosen; may be nil
	// Drop removes a choice permanently when the user presses the delete key, and returns the
	// remaining choices. If it is nil, choices cannot be removed.
	Drop func(list.Choice) (left []list.Choice, cmd tea.Cmd)
	// Stays reports whether a choice cannot be removed. If it is nil, all can be removed.
	Stays func(list.Choice) bool

	field    field.Field
	headRows int // rows above the choices in the last frame
}

// Size of a picker on the screen.
const (
	pickerWidth = 104
	pickerRows  = 20
	pickerFrame = 2 // rows of the search line and the rule below it
	// minRoomyHeight is the minimum height of a screen on which overlays contain blank rows.
	minRoomyHeight = 12
)

func (u *Picker) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopePicker} }

func (u *Picker) Do(h Host, a keymap.Action) tea.Cmd {
	switch a {
	case keymap.Accept:
		return u.chooseSelected(h)
	case keymap.Cancel:
		u.Dismiss(h)
	case keymap.PickerDown:
		u.moveCursor(1)
	case keymap.PickerUp:
		u.moveCursor(-1)
	case keymap.PickerPageDown:
		u.moveCursor(u.List.Page())
	case keymap.PickerPageUp:
		u.moveCursor(-u.List.Page())
	}
	return nil
}

// Traits asks the host not to dim the view behind the picker if the view previews the selected
// choice.
func (u *Picker) Traits() Traits {
	return Traits{Live: u.Moved != nil, Mouse: u.Mouse, Dismiss: u.Dismiss}
}

// Dismiss closes the picker without a choice.
func (u *Picker) Dismiss(h Host) {
	h.Close()
	if u.Cancel != nil {
		u.Cancel()
	}
}

// chooseSelected closes the picker with the selected choice, if there is one.
func (u *Picker) chooseSelected(h Host) tea.Cmd {
	c, ok := u.List.Selected()
	if !ok {
		return nil
	}
	h.Close()
	return u.Pick(c)
}

func (u *Picker) moveCursor(rows int) {
	u.List.Move(rows)
	u.cursorMoved()
}

func (u *Picker) cursorMoved() {
	if u.Moved != nil {
		u.Moved()
	}
}

func (u *Picker) Type(h Host, k tea.KeyPressMsg) tea.Cmd {
	if k.Code == tea.KeyDelete && u.Drop != nil {
		if u.canRemove() {
			return u.removeSelected(h)
		}
		return nil
	}
	before := u.field.Text()
	u.field.Type(k)
	u.searchChanged(before)
	return nil
}

// canRemove reports whether the selected choice can be removed.
func (u *Picker) canRemove() bool {
	c, ok := u.List.Selected()
	return ok && u.Drop != nil && (u.Stays == nil || !u.Stays(c))
}

// removeSelected removes the selected choice and selects the next one. If no choice is left, the
// picker closes.
func (u *Picker) removeSelected(h Host) tea.Cmd {
	gone, ok := u.List.Selected()
	if !ok {
		return nil
	}
	// Find the next choice before the list is replaced below. If the last choice is removed, select
	// the one before it.
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
	u.cursorMoved()
	return cmd
}

func (u *Picker) Paste(h Host, text string) tea.Cmd {
	before := u.field.Text()
	u.field.Paste(text)
	u.searchChanged(before)
	return nil
}

func (u *Picker) searchChanged(before string) {
	if text := u.field.Text(); text != before {
		u.List.Search(text)
		u.cursorMoved()
	}
}

// Mouse chooses a clicked row; the wheel moves the cursor.
func (u *Picker) Mouse(h Host, e keys.Mouse) tea.Cmd {
	switch {
	case e.Button == keys.WheelUp || e.Button == keys.WheelDown:
		u.moveCursor(map[keys.Button]int{keys.WheelUp: -1, keys.WheelDown: 1}[e.Button])
	case e.Kind == keys.MouseDown && e.Button == keys.ButtonLeft && u.List.Go(e.Y-u.headRows):
		return u.chooseSelected(h)
	}
	return nil
}

func (u *Picker) Draw(h Host, w, height int) (rows []string, width, x, y int) {
	look := u.Look
	if look == nil {
		look = h.Look()
	}
	most, low := cmp.Or(u.Wide, pickerWidth), height < minRoomyHeight
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
	room := max(width-3-text.Width(count), 1)
	line, x := u.field.Draw(room)
	query := look.Text.Text(line)
	if u.field.Text() == "" {
		query = look.Dim.Text(text.Fit(u.Title, room))
	}
	rows = []string{look.Accent.Text(look.Glyphs.Terminal) + " " + query + " " + look.Dim.Text(count)}
	if !low {
		rows = append(rows, look.Rule.Text(horizontalRule(width)))
	}
	u.headRows = len(rows)
	if shown == 0 {
		rows = append(rows, look.Dim.Text(text.Fit("  nothing matches", width)))
		rows = text.PadRows(rows, width, u.headRows+height)
	} else {
		rows = append(rows, u.List.Draw(width, height, look)...)
	}
	return rows, width, 2 + x, 0
}

// Hints returns the keys of the picker.
func (u *Picker) Hints(h Host) (hints []keymap.Hint) {
	if c, ok := u.List.Selected(); ok {
		hints = append(hints, h.Bindings().Hint(keymap.Accept, u.Verb(c), keymap.ScopePicker),
			h.Bindings().PairHint(keymap.PickerUp, keymap.PickerDown, "choose", keymap.ScopePicker))
	} else if u.field.Text() != "" {
		hints = append(hints, h.Bindings().OwnKeys(keymap.ScopePicker, "clear", "ctrl+u"))
	}
	if u.canRemove() {
		hints = append(hints, h.Bindings().OwnKeys(keymap.ScopePicker, "remove it", "delete"))
	}
	return append(hints, h.Bindings().Hint(keymap.Cancel, "close", keymap.ScopePicker))
}

package field

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandem/engine/base/cellwidth"
	"tandem/panes/kit/text"
)

// maxAreaRows is the maximum number of visible rows of an Area.
const maxAreaRows = 4

// An Area is a text input with several lines. It grows with its text, and is otherwise like a
// Field. alt+enter starts a new line. The zero value is an empty Area.
type Area struct {
	input *textarea.Model
	width int
}

// model returns the input, creating it on first use.
func (a *Area) model() *textarea.Model {
	if a.input == nil {
		input := textarea.New()
		input.SetVirtualCursor(false)
		input.ShowLineNumbers, input.Prompt = false, ""
		input.CharLimit = maxFieldText
		input.DynamicHeight, input.MinHeight, input.MaxHeight = true, 1, maxAreaRows
		input.MaxContentHeight = maxFieldText
		keys := &input.KeyMap
		keys.InsertNewline.SetKeys("alt+enter", "shift+enter", "ctrl+j")
		for _, b := range []*key.Binding{
			&keys.Paste, &keys.CopySelection, &keys.SelectAll, &keys.SelectCharacterBackward, &keys.SelectCharacterForward,
			&keys.SelectLineDown, &keys.SelectLineUp, &keys.SelectWordBackward, &keys.SelectWordForward,
		} {
			b.SetEnabled(false) // left to the terminal
		}
		input.Focus()
		a.input = &input
	}
	return a.input
}

// Set replaces the text and puts the cursor at its end.
func (a *Area) Set(text string) {
	a.model().Reset()
	a.Paste(text)
}

func (a *Area) Text() string {
	if a.input == nil {
		return ""
	}
	return strings.ReplaceAll(a.input.Value(), inside, replacement)
}

// Paste inserts text at the cursor, without characters that cannot be shown.
func (a *Area) Paste(text string) {
	lines := strings.Split(strings.ReplaceAll(strings.TrimRight(text, "\r\n"), "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = fieldText(line)
	}
	a.update(tea.PasteMsg{Content: strings.Join(lines, "\n")})
}

// Type handles a key as an editor does. Keys without a meaning do nothing.
func (a *Area) Type(k tea.KeyPressMsg) {
	k.Text = fieldText(k.Text)
	m := a.model()
	// textarea moves by code points: repeat the key for a character of several code points.
	steps := 1
	switch before, after := a.splitAtCursor(); {
	case key.Matches(k, m.KeyMap.CharacterBackward, m.KeyMap.DeleteCharacterBackward):
		steps = countRunes(lastCluster(before))
	case key.Matches(k, m.KeyMap.CharacterForward, m.KeyMap.DeleteCharacterForward):
		steps = countRunes(cellwidth.Cluster(after))
	}
	for range steps {
		a.update(k)
	}
}

func (a *Area) update(msg tea.Msg) { *a.model(), _ = a.model().Update(msg) }

// splitAtCursor returns the parts of the cursor's line before and after the cursor.
func (a *Area) splitAtCursor() (before, after string) {
	m := a.model()
	line := []rune(strings.Split(m.Value(), "\n")[m.Line()])
	at := m.Column()
	return string(line[:at]), string(line[at:])
}

// Up moves the cursor to the row above, and reports whether there is one.
func (a *Area) Up() bool {
	m := a.model()
	if m.Line() == 0 && m.LineInfo().RowOffset == 0 {
		return false
	}
	m.CursorUp()
	return true
}

// Down moves the cursor to the row below, and reports whether there is one.
func (a *Area) Down() bool {
	m := a.model()
	if info := m.LineInfo(); m.Line() == m.LineCount()-1 && info.RowOffset+1 >= info.Height {
		return false
	}
	m.CursorDown()
	return true
}

// Draw returns the rows around the cursor, each exactly w cells, and the cursor's position.
func (a *Area) Draw(w int) (rows []string, x, y int) {
	m := a.model()
	if a.width != w {
		a.width = w
		m.SetWidth(w)
	}
	view := m.View()
	if y := m.Cursor().Y; y < 0 || y >= m.Height() { // textarea scrolls to the cursor only on a message, based on the last drawing
		a.update(nil)
		m = a.model()
		view = m.View()
	}
	rows = strings.Split(ansi.Strip(strings.ReplaceAll(view, inside, replacement)), "\n")
	for i, row := range rows {
		rows[i] = text.Pad(text.Cut(strings.TrimRight(row, " "), w, ""), w)
	}
	info := m.LineInfo()
	line := []rune(strings.Split(m.Value(), "\n")[m.Line()])
	x = text.Width(string(line[info.StartColumn:][:info.ColumnOffset]))
	return rows, min(x, w-1), m.Cursor().Y
}

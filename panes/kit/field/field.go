// Package field holds the text inputs, of one line and of several.
package field

import (
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"tandem/engine/base/cellwidth"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// maxFieldText is the maximum length of a Field's text, in code points.
const maxFieldText = 4096

// textinput drops U+FFFD, which may occur in a file name. The field stores the noncharacter inside
// in its place.
const (
	replacement = "\uFFFD"
	inside      = "\uFDD0"
)

// A Field is a text input with one line. It extends bubbles' textinput: the cursor moves by whole
// characters, text that cannot be shown is rejected, and the line is drawn like the rest of the
// screen. The zero value is an empty Field.
type Field struct {
	input *textinput.Model
}

// model returns the input, creating it on first use.
func (f *Field) model() *textinput.Model {
	if f.input == nil {
		input := textinput.New()
		input.SetVirtualCursor(false)
		input.CharLimit = maxFieldText
		input.KeyMap.Paste.SetEnabled(false) // the terminal delivers pastes itself
		input.Focus()
		f.input = &input
	}
	return f.input
}

// Set replaces the text and puts the cursor at its end.
func (f *Field) Set(text string) {
	f.model().Reset()
	f.Paste(text)
}

func (f *Field) Text() string {
	if f.input == nil {
		return ""
	}
	return strings.ReplaceAll(f.input.Value(), inside, replacement)
}

// Paste inserts text at the cursor. It leaves out line breaks at the end, and characters that a
// line cannot contain.
func (f *Field) Paste(text string) {
	f.update(tea.PasteMsg{Content: fieldText(strings.TrimRight(text, "\r\n"))})
}

// Type handles a key as a line editor does. Keys without a meaning do nothing.
func (f *Field) Type(k tea.KeyPressMsg) {
	k.Text = fieldText(k.Text)
	keys := &f.model().KeyMap
	before, after := f.splitAtCursor()
	// textinput moves by code points: repeat the key for a character of several code points.
	steps := 1
	switch {
	case key.Matches(k, keys.CharacterBackward, keys.DeleteCharacterBackward):
		steps = countRunes(lastCluster(before))
	case key.Matches(k, keys.CharacterForward, keys.DeleteCharacterForward):
		steps = countRunes(cellwidth.Cluster(after))
	case key.Matches(k, keys.DeleteWordForward) && countRunes(after) == 1:
		k = tea.KeyPressMsg{Code: tea.KeyDelete} // textinput would look past the last character
	}
	for range steps {
		f.update(k)
	}
}

// fieldText returns text in the input's form.
func fieldText(s string) string { return strings.ReplaceAll(text.CleanText(s), replacement, inside) }

func (f *Field) update(msg tea.Msg) { *f.model(), _ = f.model().Update(msg) }

// splitAtCursor returns the text before and after the cursor.
func (f *Field) splitAtCursor() (before, after string) {
	if f.input == nil {
		return "", ""
	}
	text := []rune(f.Text())
	at := f.input.Position()
	return string(text[:at]), string(text[at:])
}

// countRunes returns the number of code points in a character, at least 1.
func countRunes(cluster string) int { return max(utf8.RuneCountInString(cluster), 1) }

// lastCluster returns the last character of a text.
func lastCluster(text string) (last string) {
	for text != "" {
		last = cellwidth.Cluster(text)
		text = text[len(last):]
	}
	return last
}

// Suggest sets the possible completions. Those that begin with the text are suggested, the first
// one unless the user chooses another.
func (f *Field) Suggest(lines []string) {
	text := f.Text()
	held := make([]string, 0, len(lines))
	for _, line := range lines {
		if strings.HasPrefix(line, text) {
			held = append(held, fieldText(line))
		}
	}
	m := f.model()
	m.ShowSuggestions = true
	m.SetSuggestions(held)
}

// Suggestions returns the suggested lines and the index of the chosen one.
func (f *Field) Suggestions() (lines []string, chosen int) {
	if f.input == nil {
		return nil, 0
	}
	lines = f.input.MatchedSuggestions()
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, inside, replacement)
	}
	if chosen = f.input.CurrentSuggestionIndex(); chosen < 0 || chosen >= len(lines) {
		chosen = 0 // textinput keeps its index when the suggestions change
	}
	return lines, chosen
}

// Accept replaces the text by the current suggestion, and reports whether that changed the text.
func (f *Field) Accept() bool {
	before := f.Text()
	f.update(tea.KeyPressMsg{Code: tea.KeyTab})
	return f.Text() != before
}

// Accepts reports whether key k accepts the suggestion: it is the right arrow, and the cursor is at
// the end of the text.
func (f *Field) Accepts(k tea.KeyPressMsg) bool {
	_, after := f.splitAtCursor()
	return after == "" && key.Matches(k, f.model().KeyMap.CharacterForward)
}

// DrawIn is like Draw, but draws the line in the inks of a look, with the rest of the suggestion
// after the text.
func (f *Field) DrawIn(w int, look *look.Look) (row string, x int) {
	line, x := f.Draw(w)
	lines, at := f.Suggestions()
	before, after := f.splitAtCursor()
	if at >= len(lines) || after != "" {
		return look.Text.Text(line), x
	}
	rest := text.Cut(strings.TrimPrefix(lines[at], before), w-x, "")
	return look.Text.Text(text.Cut(line, x, "")) + look.Faint.Text(rest) + text.Spaces(w-x-text.Width(rest)), x
}

// Draw returns the part of the line around the cursor, exactly w cells wide, and the cursor's
// column in it.
func (f *Field) Draw(w int) (line string, x int) {
	before, after := f.splitAtCursor()
	// One cell stays free for a cursor after the text.
	before = text.CutLeft(before, text.Width(before)+1-w)
	return text.Pad(text.Cut(before+after, w, ""), w), text.Width(before)
}

package widget

import (
	"strings"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"tandem/engine/cellwidth"
)

// maxFieldText bounds what a Field takes, in code points.
const maxFieldText = 4096

// replacement and inside: textinput drops U+FFFD, which a name may have, so it
// holds a noncharacter in its place.
const (
	replacement = "\uFFFD"
	inside      = "\uFDD0"
)

// A Field is one line of text that is being typed: a textinput that moves by what
// counts as one character, takes nothing that could not be shown, and is laid out
// as everything else. The zero value is an empty line.
type Field struct {
	input *textinput.Model
}

// model is the input, which is made when it is needed.
func (f *Field) model() *textinput.Model {
	if f.input == nil {
		input := textinput.New()
		input.SetVirtualCursor(false)
		input.CharLimit = maxFieldText
		input.KeyMap.Paste.SetEnabled(false) // the terminal's own pastes arrive as such
		input.Focus()
		f.input = &input
	}
	return f.input
}

// Set replaces the text and puts the cursor behind it.
func (f *Field) Set(text string) {
	f.model().Reset()
	f.Paste(text)
}

// Text is what was typed.
func (f *Field) Text() string {
	if f.input == nil {
		return ""
	}
	return strings.ReplaceAll(f.input.Value(), inside, replacement)
}

// Paste puts text at the cursor, without what has no place in a line.
func (f *Field) Paste(text string) {
	f.update(tea.PasteMsg{Content: fieldText(strings.TrimRight(text, "\r\n"))})
}

// Type handles a key as a line editor does; keys it does not know do nothing.
func (f *Field) Type(k tea.KeyPressMsg) {
	k.Text = fieldText(k.Text)
	keys := &f.model().KeyMap
	before, after := f.halves()
	steps := 1
	switch {
	case key.Matches(k, keys.CharacterBackward, keys.DeleteCharacterBackward):
		steps = runes(lastCluster(before))
	case key.Matches(k, keys.CharacterForward, keys.DeleteCharacterForward):
		steps = runes(cellwidth.Cluster(after))
	case key.Matches(k, keys.DeleteWordForward) && runes(after) == 1:
		k = tea.KeyPressMsg{Code: tea.KeyDelete} // textinput looks behind the last character
	}
	for range steps {
		f.update(k)
	}
}

// fieldText is text as the input may hold it.
func fieldText(s string) string { return strings.ReplaceAll(CleanText(s), replacement, inside) }

func (f *Field) update(msg tea.Msg) { *f.model(), _ = f.model().Update(msg) }

// halves are the text before and behind the cursor.
func (f *Field) halves() (before, after string) {
	if f.input == nil {
		return "", ""
	}
	text := []rune(f.Text())
	at := f.input.Position()
	return string(text[:at]), string(text[at:])
}

// runes is how many steps a character takes in bubbles, one at least.
func runes(cluster string) int { return max(utf8.RuneCountInString(cluster), 1) }

// lastCluster is the character that a text ends with.
func lastCluster(text string) (last string) {
	for text != "" {
		last = cellwidth.Cluster(text)
		text = text[len(last):]
	}
	return last
}

// Suggest offers lines that the text may become. Those that begin with it are
// suggested, the first one until another is chosen.
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

// Suggested are the lines that are suggested, and which of them is chosen, from 0.
func (f *Field) Suggested() (lines []string, chosen int) {
	if f.input == nil {
		return nil, 0
	}
	lines = f.input.MatchedSuggestions()
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, inside, replacement)
	}
	if chosen = f.input.CurrentSuggestionIndex(); chosen < 0 || chosen >= len(lines) {
		chosen = 0 // textinput counts on where there are none, and keeps its place when they go
	}
	return lines, chosen
}

// Accept takes the suggested line over, and reports whether there is one that is
// not here yet.
func (f *Field) Accept() bool {
	before := f.Text()
	f.update(tea.KeyPressMsg{Code: tea.KeyTab})
	return f.Text() != before
}

// Accepts reports whether a key takes the suggested line over: the one to the right,
// at the end of the text.
func (f *Field) Accepts(k tea.KeyPressMsg) bool {
	_, after := f.halves()
	return after == "" && key.Matches(k, f.model().KeyMap.CharacterForward)
}

// DrawIn is Draw in the inks of a look, with what is suggested behind the text.
func (f *Field) DrawIn(w int, look *Look) (row string, x int) {
	line, x := f.Draw(w)
	lines, at := f.Suggested()
	before, after := f.halves()
	if at >= len(lines) || after != "" {
		return look.Text.Text(line), x
	}
	rest := Cut(strings.TrimPrefix(lines[at], before), w-x, "")
	return look.Text.Text(Cut(line, x, "")) + look.Faint.Text(rest) + Spaces(w-x-Width(rest)), x
}

// Draw gives the line as exactly w cells around the cursor, and the cursor's
// column.
func (f *Field) Draw(w int) (line string, x int) {
	before, after := f.halves()
	before = CutLeft(before, Width(before)+1-w)
	return Pad(Cut(before+after, w, ""), w), Width(before)
}

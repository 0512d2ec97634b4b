package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/kit/field"
	"tandem/panes/kit/list"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A Prompt asks for a line of text. A live prompt takes effect while the user types, and is drawn
// at the bottom.
type Prompt struct {
	Title string
	Note  string // describes the expected text; may be empty
	Field field.Field
	Check func(string) error // returns the error in a line; may be nil
	Then  func(string) tea.Cmd
	// Suggest passes possible completions of line to Offer, now or through a command. May
	// be nil.
	Suggest func(line string) tea.Cmd

	Clears   bool // an empty line is an answer
	live     bool
	common   string // common prefix of all suggestions
	byArrows bool   // the current suggestion was selected with the arrow keys
	before   string // text restored when a live prompt is cancelled
	problem  string // error in the entered line, until it is edited
}

// NewPrompt returns a prompt with an initial text. It calls next with the entered line, without
// surrounding blanks, unless the line is empty.
func NewPrompt(title, text string, next func(string) tea.Cmd) *Prompt {
	p := &Prompt{Title: title, Then: next}
	p.Field.Set(text)
	return p
}

// NewFilter returns a live prompt for the filter of a list. It calls apply with the text after each
// change.
func NewFilter(title, note, text string, apply func(string) tea.Cmd) *Prompt {
	p := NewPrompt(title, text, apply)
	p.Note, p.live, p.before = note, true, text
	return p
}

// Traits puts a live prompt at the bottom of the screen, because the view shows its effect.
func (p *Prompt) Traits() Traits { return Traits{Low: p.live, Live: p.live} }

func (p *Prompt) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopePrompt} }

// Offer sets the suggestions and their common prefix.
func (p *Prompt) Offer(common string, lines []string) {
	p.common = common
	p.Field.Suggest(lines)
}

// Look requests suggestions. It is called when the prompt opens and after every change of the line.
func (p *Prompt) Look() tea.Cmd {
	if p.Suggest == nil {
		return nil
	}
	return p.Suggest(p.Field.Text())
}

// SuggestWords makes the prompt suggest words as completions of the last word in the line.
func (p *Prompt) SuggestWords(words []string) *Prompt {
	p.Suggest = func(text string) tea.Cmd {
		at := strings.LastIndexByte(text, ' ') + 1
		var lines []string
		for _, word := range words {
			if at < len(text) && strings.HasPrefix(word, text[at:]) && word != text[at:] {
				lines = append(lines, text[:at]+word)
			}
		}
		p.Offer(field.CommonPrefix(lines), lines)
		return nil
	}
	return p
}

// SuggestPaths makes the prompt suggest files and folders of this machine. Relative paths start in
// base.
func (p *Prompt) SuggestPaths(base, home string) *Prompt {
	p.Suggest = func(text string) tea.Cmd {
		p.Offer("", nil)
		return func() tea.Msg {
			common, lines := field.CompletePath(text, base, home, false)
			return Answer{Of: p, Do: func() tea.Cmd {
				if p.Field.Text() == text {
					p.Offer(common, lines)
				}
				return nil
			}}
		}
	}
	return p
}

func (p *Prompt) Do(h Host, a keymap.Action) tea.Cmd {
	// Accept a suggestion only if the user has selected it.
	if a == keymap.Accept && p.byArrows {
		p.Field.Accept()
		p.Look()
	}
	text := strings.TrimSpace(p.Field.Text())
	if a == keymap.Accept && p.Check != nil {
		if err := p.Check(text); err != nil {
			p.Fail(err.Error())
			return nil
		}
	}
	h.Close()
	switch {
	case a == keymap.Accept && (text != "" || p.live || p.Clears):
		return p.Then(text)
	// Cancelling a live prompt undoes its effect.
	case p.live:
		return p.Then(p.before)
	}
	return nil
}

func (p *Prompt) Type(_ Host, k tea.KeyPressMsg) tea.Cmd {
	switch {
	case k.Code == tea.KeyDown || k.Code == tea.KeyUp:
		p.Field.Type(k)
		p.byArrows = p.Suggest != nil
		return nil
	case k.Code == tea.KeyTab:
		p.completeLine()
	case !p.Field.Accepts(k) || !p.Field.Accept():
		p.Field.Type(k)
	}
	return p.lineChanged()
}

// completeLine completes the line by the common prefix of all suggestions or, if that adds nothing,
// by the current suggestion.
func (p *Prompt) completeLine() {
	if text := p.Field.Text(); !p.byArrows && len(p.common) > len(text) {
		p.Field.Set(p.common)
	} else {
		p.Field.Accept()
	}
}

func (p *Prompt) Paste(_ Host, text string) tea.Cmd {
	if p.Suggest != nil {
		text = strings.TrimSpace(text)
	}
	p.Field.Paste(text)
	return p.lineChanged()
}

// Fail sets the error shown until the line is edited. The caller shows the prompt again, which
// still has the entered text.
func (p *Prompt) Fail(why string) { p.problem = text.Clean(why) }

// lineChanged updates the suggestions. A live prompt also applies its text.
func (p *Prompt) lineChanged() tea.Cmd {
	p.problem, p.byArrows = "", false
	look := p.Look()
	if !p.live {
		return look
	}
	return tea.Batch(look, p.Then(strings.TrimSpace(p.Field.Text())))
}

// Hints returns the keys of the prompt.
func (p *Prompt) Hints(h Host) []keymap.Hint {
	hints := []keymap.Hint{h.Bindings().Hint(keymap.Accept, "accept", keymap.ScopePrompt)}
	if lines, _ := p.Field.Suggestions(); len(lines) > 0 {
		hints = append(hints, h.Bindings().OwnKeys(keymap.ScopePrompt, "complete", "tab"), h.Bindings().OwnKeys(keymap.ScopePrompt, "choose", "up", "down"))
	}
	return append(hints, h.Bindings().Hint(keymap.Cancel, "cancel", keymap.ScopePrompt))
}

func (p *Prompt) Draw(h Host, w, height int) (rows []string, width, x, y int) {
	look := h.Look()
	if p.live {
		return p.drawLow(h, w-4)
	}
	least := 44
	if p.Suggest != nil {
		least = 60
	}
	width = min(max(least, text.Width(p.Title), text.Width(p.Note), text.Width(p.problem)), w-8)
	field, x := p.Field.DrawIn(width, look)
	title := inkLines(text.WrapLines([]string{p.Title}, width), look.Strong, width)
	rows = append(title, p.drawNote(width, max(height-5-len(title), 1), look)...)
	return append(rows, field, p.drawSuggestions(width, look)), width, x, len(rows)
}

// drawNote draws the note or, in at most maxRows rows, the error.
func (p *Prompt) drawNote(width, maxRows int, look *look.Look) []string {
	note, ink := p.Note, look.Dim
	if p.problem != "" {
		note, ink = p.problem, look.Bad
	}
	lines := []string{note}
	if text.Width(note) > width {
		lines = text.WrapWordsIn(note, width, maxRows)
	}
	return inkLines(lines, ink, width)
}

// drawSuggestions draws a row with the suggestions, without what they have in common with the line.
// The current suggestion is visible.
func (p *Prompt) drawSuggestions(width int, look *look.Look) string {
	lines, chosen := p.Field.Suggestions()
	lines = field.LastParts(p.Field.Text(), lines)
	first := chosen
	for used := 0; first > 0; first-- {
		if used += text.Width(lines[first-1]) + 2; used > width/2 {
			break
		}
	}
	r := list.Row{}
	for i := first; i < len(lines) && r.Cells < width; i++ {
		ink := look.Dim
		if i == chosen && p.byArrows {
			ink = look.Selected
		}
		r.Add(text.Clip(lines[i], width-r.Cells), ink)
		r.Add(text.Spaces(min(2, width-r.Cells)), "")
	}
	return r.Finish(width, look)
}

// drawLow draws a live prompt, with its note below.
func (p *Prompt) drawLow(h Host, width int) ([]string, int, int, int) {
	look := h.Look()
	label := p.Title + " "
	at := text.Width(label)
	field, x := p.Field.DrawIn(width-at, look)
	rows := []string{look.Strong.Text(label) + field}
	if p.Note != "" {
		rows = append(rows, inkLines(text.WrapLines([]string{p.Note}, width), look.Dim, width)...)
	}
	return rows, width, at + x, 0
}

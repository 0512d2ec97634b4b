package overlay

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// A Prompt asks for a line of text. One that is live shows its effect as it is
// typed, and keeps out of the way, at the bottom.
type Prompt struct {
	Title string
	Note  string // what can be typed; "" if that needs no words
	Field widget.Field
	Check func(string) error // what is wrong with a line, for the person; nil: nothing ever is
	Then  func(string) tea.Cmd

	live   bool
	before string // what a live one goes back to
	wrong  string // with the line that was entered, until it is changed
}

// NewPrompt asks for a line that begins as text; then is given what it became,
// without the blanks around it.
func NewPrompt(title, text string, then func(string) tea.Cmd) *Prompt {
	p := &Prompt{Title: title, Then: then}
	p.Field.Set(text)
	return p
}

// NewFilter makes a live prompt; apply shows what matches.
func NewFilter(title, note, text string, apply func(string) tea.Cmd) *Prompt {
	p := NewPrompt(title, text, apply)
	p.Note, p.live, p.before = note, true, text
	return p
}

// Low reports whether the prompt is drawn at the bottom.
func (p *Prompt) Low() bool { return p.live }

func (p *Prompt) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopePrompt} }

func (p *Prompt) Do(h Host, a keymap.Action) tea.Cmd {
	text := strings.TrimSpace(p.Field.Text())
	if a == keymap.Accept && p.Check != nil {
		if err := p.Check(text); err != nil {
			p.wrong = err.Error()
			return nil
		}
	}
	h.Close()
	switch {
	case a == keymap.Accept:
		return p.Then(text)
	case p.live:
		return p.Then(p.before)
	}
	return nil
}

func (p *Prompt) Type(_ Host, k tea.KeyPressMsg) tea.Cmd {
	p.Field.Type(k)
	return p.changed()
}

func (p *Prompt) Paste(_ Host, text string) tea.Cmd {
	p.Field.Paste(text)
	return p.changed()
}

// changed shows the effect of a live prompt.
func (p *Prompt) changed() tea.Cmd {
	p.wrong = ""
	if !p.live {
		return nil
	}
	return p.Then(strings.TrimSpace(p.Field.Text()))
}

// Hints are the keys of the prompt.
func (p *Prompt) Hints(h Host) []widget.Hint {
	return []widget.Hint{Hint(h.Bindings(), keymap.ScopePrompt, keymap.Accept, "accept"), Hint(h.Bindings(), keymap.ScopePrompt, keymap.Cancel, "cancel")}
}

func (p *Prompt) Draw(h Host, w, height int) (rows []string, width, x, y int) {
	look := h.Look()
	if p.live {
		return p.drawLow(h, w-4)
	}
	width = min(max(44, widget.Width(p.Title), widget.Width(p.Note), widget.Width(widget.Clean(p.wrong))), w-8)
	field, x := p.Field.Draw(width)
	return []string{
		look.Strong.Text(widget.Fit(p.Title, width)),
		NoteRow(p.Note, p.wrong, width, look),
		look.Text.Text(field),
		widget.Spaces(width),
		hintRow(p.Hints(h), width, look.Key, look.Dim),
	}, width, x, 2
}

// drawLow draws a live prompt in two rows.
func (p *Prompt) drawLow(h Host, width int) ([]string, int, int, int) {
	look := h.Look()
	label := p.Title + " "
	at := widget.Width(label)
	field, x := p.Field.Draw(width - at)
	line, used := widget.Hints(p.Hints(h), width, 0, look.Key, look.Dim)
	room := max(width-used-3, 0)
	return []string{
		look.Strong.Text(label) + look.Text.Text(field),
		line + look.Dim.Text("   "+widget.Pad(widget.Clip(p.Note, room), room)),
	}, width, at + x, 0
}

// NoteRow is the row between a prompt's title and its field: what is wrong with
// the line, else the note.
func NoteRow(note, wrong string, width int, look *widget.Look) string {
	if wrong != "" {
		return look.Bad.Text(widget.Fit(widget.Clean(wrong), width))
	}
	return look.Dim.Text(widget.Fit(note, width))
}

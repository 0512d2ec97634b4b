package overlay

import (
	"strings"
	"unicode/utf8"

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
	// Suggest has Offer told what a line may become, now or by a command; nil: nothing.
	Suggest func(line string) tea.Cmd

	live   bool
	common string // what all that is suggested begins with
	chosen bool   // what is suggested was chosen with the arrows
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

// Live reports whether the effect of what is typed is shown behind it.
func (p *Prompt) Live() bool { return p.live }

func (p *Prompt) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopePrompt} }

// Offer suggests lines, which all begin with common.
func (p *Prompt) Offer(common string, lines []string) {
	p.common = common
	p.Field.Suggest(lines)
}

// Look asks for suggestions. It is called after every change, and to begin with.
func (p *Prompt) Look() tea.Cmd {
	if p.Suggest == nil {
		return nil
	}
	return p.Suggest(p.Field.Text())
}

// SuggestWords suggests what the last word of a line may become.
func (p *Prompt) SuggestWords(words []string) *Prompt {
	p.Suggest = func(text string) tea.Cmd {
		at := strings.LastIndexByte(text, ' ') + 1
		var lines []string
		for _, word := range words {
			if at < len(text) && strings.HasPrefix(word, text[at:]) && word != text[at:] {
				lines = append(lines, text[:at]+word)
			}
		}
		p.Offer(CommonPrefix(lines), lines)
		return nil
	}
	return p
}

// SuggestPaths suggests files and folders of this machine. A path that begins
// nowhere is in base.
func (p *Prompt) SuggestPaths(base, home string) *Prompt {
	p.Suggest = func(text string) tea.Cmd {
		p.Offer("", nil)
		return func() tea.Msg {
			common, lines := pathsFrom(text, base, home, false)
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
	if a == keymap.Accept && p.chosen {
		p.Field.Accept()
		p.Look()
	}
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
	switch {
	case k.Code == tea.KeyDown || k.Code == tea.KeyUp:
		p.Field.Type(k)
		p.chosen = p.Suggest != nil
		return nil
	case k.Code == tea.KeyTab:
		p.complete()
	case !p.Field.Accepts(k) || !p.Field.Accept():
		p.Field.Type(k)
	}
	return p.changed()
}

// complete adds what all suggestions have in common or, where that is nothing, the
// rest of the one that is chosen.
func (p *Prompt) complete() {
	if text := p.Field.Text(); !p.chosen && len(p.common) > len(text) {
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
	return p.changed()
}

// changed shows the effect of a live prompt, and what the line may become.
func (p *Prompt) changed() tea.Cmd {
	p.wrong, p.chosen = "", false
	look := p.Look()
	if !p.live {
		return look
	}
	return tea.Batch(look, p.Then(strings.TrimSpace(p.Field.Text())))
}

// Hints are the keys of the prompt.
func (p *Prompt) Hints(h Host) []widget.Hint {
	hints := []widget.Hint{Hint(h.Bindings(), keymap.ScopePrompt, keymap.Accept, "accept")}
	if lines, _ := p.Field.Suggested(); len(lines) > 0 {
		hints = append(hints, OwnKeys(h.Bindings(), keymap.ScopePrompt, "complete", "tab"), OwnKeys(h.Bindings(), keymap.ScopePrompt, "choose", "up", "down"))
	}
	return append(hints, Hint(h.Bindings(), keymap.ScopePrompt, keymap.Cancel, "cancel"))
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
	width = min(max(least, widget.Width(p.Title), widget.Width(p.Note), widget.Width(widget.Clean(p.wrong))), w-8)
	field, x := p.Field.DrawIn(width, look)
	note := look.Dim.Text(widget.Fit(p.Note, width))
	if p.wrong != "" {
		note = look.Bad.Text(widget.Fit(widget.Clean(p.wrong), width))
	}
	return []string{
		look.Strong.Text(widget.Fit(p.Title, width)),
		note,
		field,
		p.drawSuggested(width, look),
	}, width, x, 2
}

// drawSuggested is one row of what the last part of the line may become, around
// what is chosen of it.
func (p *Prompt) drawSuggested(width int, look *widget.Look) string {
	lines, chosen := p.Field.Suggested()
	lines = lastParts(p.Field.Text(), lines)
	first := chosen
	for used := 0; first > 0; first-- {
		if used += widget.Width(lines[first-1]) + 2; used > width/2 {
			break
		}
	}
	r := widget.Row{}
	for i := first; i < len(lines) && r.Cells < width; i++ {
		ink := look.Dim
		if i == chosen && p.chosen {
			ink = look.Selected
		}
		r.Add(widget.Clip(lines[i], width-r.Cells), ink)
		r.Add(widget.Spaces(min(2, width-r.Cells)), "")
	}
	r.Add(widget.Spaces(width-r.Cells), "")
	return r.Text.String()
}

// lastParts are lines without the folder or the words that the text begins with.
func lastParts(text string, lines []string) (parts []string) {
	stem := text[:strings.LastIndexAny(text, "/ ")+1]
	for _, line := range lines {
		parts = append(parts, strings.TrimPrefix(line, stem))
	}
	return parts
}

// drawLow draws a live prompt with what can be typed below it.
func (p *Prompt) drawLow(h Host, width int) ([]string, int, int, int) {
	look := h.Look()
	label := p.Title + " "
	at := widget.Width(label)
	field, x := p.Field.DrawIn(width-at, look)
	rows := []string{look.Strong.Text(label) + field}
	if p.Note != "" {
		rows = append(rows, look.Dim.Text(widget.Fit(p.Note, width)))
	}
	return rows, width, at + x, 0
}

// CommonPrefix is what lines begin with, in whole characters.
func CommonPrefix(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	n := len(lines[0])
	for _, line := range lines[1:] {
		n = min(n, len(line))
		for line[:n] != lines[0][:n] {
			n--
		}
	}
	for at := 0; at < n; { // a character of which only a part is common is not
		_, size := utf8.DecodeRuneInString(lines[0][at:])
		if at+size > n {
			return lines[0][:at]
		}
		at += size
	}
	return lines[0][:n]
}

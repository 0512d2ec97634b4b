package ui

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes/widget"
)

// An overlay is drawn over the view and has the keyboard while it is open. The
// model's overlay field is set to nil to close it.
type overlay interface {
	scopes() []keymap.Scope
	act(*model, keymap.Action) tea.Cmd
	typed(*model, tea.KeyPressMsg) tea.Cmd
	pasted(*model, string) tea.Cmd
	// draw gives the rows of the inside, all w cells wide, for a screen of a
	// size; x is the column of the cursor in row y, or negative for none.
	draw(m *model, screen rect) (rows []string, w, x, y int)
}

// box draws a frame around an overlay's rows and returns it with its place in
// the middle of the screen.
func box(rows []string, w int, screen rect, look *widget.Look) ([]string, rect) {
	edge := look.Accent
	line := strings.Repeat("─", w+2)
	out := []string{edge.Text("╭" + line + "╮")}
	for _, r := range rows {
		out = append(out, edge.Text("│")+" "+r+" "+edge.Text("│"))
	}
	out = append(out, edge.Text("╰"+line+"╯"))
	at := rect{w: w + 4, h: len(out)}
	at.x = (screen.w - at.w) / 2
	at.y = max((screen.h-at.h)*2/5, 0)
	return out, at
}

// lay puts the rows of a box over the rows of a screen.
func lay(screen, box []string, at rect) {
	for i, row := range box {
		y := at.y + i
		if y >= len(screen) {
			return
		}
		under := screen[y]
		head := widget.Pad(widget.Cut(under, at.x, ""), at.x)
		tail := widget.CutLeft(under, at.x+at.w)
		screen[y] = head + "\x1b[m" + row + tail
	}
}

// A question asks for yes or no before something that cannot be taken back.
type question struct {
	title string
	lines []string
	yes   string
	no    string // default "cancel"
	then  tea.Cmd
}

func (q *question) scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopeDialog} }

func (q *question) act(m *model, a keymap.Action) tea.Cmd {
	m.overlay = nil
	if a == keymap.Accept {
		return q.then
	}
	return nil
}

func (q *question) typed(*model, tea.KeyPressMsg) tea.Cmd { return nil }
func (q *question) pasted(*model, string) tea.Cmd         { return nil }

// hints are the keys of the question.
func (q *question) hints(m *model) []widget.Hint {
	return []widget.Hint{m.hint(keymap.ScopeDialog, keymap.Accept, q.yes), m.hint(keymap.ScopeDialog, keymap.Cancel, cmp.Or(q.no, "cancel"))}
}

func (q *question) draw(m *model, screen rect) ([]string, int, int, int) {
	look := &m.look
	width := 34
	for _, l := range append([]string{q.title}, q.lines...) {
		width = max(width, widget.Width(l))
	}
	width = min(width, screen.w-8)
	rows := []string{look.Strong.Text(widget.Fit(q.title, width))}
	for _, l := range q.lines {
		rows = append(rows, look.Dim.Text(widget.Fit(l, width)))
	}
	line, used := widget.Hints(q.hints(m), width, 0, look.Key, look.Text)
	rows = append(rows, widget.Spaces(width), line+widget.Spaces(width-used))
	return rows, width, -1, 0
}

// A prompt asks for a line of text. One that is live shows its effect as it is
// typed, and keeps out of the way, at the bottom.
type prompt struct {
	title  string
	note   string // what can be typed; "" if that needs no words
	field  widget.Field
	check  func(string) error // what is wrong with a line, for the person; nil: nothing ever is
	wrong  string             // with the line that was entered, until it is changed
	then   func(*model, string) tea.Cmd
	live   bool
	before string // what a live one goes back to
}

func newPrompt(title, text string, then func(*model, string) tea.Cmd) *prompt {
	p := &prompt{title: title, then: then}
	p.field.Set(text)
	return p
}

// newFilter makes a live prompt; apply shows what matches.
func newFilter(title, note, text string, apply func(*model, string)) *prompt {
	p := newPrompt(title, text, func(m *model, text string) tea.Cmd {
		apply(m, text)
		return nil
	})
	p.note, p.live, p.before = note, true, text
	return p
}

// changed shows the effect of a live prompt.
func (p *prompt) changed(m *model, text string) tea.Cmd {
	if !p.live {
		return nil
	}
	return p.then(m, strings.TrimSpace(text))
}

// low reports whether the prompt is drawn at the bottom.
func (p *prompt) low() bool { return p.live }

func (p *prompt) scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopePrompt} }

func (p *prompt) act(m *model, a keymap.Action) tea.Cmd {
	text := strings.TrimSpace(p.field.Text())
	if a == keymap.Accept && p.check != nil {
		if err := p.check(text); err != nil {
			p.wrong = err.Error()
			return nil
		}
	}
	m.overlay = nil
	if a == keymap.Accept {
		return p.then(m, text)
	}
	return p.changed(m, p.before)
}

func (p *prompt) typed(m *model, k tea.KeyPressMsg) tea.Cmd {
	p.wrong = ""
	p.field.Type(k)
	return p.changed(m, p.field.Text())
}

func (p *prompt) pasted(m *model, text string) tea.Cmd {
	p.wrong = ""
	p.field.Paste(text)
	return p.changed(m, p.field.Text())
}

// hints are the keys of the prompt.
func (p *prompt) hints(m *model) []widget.Hint {
	return []widget.Hint{m.hint(keymap.ScopePrompt, keymap.Accept, "accept"), m.hint(keymap.ScopePrompt, keymap.Cancel, "cancel")}
}

func (p *prompt) draw(m *model, screen rect) ([]string, int, int, int) {
	look := &m.look
	width := min(max(44, widget.Width(p.title), widget.Width(p.note), widget.Width(widget.Clean(p.wrong))), screen.w-8)
	if p.live {
		width = screen.w - 4
	}
	field, x := p.field.Draw(width)
	line, used := widget.Hints(p.hints(m), width, 0, look.Key, look.Dim)
	if p.live {
		label := p.title + " "
		at := widget.Width(label)
		field, x := p.field.Draw(width - at)
		room := widget.Clip(p.note, max(width-used-3, 0))
		return []string{
			look.Strong.Text(label) + look.Text.Text(field),
			line + look.Dim.Text("   "+widget.Pad(room, max(width-used-3, 0))),
		}, width, at + x, 0
	}
	return []string{
		look.Strong.Text(widget.Fit(p.title, width)),
		noteRow(p.note, p.wrong, width, look),
		look.Text.Text(field),
		widget.Spaces(width),
		line + widget.Spaces(width-used),
	}, width, x, 2
}

// noteRow is the row between a prompt's title and its field: what is wrong with
// the line, else the note.
func noteRow(note, wrong string, width int, look *widget.Look) string {
	if wrong != "" {
		return look.Bad.Text(widget.Fit(widget.Clean(wrong), width))
	}
	return look.Dim.Text(widget.Fit(note, width))
}

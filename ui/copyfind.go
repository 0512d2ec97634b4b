package ui

import (
	"context"
	"math"
	"regexp"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/terminal"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// A findLine asks what to look for in a terminal, and shows the nearest match
// while it is typed.
type findLine struct {
	m        *model
	pane     *terminal.Terminal
	field    widget.Field
	backward bool
	regexp   bool
	problem  string
	origin   terminal.Position
	from     api.Place
	before   *regexp.Regexp // what was marked
}

func (m *model) askFind(backward bool) tea.Cmd {
	p := m.scrolled()
	if p == nil {
		return nil
	}
	p.Cover(m.covered())
	m.overlay = &findLine{
		m: m, pane: p, backward: backward, regexp: m.copying.pattern.Regexp,
		origin: p.Position(), from: p.Place(), before: p.Marked(),
	}
	return nil
}

// findRows is how high a findLine is with its frame.
const findRows = 4

// covered is how many rows of the focused terminal a findLine covers.
func (m *model) covered() int {
	r := m.area(m.tabs.Current.Focus)
	return r.Y + r.H - (m.h - 1 - findRows)
}

func (f *findLine) Low() bool              { return true }
func (f *findLine) Scopes() []keymap.Scope { return []keymap.Scope{keymap.ScopePrompt} }

func (f *findLine) pattern() api.Pattern { return api.Pattern{Text: f.field.Text(), Regexp: f.regexp} }

func (f *findLine) Do(h overlay.Host, a keymap.Action) tea.Cmd {
	h.Close()
	f.pane.Cover(0)
	switch {
	case a != keymap.Accept:
		f.m.endFind()
		f.pane.MarkMatches(f.before)
		f.pane.Return(f.origin)
		return nil
	case f.field.Text() == "":
		f.m.copying.backward = f.backward
		return f.m.findNext(false)
	}
	f.m.copying.pattern, f.m.copying.backward = f.pattern(), f.backward
	if f.problem != "" {
		return f.m.say(f.problem, true)
	}
	return nil
}

// wantsRegexp is the key that changes how the text is read.
func wantsRegexp(k tea.KeyPressMsg) bool { return k.Keystroke() == "alt+r" }

func (f *findLine) Type(_ overlay.Host, k tea.KeyPressMsg) tea.Cmd {
	if wantsRegexp(k) {
		f.regexp = !f.regexp
	} else {
		f.field.Type(k)
	}
	return f.changed()
}

func (f *findLine) Paste(_ overlay.Host, text string) tea.Cmd {
	f.field.Paste(text)
	return f.changed()
}

// changed looks for what is typed now, from where the search began.
func (f *findLine) changed() tea.Cmd {
	f.m.endFind()
	f.problem = ""
	f.pane.Return(f.origin)
	if f.field.Text() == "" {
		f.pane.MarkMatches(nil)
		return nil
	}
	re, err := f.pattern().Compile()
	if err != nil {
		f.problem = panes.ErrorText(err)
		f.pane.MarkMatches(nil)
		return nil
	}
	f.pane.MarkMatches(re)
	return f.m.findMatch(f.pane, api.SessionFindInput{Pattern: f.pattern(), From: f.from, Backward: f.backward, Wrap: true}, 1)
}

// hints are the keys of the line.
func (f *findLine) Hints(_ overlay.Host) []widget.Hint {
	other := "regexp"
	if f.regexp {
		other = "plain text"
	}
	return []widget.Hint{f.m.hint(keymap.ScopePrompt, keymap.Accept, "stay here"), f.m.hint(keymap.ScopePrompt, keymap.Cancel, "go back"), {Key: "alt+r", Does: other}}
}

func (f *findLine) Draw(h overlay.Host, w, height int) (rows []string, width, x, y int) {
	look := &f.m.look
	width = w - 4
	label := "/ "
	if f.backward {
		label = "? "
	}
	if f.regexp {
		label = "regexp " + label
	}
	at := widget.Width(label)
	field, x := f.field.Draw(width - at)
	line, used := widget.Hints(f.Hints(h), width, 0, look.Key, look.Dim)
	note := widget.Clip(f.problem, max(width-used-3, 0))
	return []string{
		look.Strong.Text(label) + look.Text.Text(field),
		line + "   " + look.Bad.Text(note) + widget.Spaces(width-used-3-widget.Width(note)),
	}, width, at + x, 0
}

// foundMsg is the answer to a search.
type foundMsg struct {
	serial int
	pane   *terminal.Terminal
	input  api.SessionFindInput
	out    api.SessionFindOutput
	err    error
}

// findMatch looks for the n-th match from a place, and puts the cursor there when it
// is found. A search that was under way is given up.
func (m *model) findMatch(p *terminal.Terminal, in api.SessionFindInput, n int) tea.Cmd {
	in.ID = p.ID
	ctx, serial := m.begin()
	l := m.link
	return func() tea.Msg {
		msg := foundMsg{serial: serial, pane: p, input: in}
		e, err := l.At(ctx)
		for range n {
			if err != nil {
				break
			}
			var out api.SessionFindOutput
			if out, err = e.Find(ctx, in); err != nil || out.Match == nil {
				break
			}
			msg.out, in.From = out, out.Match.From
		}
		msg.err = err
		return msg
	}
}

// maxSteps bounds how often one key goes on to another match.
const maxSteps = 1000

// findStep goes on to the n-th match from the cursor.
func (m *model) findStep(p *terminal.Terminal, in api.SessionFindInput, n int) tea.Cmd {
	in.From = p.Place()
	if in.Mark != "" {
		in.From.Cell = 0
	}
	return m.findMatch(p, in, min(n, maxSteps))
}

// maxHeld bounds how many keys wait for the end of a search.
const maxHeld = 1000

// holdKey keeps a key back that was typed in scroll mode while a search is under
// way: it is about the place where that leads to. What leaves or begins a
// command of the dashboard is not held.
func (m *model) holdKey(k keys.Key) (held bool) {
	c, b := &m.copying, m.o.Bindings
	switch {
	case c.find == nil || m.overlay != nil || m.scrolled() == nil || m.resolver.Pending(), k.Phase == keys.Release:
		return false
	case b.Is(k, keymap.ScopeGlobal, keymap.Prefix):
		return false
	case b.Is(k, keymap.ScopeScroll, keymap.ScrollCancel), b.Is(k, keymap.ScopeScroll, keymap.ScrollLeave):
		c.held = nil
		return false
	}
	if len(c.held) < maxHeld {
		c.held = append(c.held, k)
	}
	return true
}

// letKeys handles the keys that were held.
func (m *model) letKeys() tea.Cmd {
	held := m.copying.held
	m.copying.held = nil
	var cmds []tea.Cmd
	for _, k := range held {
		cmds = append(cmds, m.pressKey(k))
	}
	return tea.Batch(cmds...)
}

// begin begins a search, and gives up one that was under way.
func (m *model) begin() (ctx context.Context, serial int) {
	m.endFind()
	ctx, m.copying.find = context.WithCancel(m.ctx)
	return ctx, m.copying.serial
}

// wrapped reports whether a match is on the side that was not looked at first.
func (msg *foundMsg) wrapped() bool {
	from, match := msg.input.From, msg.out.Match.From
	return !msg.input.Backward && !from.Before(match) || msg.input.Backward && !match.Before(from)
}

func (m *model) endFind() {
	m.copying.serial++
	if m.copying.find != nil {
		m.copying.find()
		m.copying.find = nil
	}
}

func (m *model) found(msg foundMsg) tea.Cmd {
	if msg.serial != m.copying.serial {
		return nil
	}
	m.endFind()
	m.dirty = true
	if !msg.pane.Scrolling() {
		return m.letKeys()
	}
	return tea.Batch(m.showFound(msg), m.letKeys())
}

// showFound goes to a match, or says that there is none.
func (m *model) showFound(msg foundMsg) tea.Cmd {
	f, typing := m.overlay.(*findLine)
	switch {
	case msg.err != nil:
		return m.say(panes.ErrorText(msg.err), true)
	case msg.out.Match == nil && typing:
		f.problem = "no match"
		msg.pane.Found(0, 0)
	case msg.out.Match == nil && msg.input.Mark != "":
		return m.say("no other prompt on this side; the shell has to mark its prompts", false)
	case msg.out.Match == nil:
		return m.say("no match", false)
	default:
		msg.pane.Go(msg.out.Match.From)
		if msg.input.Mark == "" {
			msg.pane.Found(msg.out.Number, msg.out.Total)
		}
		if !typing && msg.wrapped() {
			return m.say("search wrapped", false)
		}
	}
	return nil
}

// findNext goes to the next match, or to one on the other side.
func (m *model) findNext(other bool) tea.Cmd {
	p := m.scrolled()
	if p == nil {
		return nil
	}
	re, err := m.copying.pattern.Compile()
	if m.copying.pattern.Text == "" || err != nil {
		return m.askFind(other)
	}
	p.MarkMatches(re)
	n, _ := p.Count()
	backward := m.copying.backward != other
	return m.findStep(p, api.SessionFindInput{Pattern: m.copying.pattern, Backward: backward, Wrap: true}, n)
}

// findCommand goes to the prompt of another command.
func (m *model) findCommand(above bool) tea.Cmd {
	p := m.scrolled()
	if p == nil {
		return nil
	}
	n, _ := p.Count()
	return m.findStep(p, api.SessionFindInput{Mark: api.MarkedPrompt, Backward: above}, n)
}

// outputMsg is where the output of a command is.
type outputMsg struct {
	serial      int
	pane        *terminal.Terminal
	first, last int64
	none        bool
	err         error
}

// selectOutput selects the output of the command at the cursor, or of the last
// one before that had any.
func (m *model) selectOutput() tea.Cmd {
	p := m.scrolled()
	if p == nil {
		return nil
	}
	line := p.Place().Line
	ctx, serial := m.begin()
	l := m.link
	return func() tea.Msg {
		e, err := l.At(ctx)
		if err != nil {
			return outputMsg{serial: serial, pane: p, err: err}
		}
		msg := outputOf(ctx, e, p.ID, line)
		msg.serial, msg.pane = serial, p
		return msg
	}
}

func outputOf(ctx context.Context, e panes.Engine, id string, line int64) (msg outputMsg) {
	next := func(mark string, from api.Place, backward bool) *api.SessionMatch {
		if msg.err != nil {
			return nil
		}
		out, err := e.Find(ctx, api.SessionFindInput{ID: id, Mark: mark, From: from, Backward: backward})
		msg.err = err
		return out.Match
	}
	prompt := next(api.MarkedPrompt, api.Place{Line: line + 1}, true)
	for prompt != nil {
		output := next(api.MarkedOutput, prompt.From, false)
		after := next(api.MarkedPrompt, prompt.From, false)
		if output != nil && (after == nil || output.From.Line < after.From.Line) {
			msg.first, msg.last = output.From.Line, math.MaxInt64
			if after != nil {
				msg.last = after.From.Line - 1
			}
			return msg
		}
		prompt = next(api.MarkedPrompt, prompt.From, true)
	}
	msg.none = true
	return msg
}

func (m *model) outputFound(msg outputMsg) tea.Cmd {
	if msg.serial != m.copying.serial {
		return nil
	}
	m.endFind()
	m.dirty = true
	var say tea.Cmd
	switch {
	case msg.err != nil:
		say = m.say(panes.ErrorText(msg.err), true)
	case msg.none:
		say = m.say("no command with output here; the shell has to mark its prompts", false)
	default:
		msg.pane.SelectBetween(msg.first, msg.last)
	}
	return tea.Batch(say, m.letKeys())
}

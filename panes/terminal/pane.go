package terminal

import (
	"fmt"
	"image/color"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/styled"
	"tandem/engine/units"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
)

// A Pane is a session's terminal in the dashboard: what keys and the mouse do in
// it, its scroll and copy mode and what is looked for there.
type Pane struct {
	*Terminal
	env     Env
	last    *Search
	actions panes.Actions
	w, h    int
	below   int // rows of the view that are below the pane

	find  finding
	mouse pointing
}

// New makes the pane of a session, "" for one that is to be started; somebody has
// to fill its Feed. What was looked for last is shared with other panes.
func New(env Env, last *Search, id string) *Pane {
	p := &Pane{Terminal: NewTerminal(id), env: env, last: last}
	p.actions = p.makeActions()
	return p
}

// Update takes in the result of one of the pane's commands.
func (p *Pane) Update(msg tea.Msg) tea.Cmd {
	if m, ok := msg.(Message); !ok || m.For() != p {
		return nil
	}
	p.changed = true
	switch msg := msg.(type) {
	case foundMsg:
		return p.found(msg)
	case outputMsg:
		return p.outputFound(msg)
	case targetMsg:
		return p.openFile(msg)
	case endedLines:
		p.Feed.Screen.AddLines(msg.lines)
	case echoDue:
		p.echo.waits = false
		return p.awaitLate()
	case dragDue:
		return p.dragOn()
	}
	return nil
}

// Actions are what the keys of scroll and copy mode do, and the one that begins
// it.
func (p *Pane) Actions() panes.Actions { return p.actions }

// Scopes are those of the program or of scroll mode.
func (p *Pane) Scopes() []keymap.Scope {
	if p.Scroll.Active() {
		return []keymap.Scope{keymap.ScopeScroll}
	}
	return []keymap.Scope{keymap.ScopeTerminal}
}

// Take takes a key before it is looked up: a digit before a move, or one that
// waits for a search. taken reports whether it did.
func (p *Pane) TakeKey(k keys.Key) (taken bool) { return p.holdKey(k) || p.countKey(k) }

// countKey takes a digit of the number before a move; ok reports whether the key
// was one.
func (p *Pane) countKey(k keys.Key) (ok bool) {
	if !p.Scroll.Active() || len(k.Text) != 1 || k.Text[0] < '0' || k.Text[0] > '9' || k.Mods&(keys.Ctrl|keys.Alt) != 0 {
		return false
	}
	ok = p.Scroll.CountDigit(int(k.Text[0] - '0'))
	p.changed = p.changed || ok
	return ok
}

// Key gives a key that means nothing to the dashboard to the program, or to what
// is in its place.
func (p *Pane) HandleKey(k keys.Key) tea.Cmd {
	switch {
	case p.Scroll.Active():
		return p.scrollKey(k)
	case p.Ended() != nil || p.Err() != nil:
		return p.keyAfterEnd(k)
	}
	return p.typeKey(k)
}

// typeKey sends a key to the program. ctrl+c does not wait behind text that the program does not
// read: what has not been sent of that is dropped.
func (p *Pane) typeKey(k keys.Key) tea.Cmd {
	dropped := int64(0)
	if k.Phase == keys.Press && k.Same(keys.Key{Code: 'c', Mods: keys.Ctrl}) {
		dropped = p.Outbox.DiscardText()
	}
	cmd := p.input(api.Input{Key: &k})
	if dropped > 0 {
		cmd = tea.Batch(cmd, p.env.SayOnce(fmt.Sprintf("ctrl+c dropped %s of unsent text", units.Bytes(dropped))))
	}
	return cmd
}

// scrollKey is a key that means nothing in scroll mode by itself: the prefix
// pressed twice is vi's ctrl+b.
func (p *Pane) scrollKey(k keys.Key) tea.Cmd {
	if p.env.Bindings().Is(k, keymap.ScopeGlobal, keymap.Prefix) {
		p.Scroll.Move(PageUp)
		p.changed = true
	}
	return nil
}

// keyAfterEnd handles keys in a pane whose program is gone. q is none of them: it
// leaves scroll mode, which copying has ended already.
func (p *Pane) keyAfterEnd(k keys.Key) tea.Cmd {
	switch {
	case k.Phase == keys.Release:
	case p.env.Bindings().Is(k, keymap.ScopeList, keymap.Open):
		return p.env.StartInPlace(p)
	case p.env.Bindings().Is(k, keymap.ScopeSessions, keymap.SessionEnd):
		return p.env.PutAway(p)
	}
	return nil
}

// hintsAfterEnd are the keys of keyAfterEnd. They are those of the list: a program
// that is gone needs no prefix.
func (p *Pane) hintsAfterEnd() []panes.Hint {
	b := p.env.Bindings()
	return []panes.Hint{
		panes.HintFor(b, keymap.Open, "new shell", keymap.ScopeList),
		panes.HintFor(b, keymap.SessionEnd, "close", keymap.ScopeSessions, keymap.ScopePrefix),
	}
}

// TellUnsure says when the engine may have lost typed text, once the note that the dashboard has
// reconnected cannot hide it.
func (p *Pane) TellUnsure() tea.Cmd {
	if !p.env.News().Connected {
		return nil
	}
	n := p.Feed.TakeUnsure()
	if n == 0 {
		return nil
	}
	name, _, _ := p.Title()
	return p.env.SayOnce(fmt.Sprintf("the engine exited: up to %d bytes typed into %s may be lost", n, widget.Clip(name, 30)))
}

// resetModes clears the terminal modes a killed program left set.
func (p *Pane) resetModes() tea.Cmd { return p.input(api.Input{Reset: true}) }

// TakesText reports whether typed text goes to the program as it is.
func (p *Pane) TakesText() bool {
	return !p.Scroll.Active() && p.Ended() == nil && p.Err() == nil && p.Keyboard()&keys.KittyAllKeys == 0
}

// TypeText gives text that was typed in one piece to the program.
func (p *Pane) TypeText(text string) tea.Cmd {
	p.Unmark()
	return p.input(api.Input{Bytes: []byte(text)})
}

// Paste gives pasted text to the program.
func (p *Pane) Paste(text string) tea.Cmd {
	if p.Scroll.Active() {
		p.Scroll.Stop()
		p.changed = true
	}
	return p.input(api.Input{Paste: &text})
}

// input sends input, and says so when it could not be kept, so that nothing is
// lost silently.
func (p *Pane) input(in api.Input) tea.Cmd {
	if !p.Outbox.Connected() { // the bar counts what waits
		p.changed = true
	}
	p.Feed.NoteTyped() // before its echo can come
	if err := p.Outbox.Send(in); err != nil {
		return p.env.SayOnce(err.Error())
	}
	p.foresee(in, time.Now())
	return p.awaitLate()
}

// Resize gives the pane its area; Resized tells the session.
func (p *Pane) Resize(w, h int) {
	p.w, p.h = w, h
	p.SetSize(w, h)
}

// RowsBelow says how many rows of the view are below the pane, which tells how
// much of it a line at the bottom covers.
func (p *Pane) RowsBelow(n int) { p.below = n }

// Draw gives the pane's rows. The slice is valid until the next call.
func (p *Pane) Draw() []string {
	if p.ended != nil {
		p.afterEnd = p.hintsAfterEnd()
	}
	return p.Terminal.Draw(p.w, p.h, p.env.Look())
}

// Cursor is the program's, or that of scroll mode.
func (p *Pane) Cursor() *tea.Cursor {
	c, ok := p.Terminal.Cursor()
	if !ok {
		return nil
	}
	shape := tea.CursorBlock
	switch c.Shape {
	case styled.CursorUnderline:
		shape = tea.CursorUnderline
	case styled.CursorBar:
		shape = tea.CursorBar
	}
	cursor := &tea.Cursor{Position: tea.Position{X: c.X, Y: c.Y}, Shape: shape, Blink: c.Blink}
	if c.Own {
		cursor.Shape, cursor.Blink = widget.OwnCursor, false
	}
	if c.Color != 0 {
		cursor.Color = color.RGBA{uint8(c.Color >> 16), uint8(c.Color >> 8), uint8(c.Color), 255}
	}
	return cursor
}

// Title is a pane's name and what else its title row says; folder reports whether
// that is where its program is.
func (p *Pane) Title() (name, detail string, folder bool) {
	process, ok := p.env.News().Process(p.ID)
	if !ok {
		return "new session", "", false
	}
	name = widget.FullName(&process)
	if machine, _ := api.MachineOf(p.ID); machine != "" {
		if m := p.env.News().Machine(machine); m != nil && m.State != api.MachineConnected {
			return name, m.OfflineReason(time.Now()), false
		}
	}
	if title := widget.Clean(p.State().Title); title != "" && title != name {
		return name, title, false
	}
	if len(process.Argv) > 1 {
		return name, widget.CommandText(&process), false
	}
	return name, widget.ShortPath(process.CWD, p.env.Home()), true
}

// folder is where the session's program is, else where the dashboard was opened.
func (p *Pane) folder() string {
	if process, ok := p.env.News().Process(p.ID); ok && process.CWD != "" {
		machine, _ := api.MachineOf(p.ID)
		return api.PathOn(machine, process.CWD)
	}
	return p.env.Folder()
}

// Note says nothing: the list tells of sessions.
func (p *Pane) Note() (string, widget.Ink) { return "", p.env.Look().Bar }

// Show and Hide change nothing: what is not shown goes on.
func (p *Pane) Show() {}
func (p *Pane) Hide() {}

// directHints is how many direct keys come before the prefix.
const directHints = 2

// Hints are some direct keys, then the prefix and what may follow it; in scroll
// mode those of its scope.
func (p *Pane) Hints() (hints []panes.Hint, ok bool) {
	switch {
	case p.Scroll.Active():
		return nil, false
	case p.Ended() != nil:
		return p.hintsAfterEnd(), true
	}
	b := p.env.Bindings()
	prefix := b.PrefixKeys()[0].Show()
	told := map[keymap.Action]bool{}
	for _, h := range b.Hints(false, append(slices.Clone(p.Scopes()), keymap.ScopeGlobal)...) {
		if h.Key != prefix && len(hints) < directHints {
			hints = append(hints, panes.Hint{Key: h.Key, Does: h.Label, Action: string(h.Action)})
			told[h.Action] = true
		}
	}
	hints = append(hints, panes.Hint{Key: prefix, Does: "then"})
	for _, h := range b.Hints(true) {
		if !told[h.Action] {
			hints = append(hints, panes.Hint{Key: h.Key, Does: h.Label, Action: string(h.Action)})
		}
	}
	return hints, true
}

package terminal

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/look"
	"tandem/panes/kit/predict"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// A Pane is a session's terminal in the dashboard. It adds keys, the mouse, scroll mode and
// searching to a Terminal.
type Pane struct {
	*Terminal
	Starting bool // its session is still being started

	env     Env
	actions panes.Actions
	w, h    int

	Copier Copier
	find   finder
	opener opener
	drag   drag
	ending ending
	queued queued
}

// New returns the pane of a session. The caller feeds it with output through its Feed. last is the
// last search, which all panes share.
func New(env Env, last *Search, id string) *Pane {
	p := &Pane{Terminal: NewTerminal(id), env: env}
	session := func() string { return p.ID }
	p.find = finder{env: env, id: session, scroll: &p.Scroll, last: last}
	p.opener = opener{env: env, id: session, scroll: &p.Scroll, folder: func() string { return folderOf(p) }, start: func(command []string, folder string) tea.Cmd {
		return env.StartNear(p, command, folder)
	}}
	p.Copier = Copier{env: env, id: session, scroll: &p.Scroll, open: p.opener.openTarget}
	p.ending = ending{env: env, id: session}
	p.queued = queued{env: env, id: session, outbox: p.Outbox}
	p.drag = drag{pointer: &p.Pointer, copy: p.Copier.Copy}
	p.actions = p.makeActions()
	return p
}

// makeActions returns the actions of scroll and copy mode.
func (p *Pane) makeActions() panes.Actions {
	selects := func(kind SelectKind) func() tea.Cmd { return panes.ActionOf(func() { p.Scroll.ToggleSelection(kind) }) }
	all := panes.Actions{
		keymap.ScrollMode: panes.ActionOf(p.Scroll.Start),
		// A program that was killed may have left the terminal in an unusual mode.
		keymap.TerminalReset: func() tea.Cmd { return p.sendInput(api.Input{Reset: true}) },
		keymap.InputDrop: func() tea.Cmd {
			p.changed = true
			return p.queued.drop()
		},
		keymap.ScrollLeave:       panes.ActionOf(p.Scroll.Stop),
		keymap.ScrollCancel:      func() tea.Cmd { return cancelCopy(p) },
		keymap.ScrollSelect:      selects(SelectText),
		keymap.ScrollSelectLine:  selects(SelectLines),
		keymap.ScrollSelectBlock: selects(SelectBlock),
		keymap.ScrollSave:        p.Scroll.whileActive(p.askSave),
	}
	for _, part := range []panes.Actions{p.Copier.actions(), p.find.actions()} {
		for action, act := range part {
			all[action] = p.Scroll.whileActive(act)
		}
	}
	for action, motion := range motions() {
		all[action] = panes.ActionOf(func() { p.Scroll.MoveCursor(motion) })
	}
	return all
}

// cancelCopy cancels what was started last in scroll mode. If nothing is left to cancel, it ends
// scroll mode.
func cancelCopy(p *Pane) tea.Cmd {
	p.find.cancelSearch()
	if p.Scroll.Active() && !p.Scroll.CancelLast() {
		p.Scroll.Stop()
	}
	return nil
}

func (p *Pane) Actions() panes.Actions { return p.actions }

func (p *Pane) Scopes() []keymap.Scope {
	switch {
	case p.Scroll.Active():
		return []keymap.Scope{keymap.ScopeScroll}
	case p.ending.interruption() != nil:
		return []keymap.Scope{keymap.ScopeInterrupted}
	}
	return []keymap.Scope{keymap.ScopeTerminal}
}

// TakeKey handles a digit of the count before a motion. ok is false if the key is something else.
func (p *Pane) TakeKey(k keys.Key) (ok bool) {
	if !p.Scroll.Active() || len(k.Text) != 1 || k.Text[0] < '0' || k.Text[0] > '9' || k.Mods&(keys.Ctrl|keys.Alt) != 0 {
		return false
	}
	ok = p.Scroll.count.addDigit(int(k.Text[0] - '0'))
	p.changed = p.changed || ok
	return ok
}

// HandleKey sends a key without a binding to the program, unless the pane is in scroll mode or the
// program has exited.
func (p *Pane) HandleKey(k keys.Key) tea.Cmd {
	switch {
	case p.Scroll.Active():
		return p.scrollKey(k)
	case p.ending.interruption() != nil:
		return nil
	case p.status.hasEnded():
		return p.keyAfterExit(k)
	}
	return p.typeKey(k)
}

// typeKey sends a key to the program. ctrl+c must not wait behind text that the program is not
// reading, so the unsent rest of the text is dropped first.
func (p *Pane) typeKey(k keys.Key) tea.Cmd {
	dropped := int64(0)
	if isInterrupt(k) {
		dropped = p.Outbox.DiscardText()
	}
	cmd := p.sendInput(api.Input{Key: &k})
	if dropped > 0 {
		cmd = tea.Batch(cmd, p.env.SayOnce(fmt.Sprintf("ctrl+c dropped %s of unsent text", units.Bytes(dropped))))
	}
	return cmd
}

// isInterrupt reports whether a key is ctrl+c.
func isInterrupt(k keys.Key) bool {
	return k.Phase == keys.Press && k.Same(keys.Key{Code: 'c', Mods: keys.Ctrl})
}

// scrollKey handles a key that is not bound in scroll mode. The prefix pressed twice scrolls up a
// page, like ctrl+b in vi.
func (p *Pane) scrollKey(k keys.Key) tea.Cmd {
	if p.env.Bindings().Is(k, keymap.ScopeGlobal, keymap.Prefix) {
		p.Scroll.MoveCursor(PageUp)
		p.changed = true
	}
	return nil
}

// keyAfterExit handles keys in a pane whose program has exited. q does not close the pane, because
// a q too many after scroll mode would close it by mistake.
func (p *Pane) keyAfterExit(k keys.Key) tea.Cmd {
	switch {
	case k.Phase == keys.Release:
	case p.env.Bindings().Is(k, keymap.ScopeList, keymap.Open):
		return p.env.Restore(p)
	case p.env.Bindings().Is(k, keymap.ScopeSessions, keymap.SessionKill):
		return p.env.ClosePane(p)
	}
	return nil
}

// ReportLoss reports how much input may have been lost when the connection broke. It does so only
// after the dashboard has reconnected, because the note about reconnecting would replace this one.
func (p *Pane) ReportLoss() tea.Cmd {
	if !p.env.News().Connected {
		return nil
	}
	missing := p.Feed.TakeLoss().String()
	if missing == "" {
		return nil
	}
	name, _, _ := p.Title()
	return p.env.SayOnce(fmt.Sprintf("the connection to %s was lost: %s", text.Clip(name, 30), missing))
}

// Takes reports which input may go to the program without HandleKey: key says that Feed.TypeNow may
// send keys, text that typed text may be sent unchanged.
func (p *Pane) Takes() (key, text bool) {
	if p.Scroll.Active() || p.status.hasEnded() || p.ending.interruption() != nil || p.queued.isWaiting() {
		return false, false
	}
	return predictModeFor(p.ID, p.Predict) == predict.Off, p.Keyboard()&keys.KittyAllKeys == 0
}

// TypeText sends text typed in one piece to the program.
func (p *Pane) TypeText(text string) tea.Cmd {
	p.ClearMarks()
	return p.sendInput(api.Input{Bytes: []byte(text)})
}

// Paste sends pasted text to the program. It ends scroll mode.
func (p *Pane) Paste(text string) tea.Cmd {
	p.LeaveScroll()
	return p.sendInput(api.Input{Paste: &text})
}

// LeaveScroll ends scroll mode.
func (p *Pane) LeaveScroll() {
	if p.Scroll.Active() {
		p.Scroll.Stop()
		p.changed = true
	}
}

// sendInput sends input, and reports an error so that nothing is lost silently.
func (p *Pane) sendInput(in api.Input) tea.Cmd {
	if p.ending.interruption() != nil {
		return nil
	}
	if !p.Outbox.Connected() { // the status bar counts the queue
		p.changed = true
	}
	if err := p.Feed.Type(in); err != nil {
		return p.env.SayOnce(err.Error())
	}
	p.changed = p.echo.predictInput(in, predictModeFor(p.ID, p.Predict), time.Now()) || p.changed
	return p.echo.scheduleLate()
}

// Mouse handles a mouse event inside the pane or, during a drag, outside. An event that the program
// does not want selects text or scrolls.
func (p *Pane) Mouse(e keys.Mouse) tea.Cmd {
	if p.drag.active || !p.WantsMouse(e) && e.IsLeftDown() {
		p.changed = true
		return p.drag.handleMouse(e)
	}
	e.X, e.Y = min(max(e.X, 0), p.w-1), min(max(e.Y, 0), p.h-1)
	if p.Terminal.Mouse(e) && e.IsWheel() {
		p.changed = true
	}
	return nil
}

// Selecting reports whether the mouse is selecting.
func (p *Pane) Selecting() bool { return p.drag.active }

// CancelDrag ends a drag whose release was lost.
func (p *Pane) CancelDrag() {
	if p.drag.active {
		p.drag.active = false
		p.Pointer.Release()
		p.ClearMarks()
		p.changed = true
	}
}

// ClearMarks removes the marks of a selection made with the mouse from the live screen.
func (p *Pane) ClearMarks() { p.changed = p.Scroll.ClearFlash() || p.changed }

// Resize sets the size of the pane. Viewport.SendSize sends it to the session later.
func (p *Pane) Resize(w, h int) {
	p.w, p.h = w, h
	p.SetSize(w, h)
}

// SetRowsBelow sets how many rows of the view are below the pane. A search line at the bottom of
// the view covers these rows before it covers the pane.
func (p *Pane) SetRowsBelow(n int) { p.Scroll.rowsBelow = n }

// Draw returns the pane's rows. The slice is valid until the next call.
func (p *Pane) Draw() []string {
	p.exit = p.ending.row(p.status.hasEnded(), p.w)
	if p.exit.reason == "" && !p.status.hasEnded() {
		p.exit = p.queued.row()
	}
	return p.Terminal.Draw(p.w, p.h, p.env.Look())
}

func (p *Pane) Cursor() *tea.Cursor {
	c, ok := p.Terminal.Cursor()
	if !ok {
		return nil
	}
	return viewCursor(c)
}

// Title returns the name and the detail for a pane's title row. folder says that the detail is the
// working directory.
func (p *Pane) Title() (name, detail string, folder bool) {
	process, ok := p.env.News().Process(p.ID)
	if !ok {
		return "new session", "", false
	}
	name = states.ShownName(&process)
	if machine, _ := api.MachineOf(p.ID); machine != "" {
		if m := p.env.News().Machine(machine); m != nil && m.State != api.MachineConnected {
			return name, m.OfflineReason(time.Now()), false
		}
	}
	if title := text.Clean(p.State().Title); title != "" && title != name {
		return name, title, false
	}
	if len(process.Argv) > 1 {
		return name, states.CommandText(&process), false
	}
	return name, text.ShortPath(process.CWD, p.env.Home()), true
}

// folderOf returns the working directory of the session's program or, if that is unknown, of the
// dashboard.
func folderOf(p *Pane) string {
	if process, ok := p.env.News().Process(p.ID); ok && process.CWD != "" {
		machine, _ := api.MachineOf(p.ID)
		return api.PathOn(machine, process.CWD)
	}
	return p.env.Folder()
}

// Note returns no text: the list of sessions has it.
func (p *Pane) Note() (string, look.Ink) { return "", p.env.Look().Bar }

// Show and Hide do nothing: a hidden pane still receives output.
func (p *Pane) Show() {}
func (p *Pane) Hide() {}

// directHints is how many of the first hints are for keys that need no prefix.
const directHints = 2

// Hints returns hints for a few keys that need no prefix, then for the prefix and the keys after
// it. In scroll mode it returns hints for the keys of scroll mode.
func (p *Pane) Hints() (hints []keymap.Hint, ok bool) {
	switch {
	case p.Scroll.Active():
		return nil, false
	case p.status.hasEnded(), p.ending.interruption() != nil:
		return p.ending.hints(), true
	}
	b := p.env.Bindings()
	prefix := b.PrefixKeys()[0].Show()
	// An action with two keys is listed once.
	listed := map[keymap.Action]bool{}
	for _, h := range b.Hints(false, append(slices.Clone(p.Scopes()), keymap.ScopeGlobal)...) {
		if h.Key != prefix && len(hints) < directHints {
			hints = append(hints, h)
			listed[h.Action] = true
		}
	}
	hints = append(hints, keymap.Hint{Key: prefix, Does: "then"})
	for _, h := range b.Hints(true) {
		if !listed[h.Action] {
			hints = append(hints, h)
		}
	}
	return hints, true
}

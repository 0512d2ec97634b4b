package ui

import (
	"fmt"
	"slices"

	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/themes"
	"tandem/ui/screen"
)

// overlay holds the open overlay, if any. Only the user's input opens one. Dialogs that events ask
// for wait in a queue.
type overlay struct {
	open    dialog.Overlay
	waiting []dialog.Overlay // asked by events
	byUser  bool             // the user's input, or an action it waited for, is being handled
	redraw  func()
}

// ForUser runs the handler of an input event.
func (o *overlay) ForUser(handle func() tea.Cmd) tea.Cmd {
	before := o.byUser
	o.byUser = true
	defer func() { o.byUser = before }()
	return handle()
}

// Change calls change, which changes the view, the focus or the zoom. All such changes go through
// here, so that none happens while an event is handled: the user may be typing.
func (o *overlay) Change(change func() tea.Cmd) tea.Cmd {
	if !o.byUser {
		return nil
	}
	return change()
}

// Ask opens a dialog in place of the current one if the user's input is being handled. Otherwise the
// user may be typing something else, so it waits until openWaiting.
func (o *overlay) Ask(d dialog.Overlay) {
	if o.byUser {
		o.open = d
	} else {
		o.waiting = append(o.waiting, d)
	}
	o.redraw()
}

// openWaiting opens the dialog that has waited longest. There must be one.
func (o *overlay) openWaiting() tea.Cmd {
	first := o.waiting[0]
	o.waiting = o.waiting[1:]
	o.Ask(first)
	return nil
}

func (o *overlay) Close() {
	o.open = nil
	o.redraw()
}

// Shows reports whether the dialog d is open or waits in the queue. Shows(nil) reports whether no
// dialog is open.
func (o *overlay) Shows(d dialog.Overlay) bool {
	return o.open == d || slices.Contains(o.waiting, d)
}

// waitingText tells the user which key opens the waiting dialog, and what that dialog is about.
func (d *openDialog) waitingText() string {
	return d.host.Bindings().KeyOrName(keymap.QuestionOpen, keymap.ScopePrefix) + " answers: " + d.waitingName()
}

// waitingName names the dialog that has waited longest.
func (d *openDialog) waitingName() string {
	what := "a question"
	switch first := d.waiting[0].(type) {
	case *dialog.Question:
		what = first.Title
	case *dialog.Picker:
		what = first.Title
	}
	if n := len(d.waiting); n > 1 {
		what += fmt.Sprintf(" (%d more)", n-1)
	}
	return what
}

// An openDialog draws the open overlay and its progress indicator.
type openDialog struct {
	overlay
	host  dialog.Host
	frame *frame
	look  *look.Look

	seen  dialog.Overlay // overlay drawn last
	press overlayPress
	busy  busySpinner
}

// A busySpinner turns while an overlay waits.
type busySpinner struct {
	spinner spinner.Model
	turning bool // a tick is scheduled
}

// isBusy reports whether the overlay waits for a result.
func (d *openDialog) isBusy() bool {
	return d.open != nil && d.open.Traits().Busy
}

// do handles a bound key.
func (d *openDialog) do(a keymap.Action) tea.Cmd {
	d.redraw()
	return d.open.Do(d.host, a)
}

// typeKey handles a key without a binding.
func (d *openDialog) typeKey(k keys.Key) tea.Cmd {
	d.redraw()
	press, ok := screen.Press(k)
	if !ok {
		return nil
	}
	return d.open.Type(d.host, press)
}

func (d *openDialog) paste(text string) tea.Cmd {
	d.redraw()
	return d.open.Paste(d.host, text)
}

// handleMouse handles an event inside the dialog. A click outside closes it.
func (d *openDialog) handleMouse(e keys.Mouse) tea.Cmd {
	traits, box := d.open.Traits(), d.frame.box
	switch {
	// A dialog that is not drawn yet cannot be the target of a click.
	case d.open != d.seen:
	case traits.Mouse != nil && box.Contains(e.X, e.Y):
		d.redraw()
		e.X, e.Y = e.X-box.X-2, e.Y-box.Y-1
		return traits.Mouse(d.host, e)
	case traits.Dismiss != nil && e.IsLeftDown():
		traits.Dismiss(d.host)
	}
	return nil
}

// startSpinner starts the spinner if the overlay waits.
func (d *openDialog) startSpinner() tea.Cmd {
	s := &d.busy
	if s.turning || !d.isBusy() {
		return nil
	}
	frames := spinner.MiniDot
	if d.look.Glyphs == themes.ASCIIGlyphs() {
		frames = spinner.Line
	}
	s.spinner, s.turning = spinner.New(spinner.WithSpinner(frames)), true
	return s.spinner.Tick
}

// advanceSpinner shows the next frame, or stops the spinner.
func (d *openDialog) advanceSpinner(msg spinner.TickMsg) (cmd tea.Cmd) {
	if d.busy.turning = d.isBusy(); d.busy.turning {
		d.busy.spinner, cmd = d.busy.spinner.Update(msg)
	}
	return cmd
}

// spinnerText returns the current frame and a space; empty if the spinner stands still.
func (d *openDialog) spinnerText() string {
	if !d.busy.turning {
		return ""
	}
	return d.busy.spinner.View() + " "
}

// runAnswer runs the handler of an overlay's answer, unless another overlay is open by
// now.
func (d *openDialog) runAnswer(a dialog.Answer) tea.Cmd {
	if d.open != a.Of {
		return nil
	}
	return a.Do()
}

// fitsScreen reports whether the overlay, if any, fits a screen of w×h cells. Half a
// question must not be answered.
func (d *openDialog) fitsScreen(w, h int) bool {
	if d.open == nil {
		return true
	}
	rows, width, _, _ := d.open.Draw(d.host, w, h)
	return width+4 <= w && len(rows)+2 < h
}

// draw draws the overlay over a frame of w×h cells.
func (d *openDialog) draw(w, h int) {
	inside, width, x, y := d.open.Draw(d.host, w, h)
	rows, at := dialog.DrawBox(inside, width, look.Rect{W: w, H: h}, d.look)
	traits := d.open.Traits()
	if traits.Low {
		at.Y = max(h-1-at.H, 0)
	}
	d.seen = d.open
	if !traits.Live {
		d.frame.dim(d.look)
	}
	d.frame.drawBox(rows, at, w)
	if x >= 0 {
		d.frame.view.Cursor = tea.NewCursor(at.X+2+x, at.Y+1+y)
		d.frame.view.Cursor.Shape = tea.CursorBar
	}
}

func (m *model) showHelp() tea.Cmd {
	scopes := m.keyboard.activeScopes()
	under := m.dialog.open
	if p := m.sessions.FocusedPane(); p != nil && !p.Scroll.Active() && under == nil {
		scopes = append([]keymap.Scope{keymap.ScopePrefix}, scopes...)
	}
	sections := m.o.Bindings.Help(scopes...)
	if !m.tips.areShown() {
		for i := range sections {
			sections[i].Rows = slices.DeleteFunc(sections[i].Rows, func(r keymap.HelpRow) bool { return r.Action == keymap.TipsHide })
		}
	}
	m.dialog.Ask(&dialog.Help{Sections: sections, Prefix: m.o.Bindings.PrefixKeys()[0].Show(), Closed: func() { m.dialog.open = under }})
	return nil
}

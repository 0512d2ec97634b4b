package sessions

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/look"
	"tandem/panes/sessions/list"
	"tandem/panes/terminal"
)

// A View shows the list of sessions beside the current tab, a tree of panes.
type View struct {
	panes.NoInput // keys arrive as they were pressed

	Tabs     SharedTabs
	Panes    Panes
	List     *list.Pane
	Launcher Launcher

	env     Env
	actions panes.Actions

	focus    focus
	display  display
	arranger arranger
	grab     mouseGrab

	deleted []api.Process // or dismissed, since the last closeFinished

	DeferStart bool // start no session before the view is shown
}

// New returns a view that is shown but has no size yet.
func New(e Env) *View {
	v := &View{env: e}
	v.List = list.New(listEnv{e, v})
	v.List.Show()
	var search terminal.Search
	v.Panes = Panes{env: e, all: map[string]*terminal.Pane{}, cancels: map[string]context.CancelFunc{}, create: func(id string) *terminal.Pane {
		return terminal.New(terminalEnv{e, &v.Launcher, func(ids ...string) tea.Cmd { return v.List.Restorer.Restore(ids...) }, v.closePane}, &search, id)
	}}
	v.Tabs = SharedTabs{env: e, panes: &v.Panes, show: v.adopt, stale: true, isCancelled: v.Launcher.starter.isCancelled}
	v.display = display{env: e, tabs: &v.Tabs, panes: &v.Panes, focus: &v.focus, list: v.List, launcher: &v.Launcher}
	v.focus = focus{env: e, tabs: &v.Tabs, panes: &v.Panes, display: &v.display, list: v.List, shown: true}
	v.Launcher = Launcher{env: e, tabs: &v.Tabs, panes: &v.Panes, focus: &v.focus, list: v.List, adopt: v.adopt}
	v.Launcher.starter = starter{env: e, panes: &v.Panes, then: v.Launcher.handleStarted}
	v.arranger = arranger{env: e, tabs: &v.Tabs, display: &v.display, focus: &v.focus, launcher: &v.Launcher}
	v.grab = mouseGrab{tabs: &v.Tabs, panes: &v.Panes, focus: &v.focus, display: &v.display, list: v.List, dialogs: e, resize: v.arranger.resize, askName: v.arranger.askTabName}
	v.actions = v.makeActions()
	return v
}

// FocusedPane returns the pane that receives keys; nil if the list or another view does.
func (v *View) FocusedPane() *terminal.Pane { return v.focus.pane() }

// CurrentPane returns the pane focused last; nil if there is none.
func (v *View) CurrentPane() *terminal.Pane { return v.Panes.Pane(v.Tabs.CurrentID()) }

// FocusTerminal moves the keyboard from the list to the pane that had it last.
func (v *View) FocusTerminal() { v.focus.onTerminal() }

// OpenSession shows a session in its pane, or in a new one.
func (v *View) OpenSession(id string) tea.Cmd {
	if id == "" {
		return nil
	}
	if t, l := v.Tabs.FindSession(id); t != nil {
		v.focus.openTab(t, l)
		return nil
	}
	v.Panes.attach(id) // so that it is shown although it may be unknown, or have exited
	v.focus.change(id, ownTab(id, api.OwnEnd))
	return nil
}

// maxStartWait is how long Leave waits for sessions that are still starting.
const maxStartWait = 300 * time.Millisecond

// Leave sends the engine the last changes of the layout, after the dashboard's event loop has
// stopped. First it waits for starting sessions; task runs their requests.
func (v *View) Leave(ctx context.Context, task func(func())) {
	if !v.display.isOpen || !v.env.News().Connected {
		return
	}
	starts, stop := context.WithTimeout(ctx, maxStartWait)
	defer stop()
	v.Launcher.finishStarts(starts, task)
	v.Tabs.sendLast(ctx, v.display.zoomed)
}

// Fetch requests missing lines of the focused pane. If something has changed since the last call,
// it also sends the engine what has changed here.
func (v *View) Fetch() tea.Cmd {
	var cmd tea.Cmd
	if v.focus.takeSyncRequest() {
		cmd = v.syncEngine()
	}
	cmd = tea.Batch(cmd, v.List.Fetch())
	if p := v.FocusedPane(); p != nil {
		cmd = tea.Batch(cmd, p.Fetch())
	}
	if invariants.Enabled {
		Check(v)
	}
	return cmd
}

// syncEngine opens the first session, and sends the engine the sizes of the panes and the changes of
// the layout.
func (v *View) syncEngine() tea.Cmd {
	cmd := tea.Batch(v.openFirst(), v.sendSizes())
	if v.display.isOpen {
		cmd = tea.Batch(cmd, v.List.Restorer.RestoreAutomatically())
	}
	if v.display.isOpen && v.grab.dragged == nil {
		cmd = tea.Batch(cmd, v.Tabs.send(v.display.zoomed))
	}
	return tea.Batch(cmd, v.env.PanesChanged())
}

const (
	// sizeInterval is the minimum time between two size reports to sessions during a
	// resize.
	sizeInterval = 60 * time.Millisecond
	// settleTime is how long a session may take to adopt a size before its pane shows the
	// mismatch.
	settleTime = 300 * time.Millisecond
)

// sendSizes reports changed sizes of panes to their sessions.
func (v *View) sendSizes() tea.Cmd {
	if !v.Panes.sendSizes(v.display.visibleLeaves) {
		return nil
	}
	return tea.Batch(
		panes.After(sizeInterval, func() tea.Cmd {
			v.Panes.sizesPaused = false
			v.focus.requestSync()
			return nil
		}),
		panes.After(settleTime, func() tea.Cmd {
			for _, l := range v.display.visibleLeaves() {
				v.Panes.Pane(l.ID).View.SettleSize()
			}
			v.display.dirty = true
			return nil
		}),
	)
}

// TakeKey handles a key before its binding is looked up. It selects a numbered pane, goes to the
// focused pane, or moves a border again.
func (v *View) TakeKey(k keys.Key) (taken bool) {
	for _, l := range v.display.visibleLeaves() {
		v.Panes.Pane(l.ID).ClearMarks()
	}
	if v.display.numbers != nil {
		return v.focus.handleNumberKey(k)
	}
	if p := v.FocusedPane(); p != nil && p.TakeKey(k) {
		return true
	}
	return v.arranger.repeatMove(k)
}

// HandleKey passes a key to the focused pane.
func (v *View) HandleKey(k keys.Key) tea.Cmd {
	if p := v.FocusedPane(); p != nil {
		return p.HandleKey(k)
	}
	return nil
}

// Paste passes text to the focused pane.
func (v *View) Paste(text string) tea.Cmd {
	if p := v.FocusedPane(); p != nil {
		return p.Paste(text)
	}
	return nil
}

// Scopes returns the scopes of the focused pane, or of the list if that has the keyboard.
func (v *View) Scopes() []keymap.Scope {
	if p := v.FocusedPane(); p != nil {
		return p.Scopes()
	}
	return v.List.Scopes()
}

// Hints returns the hints of the focused pane, or of the list if that has the keyboard.
func (v *View) Hints() ([]keymap.Hint, bool) {
	if v.display.numbers != nil {
		return []keymap.Hint{{Key: v.display.numbers.KeyRange(), Does: "go to the pane"}, v.env.Bindings().Hint(keymap.Cancel, "stay", keymap.ScopePicker)}, true
	}
	if p := v.FocusedPane(); p != nil {
		return p.Hints()
	}
	if v.focus.shown && v.List.Restorer.Offers(v.List.Selected()) {
		return v.List.Restorer.Hints(), true
	}
	if v.display.isOpen && v.Tabs.Current == nil && v.List.IsEmpty() {
		return v.display.emptyPage().Hints, true
	}
	return nil, false
}

// Note returns the list's note, such as who may type into the session.
func (v *View) Note() (string, look.Ink) { return v.List.Note() }

// Mouse handles an event in the view's cells.
func (v *View) Mouse(e keys.Mouse) tea.Cmd { return v.grab.handleMouse(e) }

// Resize sets the view's size. With an empty size nothing is drawn.
func (v *View) Resize(w, h int) {
	v.display.w, v.display.h, v.display.sized = w, h, true
	v.focus.relayout()
}

// Draw implements panes.Pane. The dashboard calls AppendRows instead, which needs no string per row.
func (v *View) Draw() []string {
	return strings.Split(strings.TrimSuffix(string(v.AppendRows(nil)), "\n"), "\n")
}

// AppendRows appends the rows of the view, each with a newline.
func (v *View) AppendRows(to []byte) []byte { return v.display.appendRows(to) }

// NeedsRedraw reports whether the view must be redrawn. The next call reports false unless
// something changes again.
func (v *View) NeedsRedraw() bool { return v.display.needsRedraw() }

// Cursor returns the cursor of the focused pane, in the view's cells.
func (v *View) Cursor() *tea.Cursor { return v.display.cursor() }

// Show and Hide mark the view as shown or hidden, and report the change of focus.
func (v *View) Show() {
	if !v.focus.shown {
		v.focus.moveKeyboard(func() { v.focus.shown = true })
		v.Panes.sizesChanged = true
		v.List.Show()
		v.focus.refreshList()
	}
}

func (v *View) Hide() {
	v.focus.moveKeyboard(func() { v.focus.shown = false })
	v.Panes.sizesChanged, v.display.numbers = true, nil
	v.focus.requestSync()
	v.List.Hide()
}

// SetBlurred reports to the focused program that the terminal's window has lost or gained
// the keyboard.
func (v *View) SetBlurred(blurred bool) {
	v.focus.blurred = blurred
	if p := v.FocusedPane(); p != nil {
		p.Focus(!blurred)
	}
	if !blurred {
		v.focus.refreshList()
	}
}

// Sync applies output that has arrived for the panes.
func (v *View) Sync() tea.Cmd {
	rang, cmd := v.Panes.sync()
	cmd = tea.Batch(cmd, v.TakeClips(), v.closeFinished())
	if rang {
		v.env.Bell()
	}
	return cmd
}

// TakeClips passes on text that the focused program put on the clipboard. What other programs put
// there is dropped.
func (v *View) TakeClips() (cmd tea.Cmd) {
	for id := range v.Panes.cancels {
		p := v.Panes.Pane(id)
		if clip := p.Feed.TakeClip(); clip != nil && p == v.FocusedPane() {
			cmd = v.env.TakeClip(clip)
		}
	}
	return cmd
}

// HandleNews updates the tabs after news of the engine.
func (v *View) HandleNews(before *panes.News) {
	v.Tabs.reopen(before)
	v.adopt()
	v.noteDeleted(before)
	v.List.HandleNews(before)
}

// askKill asks before a session is ended or its start cancelled. It closes a pane without asking if
// the program has exited, the session is unknown or it was interrupted.
func (v *View) askKill() tea.Cmd {
	if p := v.FocusedPane(); p != nil {
		if p.Starting {
			return v.Launcher.askCancel(p.ID)
		}
		if session, ok := v.env.News().Process(p.ID); ok && session.State.Ended() || !ok && p.Err() != nil {
			return v.closePane()
		}
	}
	return v.List.AskKill()
}

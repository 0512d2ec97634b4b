package sessions

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/invariants"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/look"
	"tandem/panes/sessions/layout"
	"tandem/panes/sessions/list"
	"tandem/panes/terminal"
)

// A View shows the list of sessions beside the current tab, a tree of panes.
type View struct {
	panes.NoInput // keys arrive as they were pressed

	Tabs     Tabs
	List     *list.Pane
	Launcher Launcher

	env     Env
	actions panes.Actions

	display     display
	attachments attachments
	switcher    switcher
	starter     starter
	sessionTabs sessionTabs
	layoutSync  layoutSync
	layouts     layoutDialogs
	arranger    arranger
	grab        mouseGrab

	DeferStart bool // start no session before the view is shown
}

// New returns a view that is shown but has no size yet.
func New(e Env) *View {
	v := &View{env: e}
	tabs, d, s := &v.Tabs, &v.display, &v.switcher
	a, launcher := &v.attachments, &v.Launcher
	v.List = list.New(listEnv{e, tabs, d, s, launcher, v.OpenSession})
	tabs.shown = true
	v.display = display{env: e, tabs: tabs, list: v.List}
	v.attachments = attachments{env: e, tabs: tabs, cancels: map[string]context.CancelFunc{}}
	v.switcher = switcher{env: e, tabs: tabs, display: d, list: v.List, attachments: a,
		noteChange: v.layoutSync.noteChange}
	v.layoutSync = layoutSync{env: e, tabs: tabs, list: v.List, display: d, switcher: s}
	v.starter = starter{env: e, tabs: tabs, then: launcher.handleStarted}
	v.sessionTabs = sessionTabs{env: e, tabs: tabs, display: d, list: v.List, switcher: s,
		attachments: a, layoutSync: &v.layoutSync, isPending: v.starter.isPending}
	v.Launcher = Launcher{env: e, tabs: tabs, list: v.List, switcher: s, attachments: a, sessionTabs: &v.sessionTabs, starter: &v.starter}
	v.arranger = arranger{env: e, tabs: tabs, display: d, switcher: s, launcher: launcher}
	v.layouts = layoutDialogs{env: e, tabs: tabs, display: d, switcher: s, current: v.layoutSync.currentLayout, arrange: v.arranger.applyArrangement}
	v.grab = mouseGrab{tabs: tabs, display: d, list: v.List, switcher: s, dialogs: e}
	v.List.Show()
	var search terminal.Search
	v.Tabs.panes = map[string]*terminal.Pane{}
	v.Tabs.create = func(id string) *terminal.Pane {
		return terminal.New(terminalEnv{e, launcher, v.sessionTabs.closePane}, &search, id)
	}
	v.actions = v.makeActions()
	return v
}

// ShowLayout arranges the sessions as in a layout, and shows its current tab.
func (v *View) ShowLayout(l api.Layout) { v.layouts.showLayout(l) }

// FocusTerminal moves the keyboard from the list to the pane that had it last.
func (v *View) FocusTerminal() { v.switcher.focusTerminal() }

// OpenSession shows a session in its pane, or in a new one.
func (v *View) OpenSession(id string) tea.Cmd {
	if id == "" {
		return nil
	}
	t, l := v.Tabs.FindSession(id)
	if t == nil {
		t = v.Tabs.AddTab(id)
	}
	v.switcher.openTab(t, l)
	return nil
}

// maxStartWait is how long Leave waits for sessions that are still starting.
const maxStartWait = 300 * time.Millisecond

// Leave saves the layout when the user detaches, after the program has stopped. It waits for
// starting sessions to include them; task runs their requests.
func (v *View) Leave(ctx context.Context, task func(func())) {
	if !v.display.isOpen || !v.env.News().Connected {
		return
	}
	starts, stop := context.WithTimeout(ctx, maxStartWait)
	defer stop()
	v.Launcher.finishStarts(starts, task)
	v.layoutSync.saveLast(ctx)
}

// Fetch requests missing lines in the focused pane, and acts on what has happened since the last
// call.
func (v *View) Fetch() tea.Cmd {
	var cmd tea.Cmd
	if v.switcher.needsSettling() {
		cmd = v.settle()
	}
	cmd = tea.Batch(cmd, v.List.Fetch())
	if p := v.Tabs.FocusedPane(); p != nil {
		cmd = tea.Batch(cmd, p.Fetch())
	}
	if invariants.Enabled {
		Check(v)
	}
	return cmd
}

// settle opens the first session, and exchanges sizes and layouts with the engine.
func (v *View) settle() tea.Cmd {
	dragging := v.grab.dragged != nil
	if !dragging {
		v.layoutSync.followOthers()
	}
	cmd := tea.Batch(v.openFirst(), v.sendSizes())
	if v.display.isOpen {
		cmd = tea.Batch(cmd, v.List.Restorer.RestoreAutomatically())
	}
	if !dragging && len(v.starter.waiting) == 0 {
		cmd = tea.Batch(cmd, v.layoutSync.sendLayout())
	}
	return tea.Batch(cmd, v.env.PanesChanged())
}

// openFirst shows the first session, or starts one, once the view's size and the sessions
// are known.
func (v *View) openFirst() tea.Cmd {
	if v.display.isOpen || !v.env.News().Connected || !v.layoutSync.restored || !v.display.sized {
		return nil
	}
	first, leaf := v.layoutSync.findFirst()
	if !v.Tabs.shown && v.DeferStart && first == nil {
		// Start a session only once the user opens the view.
		return nil
	}
	defer func() { v.display.isOpen = true }()
	v.layoutSync.first = nil // a closed tab must not stay in memory
	if first == nil {
		return v.Launcher.NewSession()
	}
	v.showFirst(first, leaf)
	v.layoutSync.finishOpening()
	return nil
}

// showFirst shows the tab to open with.
func (v *View) showFirst(first *layout.Tab, leaf *layout.Node) {
	v.switcher.showTab(first, leaf)
	l := v.layoutSync.wanted
	if float := v.Tabs.Float; l.Floats && float != nil {
		if leaf := v.switcher.leafOn(float, ""); leaf != nil {
			v.switcher.showTab(float, leaf)
		}
	}
	if p := v.Tabs.CurrentPane(); l.Zoomed && layout.IsFocused(l, p.ID) {
		v.switcher.setZoomed(true)
	}
	v.switcher.refreshList()
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
	if !v.attachments.sendSizes(v.display.visibleLeaves) {
		return nil
	}
	return tea.Batch(
		panes.After(sizeInterval, func() tea.Cmd {
			v.attachments.sizesPaused = false
			v.switcher.requestSettle()
			return nil
		}),
		panes.After(settleTime, func() tea.Cmd {
			for _, l := range v.display.visibleLeaves() {
				v.Tabs.Pane(l.ID).View.SettleSize()
			}
			v.display.dirty = true
			return nil
		}),
	)
}

// TakeKey offers a key to the focused pane, or repeats the move of a border, before its
// binding is looked up.
func (v *View) TakeKey(k keys.Key) (taken bool) {
	for _, l := range v.display.visibleLeaves() {
		v.Tabs.Pane(l.ID).ClearMarks()
	}
	if v.display.numbers != nil {
		return v.switcher.handleNumberKey(k)
	}
	if p := v.Tabs.FocusedPane(); p != nil && p.TakeKey(k) {
		return true
	}
	return v.arranger.repeatMove(k)
}

// HandleKey passes a key to the focused pane.
func (v *View) HandleKey(k keys.Key) tea.Cmd {
	if p := v.Tabs.FocusedPane(); p != nil {
		return p.HandleKey(k)
	}
	return nil
}

// Paste passes text to the focused pane.
func (v *View) Paste(text string) tea.Cmd {
	if p := v.Tabs.FocusedPane(); p != nil {
		return p.Paste(text)
	}
	return nil
}

// Scopes returns those of the focused pane, or of the list.
func (v *View) Scopes() []keymap.Scope {
	if p := v.Tabs.FocusedPane(); p != nil {
		return p.Scopes()
	}
	return v.List.Scopes()
}

// Hints returns those of the focused pane, or of the list.
func (v *View) Hints() ([]keymap.Hint, bool) {
	if v.display.numbers != nil {
		return []keymap.Hint{{Key: v.display.numbers.KeyRange(), Does: "go to the pane"}, v.env.Bindings().Hint(keymap.Cancel, "stay", keymap.ScopePicker)}, true
	}
	if p := v.Tabs.FocusedPane(); p != nil {
		return p.Hints()
	}
	if v.Tabs.shown && v.List.Restorer.Offers(v.List.Selected()) {
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
	v.switcher.relayout()
}

// Draw implements panes.Pane and is never called: the dashboard calls AppendRows.
func (v *View) Draw() []string { return nil }

// AppendRows appends the rows of the view, each with a newline.
func (v *View) AppendRows(to []byte) []byte { return v.display.appendRows(to) }

// NeedsRedraw reports whether the view must be redrawn, and resets that state.
func (v *View) NeedsRedraw() bool { return v.display.needsRedraw() }

// Cursor returns the cursor of the focused pane, in the view's cells.
func (v *View) Cursor() *tea.Cursor { return v.display.cursor() }

// Show and Hide mark the view as shown or hidden, and report the change of focus.
func (v *View) Show() {
	if !v.Tabs.shown {
		v.Tabs.shown, v.attachments.sizesChanged = true, true
		v.List.Show()
		v.Tabs.reportFocus(true)
		v.switcher.refreshList()
	}
}

func (v *View) Hide() {
	v.Tabs.reportFocus(false)
	v.Tabs.shown, v.attachments.sizesChanged, v.display.numbers = false, true, nil
	v.switcher.requestSettle()
	v.List.Hide()
}

// SetBlurred reports to the focused program that the terminal's window has lost or gained
// the keyboard.
func (v *View) SetBlurred(blurred bool) {
	v.Tabs.blurred = blurred
	if p := v.Tabs.FocusedPane(); p != nil {
		p.Focus(!blurred)
	}
	if !blurred {
		v.switcher.refreshList()
	}
}

// Sync applies output that has arrived for the panes.
func (v *View) Sync() tea.Cmd {
	rang, cmd := v.attachments.sync()
	cmd = tea.Batch(cmd, v.TakeClips(), v.sessionTabs.closeFinished())
	if rang {
		v.env.Bell()
	}
	return cmd
}

// TakeClips passes on text that the focused program put on the clipboard. That of other
// programs is dropped.
func (v *View) TakeClips() (cmd tea.Cmd) {
	for id := range v.attachments.cancels {
		p := v.Tabs.Pane(id)
		if clip := p.Feed.TakeClip(); clip != nil && p == v.Tabs.FocusedPane() {
			cmd = v.env.TakeClip(clip)
		}
	}
	return cmd
}

// HandleNews updates the tabs after news of the engine.
func (v *View) HandleNews(before *panes.News) {
	v.layoutSync.restoreLayout()
	if v.List.UnhideRunning() {
		v.layoutSync.noteChange()
	}
	v.layoutSync.applyUnrequested(v.sessionTabs.adopt)
	v.sessionTabs.noteDeleted(before)
	v.switcher.refreshList()
	v.List.HandleNews(before)
}

// askKill asks before a session is ended or its start cancelled. A pane whose program has
// exited, or whose session is unknown, is closed without a question; so is an interrupted one.
func (v *View) askKill() tea.Cmd {
	if p := v.Tabs.FocusedPane(); p != nil {
		if p.Starting {
			return v.Launcher.askCancel(p.ID)
		}
		if session, ok := v.env.News().Process(p.ID); ok && session.State.Ended() || !ok && p.Err() != nil {
			return v.sessionTabs.closePane()
		}
	}
	return v.List.AskKill()
}

package ui

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/graphics"
	"tandem/panes/kit/look"
	"tandem/panes/sessions"
	"tandem/panes/terminal"
	"tandem/ui/layout"
)

// A sessionsEnv is what the Sessions view requires of the dashboard, beyond what every
// pane does.
type sessionsEnv interface {
	panes.Env
	Press(keys.Key) tea.Cmd
	SayOnce(text string) tea.Cmd
	CopyRead(terminal.Read) tea.Cmd
	TakeClip(clip []byte) tea.Cmd // from the focused program
	ShowNote(text string, bad bool) tea.Cmd
	Notify(text string) tea.Cmd
	SessionPictures() graphics.Screen
	ShowRequest(id string) tea.Cmd
	Bell()

	Attach(ctx context.Context, id string, feed *terminal.Feed) // feeds a pane until ctx is done
	Ended(api.Process)                                          // reports an exit before its event arrives
	ShowSessions()                                              // shows the view
	Blurred() bool                                              // another window has the keyboard
	HasDialog() bool                                            // a dialog covers the view
	OpenMachine(name string) tea.Cmd                            // starts a session on a machine, or connects to it
	Relayout()                                                  // after the zoom started or ended
}

// A sessionsView shows the list of sessions beside the current tab, a tree of panes.
type sessionsView struct {
	panes.NoInput // keys arrive as they were pressed

	env     sessionsEnv
	list    *sessions.Pane
	search  terminal.Search // last search in a pane
	actions panes.Actions

	attachments attachments
	launcher    launcher
	layoutSync  layoutSync
	layouts     layoutDialogs
	arranger    arranger
	navigator   navigator
	grab        mouseGrab

	w, h       int
	areas      sessionAreas
	tight      bool // one pane has the whole view: it is zoomed, or no more fit
	shown      bool
	deferStart bool // start no session before the view is shown
	sized      bool // the size is known, even if too small
	isOpen     bool // the first news were applied, and a session is shown

	tabs         layout.Tabs
	showCount    uint64 // counts the tabs shown, for Tab.Shown
	listFocused  bool
	zoomed       bool // the focused pane fills the screen
	zoomReported bool // the value of zoomed passed to the dashboard

	pictures graphics.Screen // how to draw programs' pictures

	sizes      sizeSync
	dirty      bool           // something must be redrawn
	leafBuffer []*layout.Node // reused by NeedsRedraw, which runs after every message
}

func newSessionsView(e sessionsEnv) *sessionsView {
	v := &sessionsView{env: e, shown: true}
	v.attachments = attachments{env: e, cancels: map[*terminal.Pane]context.CancelFunc{}}
	inner := sessionsHost{e, v}
	v.list = sessions.New(inner)
	v.launcher = launcher{v: v, starting: map[string]*terminal.Pane{}}
	v.launcher.starter = sessions.NewStarter(inner, v.launcher.handleStarted)
	v.layoutSync, v.layouts, v.arranger, v.navigator, v.grab = layoutSync{v: v}, layoutDialogs{v: v}, arranger{v: v}, navigator{v: v}, mouseGrab{v: v}
	v.list.Show()
	v.tabs.New = func(id string) *terminal.Pane { return terminal.New(inner, &v.search, id) }
	v.actions = v.makeActions()
	return v
}

// A sessionsHost is the environment of the list and the panes: the dashboard's, extended
// by the view.
type sessionsHost struct {
	sessionsEnv
	v *sessionsView
}

func (p sessionsHost) StartNear(near *terminal.Pane, command []string, folder string) tea.Cmd {
	return p.v.launcher.startCommand(near, command, folder)
}
func (p sessionsHost) StartInPlace(ended *terminal.Pane) tea.Cmd {
	return p.v.launcher.startInPlace(ended)
}
func (p sessionsHost) ClosePane(*terminal.Pane) tea.Cmd { return p.v.closePane() }
func (p sessionsHost) FocusList() tea.Cmd               { return p.v.focusList() }

func (p sessionsHost) IsVisible(id string) bool {
	return !p.Blurred() && slices.ContainsFunc(p.v.visibleLeaves(), func(l *layout.Node) bool { return l.Pane.ID == id })
}

func (p sessionsHost) Focused() (id string, ok bool) {
	if t := p.v.focusedPane(); t != nil {
		return t.ID, true
	}
	return "", false
}

func (p sessionsHost) Open(id string) tea.Cmd {
	if machine, session := api.MachineOf(id); machine != "" && session == "" {
		return p.OpenMachine(machine)
	} else if session == "" {
		return p.v.launcher.startOn("", nil, nil, "")
	}
	return p.v.openSession(id)
}

// Update handles the results of requests by the view and its panes.
func (v *sessionsView) Update(msg tea.Msg) tea.Cmd {
	v.dirty = true
	switch msg := msg.(type) {
	case sizesDue:
		v.sizes.pausing = false
	case settleDue:
		for _, l := range v.visibleLeaves() {
			l.Pane.SettleSize()
		}
	case layoutPutMsg:
		v.layoutSync.finishPut(msg)
	case layoutExistsMsg:
		v.layouts.askReplaceLayout(msg)
	case layoutSavedMsg:
		return v.layouts.reportSaved(msg)
	}
	return nil
}

// Fetch opens the first session, sends sizes and the layout, and requests lines missing in
// the focused pane.
func (v *sessionsView) Fetch() tea.Cmd {
	v.layoutSync.followOthers()
	cmd := tea.Batch(v.openFirst(), v.list.Fetch(), v.sizes.sendSizes(v.attachments.cancels, v.visibleLeaves), v.layoutSync.sendLayout())
	if p := v.focusedPane(); p != nil {
		cmd = tea.Batch(cmd, p.Fetch())
	}
	return cmd
}

// TakeKey offers a key to the focused pane, or repeats the move of a border, before its
// binding is looked up.
func (v *sessionsView) TakeKey(k keys.Key) (taken bool) {
	for _, l := range v.visibleLeaves() {
		l.Pane.ClearMarks()
	}
	if v.navigator.numbers != nil {
		return v.navigator.handleNumberKey(k)
	}
	if p := v.focusedPane(); p != nil && p.TakeKey(k) {
		return true
	}
	return v.arranger.repeatMove(k)
}

// HandleKey passes a key to the focused pane.
func (v *sessionsView) HandleKey(k keys.Key) tea.Cmd {
	if p := v.focusedPane(); p != nil {
		return p.HandleKey(k)
	}
	return nil
}

// Paste passes text to the focused pane.
func (v *sessionsView) Paste(text string) tea.Cmd {
	if p := v.focusedPane(); p != nil {
		return p.Paste(text)
	}
	return nil
}

// Scopes returns those of the focused pane, or of the list.
func (v *sessionsView) Scopes() []keymap.Scope {
	if p := v.focusedPane(); p != nil {
		return p.Scopes()
	}
	return v.list.Scopes()
}

// Hints returns those of the focused pane, or of the list.
func (v *sessionsView) Hints() ([]keymap.Hint, bool) {
	if v.navigator.numbers != nil {
		return []keymap.Hint{{Key: v.navigator.numbers.KeyRange(), Does: "go to the pane"}, v.env.Bindings().Hint(keymap.Cancel, "stay", keymap.ScopePicker)}, true
	}
	if p := v.focusedPane(); p != nil {
		return p.Hints()
	}
	if v.isOpen && v.tabs.Current == nil && v.list.IsEmpty() {
		return v.emptyPage().Hints, true
	}
	return v.list.Hints()
}

// Note returns the list's note, such as who may type into the session.
func (v *sessionsView) Note() (string, look.Ink) { return v.list.Note() }

// Show and Hide mark the view as shown or hidden, and report the change of focus.
func (v *sessionsView) Show() {
	if !v.shown {
		v.shown, v.sizes.changed = true, true
		v.list.Show()
		v.reportFocus(true)
		v.refreshList()
	}
}

func (v *sessionsView) Hide() {
	v.reportFocus(false)
	v.shown, v.sizes.changed, v.navigator.numbers = false, true, nil
	v.list.Hide()
}

// SetBlurred reports to the focused program that the terminal's window has lost or gained
// the keyboard.
func (v *sessionsView) SetBlurred(blurred bool) {
	if p := v.focusedPane(); p != nil {
		p.Focus(!blurred)
	}
	if !blurred {
		v.refreshList()
	}
}

// NeedsRedraw reports whether the view must be redrawn, and resets that state.
func (v *sessionsView) NeedsRedraw() bool {
	changed := v.dirty
	v.dirty = false
	v.leafBuffer = v.appendVisible(v.leafBuffer[:0])
	for _, l := range v.leafBuffer {
		changed = l.Pane.NeedsRedraw() || changed
	}
	return changed
}

// Sync applies output that has arrived for the panes.
func (v *sessionsView) Sync() tea.Cmd {
	rang := false
	var cmd tea.Cmd
	for p := range v.attachments.cancels {
		rang = p.Sync() || rang
		cmd = tea.Batch(cmd, p.ReportUnsure())
	}
	cmd = tea.Batch(cmd, v.takeClips(), v.closeFinished())
	if rang {
		v.env.Bell()
	}
	return cmd
}

// takeClips passes on text that the focused program put on the clipboard. That of other
// programs is dropped.
func (v *sessionsView) takeClips() (cmd tea.Cmd) {
	for p := range v.attachments.cancels {
		if clip := p.Feed.TakeClip(); clip != nil && p == v.focusedPane() {
			cmd = v.env.TakeClip(clip)
		}
	}
	return cmd
}

// refreshList passes the tabs and the focus to the list.
func (v *sessionsView) refreshList() {
	var current string
	if v.tabs.Current != nil {
		current = v.tabs.Current.Focus.Pane.ID
	}
	every := v.tabs.EveryTab()
	ids := make([][]string, len(every))
	for i, t := range every {
		for _, l := range t.Root.Leaves(nil) {
			ids[i] = append(ids[i], l.Pane.ID)
		}
	}
	v.list.Focus(v.listFocused)
	v.list.HasFloat = v.tabs.Float != nil
	v.list.SetTabs(ids, current)
	v.dirty = true
	if v.areas.list.W > 0 && (v.areas.tabs.W > 0) != v.hasTabBar() {
		// A relayout changes sizes, not the layout to save.
		changed := v.layoutSync.changed
		v.relayout()
		v.layoutSync.changed = changed
	}
}

// HandleNews updates the tabs after news of the engine.
func (v *sessionsView) HandleNews(before *panes.News) {
	v.layoutSync.restoreLayout()
	if v.list.UnhideRunning() {
		v.layoutSync.changed = true
	}
	v.layoutSync.applyUnrequested(v.adoptSessions)
	if l := v.env.News().Show; l != nil {
		v.layouts.showLayout(*l)
	}
	v.refreshList()
	v.list.HandleNews(before)
}

package sessions

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/invariants"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/graphics"
	"tandem/panes/kit/look"
	"tandem/panes/sessions/layout"
	"tandem/panes/sessions/list"
	"tandem/panes/terminal"
)

// A View shows the list of sessions beside the current tab, a tree of panes.
type View struct {
	panes.NoInput // keys arrive as they were pressed

	Tabs        layout.Tabs
	List        *list.Pane
	Launcher    Launcher
	Attachments Attachments

	env     Env
	search  terminal.Search // last search in a pane
	actions panes.Actions

	layoutSync layoutSync
	layouts    layoutDialogs
	arranger   arranger
	navigator  navigator
	grab       mouseGrab

	w, h       int
	areas      areas
	tight      bool // one pane has the whole view: it is zoomed, or no more fit
	shown      bool
	blurred    bool // another window has the keyboard
	deferStart bool // start no session before the view is shown
	sized      bool // the size is known, even if too small
	isOpen     bool

	showCount    uint64 // counts the tabs shown, for Tab.Shown
	listFocused  bool
	zoomed       bool
	zoomReported bool // the value of zoomed passed to the dashboard

	pictures graphics.Screen // how to draw programs' pictures

	sizes      sizeSync
	dirty      bool           // something must be redrawn
	leafBuffer []*layout.Node // reused by NeedsRedraw, which runs after every message
}

// New returns a view that is shown but has no size yet.
func New(e Env) *View {
	v := &View{env: e, shown: true}
	v.Attachments = Attachments{env: e, cancels: map[*terminal.Pane]context.CancelFunc{}}
	inner := sessionsHost{e, v}
	v.List = list.New(inner)
	v.Launcher = Launcher{v: v, starting: map[string]*terminal.Pane{}}
	v.Launcher.starter = newStarter(inner, v.Launcher.handleStarted)
	v.layoutSync, v.layouts, v.arranger, v.navigator, v.grab = layoutSync{v: v}, layoutDialogs{v: v}, arranger{v: v}, navigator{v: v}, mouseGrab{v: v}
	v.List.Show()
	v.Tabs.New = func(id string) *terminal.Pane { return terminal.New(inner, &v.search, id) }
	v.actions = v.makeActions()
	return v
}

// A sessionsHost is the environment of the list and the panes: the dashboard's, extended
// by the view.
type sessionsHost struct {
	Env
	v *View
}

func (p sessionsHost) StartNear(near *terminal.Pane, command []string, folder string) tea.Cmd {
	return p.v.Launcher.StartNear(near, command, folder)
}
func (p sessionsHost) StartInPlace(ended *terminal.Pane) tea.Cmd {
	return p.v.Launcher.startInPlace(ended)
}
func (p sessionsHost) ClosePane(*terminal.Pane) tea.Cmd { return p.v.closePane() }
func (p sessionsHost) FocusList() tea.Cmd               { return p.v.focusList() }

func (p sessionsHost) IsVisible(id string) bool {
	return !p.v.blurred && slices.ContainsFunc(p.v.visibleLeaves(), func(l *layout.Node) bool { return l.Pane.ID == id })
}

func (p sessionsHost) Focused() (id string, ok bool) {
	if t := p.v.FocusedPane(); t != nil {
		return t.ID, true
	}
	return "", false
}

func (p sessionsHost) Open(id string) tea.Cmd {
	if machine, session := api.MachineOf(id); machine != "" && session == "" {
		return p.OpenMachine(machine)
	} else if session == "" {
		return p.v.Launcher.StartOn("")
	}
	return p.v.OpenSession(id)
}

// IsOpen reports whether the first news were applied, and a session was shown.
func (v *View) IsOpen() bool { return v.isOpen }

// IsZoomed reports whether the focused pane fills the screen.
func (v *View) IsZoomed() bool { return v.zoomed }

// SetTight sets whether one pane gets the whole view, from the next Resize on.
func (v *View) SetTight(tight bool) { v.tight = tight }

// DeferStart makes the view start no session before it is shown.
func (v *View) DeferStart() { v.deferStart = true }

// HasPendingSizes reports whether a session may not have the size of its pane yet.
func (v *View) HasPendingSizes() bool { return v.sizes.changed || v.sizes.pausing }

// TextPane returns the pane that takes typed text in one piece, as far as no key of it is bound;
// nil if keys must be handled one by one.
func (v *View) TextPane() *terminal.Pane {
	p := v.FocusedPane()
	if !v.isOpen || p == nil || !p.TakesText() || v.navigator.numbers != nil || !v.arranger.movedAt.IsZero() {
		return nil
	}
	return p
}

// maxStartWait is how long Leave waits for sessions that are still starting.
const maxStartWait = 300 * time.Millisecond

// Leave saves the layout when the user detaches, after the program has stopped. It waits for
// starting sessions to include them; task runs their requests.
func (v *View) Leave(ctx context.Context, task func(func())) {
	if !v.isOpen || !v.env.News().Connected {
		return
	}
	starts, stop := context.WithTimeout(ctx, maxStartWait)
	defer stop()
	v.Launcher.finishStarts(starts, task)
	v.layoutSync.saveLast(ctx)
}

// Update handles the results of requests by the view and its panes.
func (v *View) Update(msg tea.Msg) tea.Cmd {
	v.dirty = true
	switch msg := msg.(type) {
	case sizesDue:
		v.sizes.pausing = false
	case settleDue:
		for _, l := range v.visibleLeaves() {
			l.Pane.View.SettleSize()
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
func (v *View) Fetch() tea.Cmd {
	v.layoutSync.followOthers()
	cmd := tea.Batch(v.openFirst(), v.List.Fetch(), v.sizes.sendSizes(v.Attachments.cancels, v.visibleLeaves), v.layoutSync.sendLayout())
	if p := v.FocusedPane(); p != nil {
		cmd = tea.Batch(cmd, p.Fetch())
	}
	if invariants.Enabled {
		Check(v)
	}
	return cmd
}

// TakeKey offers a key to the focused pane, or repeats the move of a border, before its
// binding is looked up.
func (v *View) TakeKey(k keys.Key) (taken bool) {
	for _, l := range v.visibleLeaves() {
		l.Pane.ClearMarks()
	}
	if v.navigator.numbers != nil {
		return v.navigator.handleNumberKey(k)
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

// Scopes returns those of the focused pane, or of the list.
func (v *View) Scopes() []keymap.Scope {
	if p := v.FocusedPane(); p != nil {
		return p.Scopes()
	}
	return v.List.Scopes()
}

// Hints returns those of the focused pane, or of the list.
func (v *View) Hints() ([]keymap.Hint, bool) {
	if v.navigator.numbers != nil {
		return []keymap.Hint{{Key: v.navigator.numbers.KeyRange(), Does: "go to the pane"}, v.env.Bindings().Hint(keymap.Cancel, "stay", keymap.ScopePicker)}, true
	}
	if p := v.FocusedPane(); p != nil {
		return p.Hints()
	}
	if v.isOpen && v.Tabs.Current == nil && v.List.IsEmpty() {
		return v.emptyPage().Hints, true
	}
	return v.List.Hints()
}

// Note returns the list's note, such as who may type into the session.
func (v *View) Note() (string, look.Ink) { return v.List.Note() }

// Show and Hide mark the view as shown or hidden, and report the change of focus.
func (v *View) Show() {
	if !v.shown {
		v.shown, v.sizes.changed = true, true
		v.List.Show()
		v.reportFocus(true)
		v.refreshList()
	}
}

func (v *View) Hide() {
	v.reportFocus(false)
	v.shown, v.sizes.changed, v.navigator.numbers = false, true, nil
	v.List.Hide()
}

// SetBlurred reports to the focused program that the terminal's window has lost or gained
// the keyboard.
func (v *View) SetBlurred(blurred bool) {
	v.blurred = blurred
	if p := v.FocusedPane(); p != nil {
		p.Focus(!blurred)
	}
	if !blurred {
		v.refreshList()
	}
}

// NeedsRedraw reports whether the view must be redrawn, and resets that state.
func (v *View) NeedsRedraw() bool {
	changed := v.dirty
	v.dirty = false
	v.leafBuffer = v.appendVisible(v.leafBuffer[:0])
	for _, l := range v.leafBuffer {
		changed = l.Pane.NeedsRedraw() || changed
	}
	return changed
}

// Sync applies output that has arrived for the panes.
func (v *View) Sync() tea.Cmd {
	rang := false
	var cmd tea.Cmd
	for p := range v.Attachments.cancels {
		rang = p.Sync() || rang
		cmd = tea.Batch(cmd, p.ReportUnsure())
	}
	cmd = tea.Batch(cmd, v.TakeClips(), v.closeFinished())
	if rang {
		v.env.Bell()
	}
	return cmd
}

// TakeClips passes on text that the focused program put on the clipboard. That of other
// programs is dropped.
func (v *View) TakeClips() (cmd tea.Cmd) {
	for p := range v.Attachments.cancels {
		if clip := p.Feed.TakeClip(); clip != nil && p == v.FocusedPane() {
			cmd = v.env.TakeClip(clip)
		}
	}
	return cmd
}

// refreshList passes the tabs and the focus to the list.
func (v *View) refreshList() {
	var current string
	if v.Tabs.Current != nil {
		current = v.Tabs.Current.Focus.Pane.ID
	}
	every := v.Tabs.EveryTab()
	ids := make([][]string, len(every))
	var leaves []*layout.Node
	for i, t := range every {
		leaves = t.Root.Leaves(leaves[:0])
		for _, l := range leaves {
			ids[i] = append(ids[i], l.Pane.ID)
		}
	}
	v.List.Focus(v.listFocused)
	v.List.HasFloat = v.Tabs.Float != nil
	v.List.SetTabs(ids, current)
	v.dirty = true
	if v.areas.list.W > 0 && (v.areas.tabs.W > 0) != v.hasTabBar() {
		// A relayout changes sizes, not the layout to save.
		changed := v.layoutSync.changed
		v.relayout()
		v.layoutSync.changed = changed
	}
}

// HandleNews updates the tabs after news of the engine.
func (v *View) HandleNews(before *panes.News) {
	v.layoutSync.restoreLayout()
	if v.List.UnhideRunning() {
		v.layoutSync.changed = true
	}
	v.layoutSync.applyUnrequested(v.adoptSessions)
	if l := v.env.News().Show; l != nil {
		v.layouts.showLayout(*l)
	}
	v.refreshList()
	v.List.HandleNews(before)
}

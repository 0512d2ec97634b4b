package ui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/graphics"
	"tandem/panes/sessions"
	"tandem/panes/terminal"
	"tandem/panes/widget"
	"tandem/ui/layout"
	"tandem/ui/predict"
)

// A sessionsEnv is what the view of sessions asks of the dashboard beside what
// every pane does.
type sessionsEnv interface {
	panes.Env
	Press(keys.Key) tea.Cmd
	SayOnce(text string) tea.Cmd
	CopyRead(terminal.Read) tea.Cmd
	TakeClip(clip []byte) tea.Cmd // of the program that has the keyboard
	Tell(text string, bad bool) tea.Cmd
	Notify(text string) tea.Cmd
	LongCommand() time.Duration
	SessionPictures() graphics.Screen
	Predict() predict.Mode // when typed keys are shown before a program has shown them
	ShowRequest(id string) tea.Cmd
	Bell()

	Attach(ctx context.Context, id string, feed *terminal.Feed) // feeds a pane until ctx ends
	Ended(api.Process)                                          // how a session has ended, before there are news of it
	ShowSessions()                                              // puts the view on the screen
	Blurred() bool                                              // another window has the keyboard
	Covered() bool                                              // a dialog lies over the view
	OpenMachine(name string) tea.Cmd                            // starts a session on a machine, or connects to it
	Relayout()                                                  // the view wants all of the screen, or no more
	TabBar() bool                                               // the person wants to see the tabs
}

// A sessionsView is the list of sessions beside the tab that is shown, a tree of
// terminals.
type sessionsView struct {
	panes.NoInput // keys come as they were pressed

	env     sessionsEnv
	list    *sessions.Pane
	search  terminal.Search // the last one in a terminal
	actions panes.Actions

	feeds   feeds
	starts  starts
	keeper  keeper
	layouts layoutDialogs
	moves   moves
	steps   steps
	mouse   mouseHold

	w, h    int
	areas   sessionAreas
	tight   bool // one terminal alone is shown: it is zoomed, or there is no room for more
	shown   bool
	unasked bool // another view came first: nothing is started before this one is shown
	sized   bool // its size is known, be it too small
	opened  bool // the first news have been taken in, and something is shown

	tabs        layout.Tabs
	shows       uint64 // counts tabs that were shown
	listFocused bool
	zoomed      bool // the focused terminal has all of the screen
	zoomTold    bool // and the dashboard knows

	pictures graphics.Screen // how those of the programs are drawn

	sizes toldSizes
	dirty bool           // something has to be redrawn
	asked []*layout.Node // kept by Changed, which is asked after every message
}

func newSessionsView(e sessionsEnv) *sessionsView {
	v := &sessionsView{env: e, shown: true}
	v.feeds = feeds{env: e, stops: map[*terminal.Pane]context.CancelFunc{}}
	inner := sessionsPart{e, v}
	v.list = sessions.New(inner)
	v.starts = starts{v: v, starting: map[string]*terminal.Pane{}}
	v.starts.starter = sessions.NewStarter(inner, v.starts.takeStarted)
	v.keeper, v.layouts, v.moves, v.steps, v.mouse = keeper{v: v}, layoutDialogs{v: v}, moves{v: v}, steps{v: v}, mouseHold{v: v}
	v.list.Show()
	v.tabs.New = func(id string) *terminal.Pane { return terminal.New(inner, &v.search, id) }
	v.actions = v.makeActions()
	return v
}

// A sessionsPart is what the view does for the list and the terminals in it.
type sessionsPart struct {
	sessionsEnv
	v *sessionsView
}

func (p sessionsPart) StartNear(near *terminal.Pane, command []string, folder string) tea.Cmd {
	return p.v.starts.startCommand(near, command, folder)
}
func (p sessionsPart) StartInPlace(ended *terminal.Pane) tea.Cmd {
	return p.v.starts.startInPlace(ended)
}
func (p sessionsPart) PutAway(*terminal.Pane) tea.Cmd { return p.v.closePane() }
func (p sessionsPart) FocusList() tea.Cmd             { return p.v.focusList() }

func (p sessionsPart) LooksAt(id string) bool {
	return !p.Blurred() && slices.ContainsFunc(p.v.visible(), func(l *layout.Node) bool { return l.Pane.ID == id })
}

func (p sessionsPart) Focused() (id string, ok bool) {
	if t := p.v.focused(); t != nil {
		return t.ID, true
	}
	return "", false
}

func (p sessionsPart) Open(id string) tea.Cmd {
	if machine, session := api.MachineOf(id); machine != "" && session == "" {
		return p.OpenMachine(machine)
	} else if session == "" {
		return p.v.starts.startOn("", nil, nil, "")
	}
	return p.v.openSession(id)
}

// Update takes in the results of what the view and its panes have asked for.
func (v *sessionsView) Update(msg tea.Msg) tea.Cmd {
	v.dirty = true
	switch msg := msg.(type) {
	case terminal.Message:
		return msg.For().Update(msg)
	case sizesDue:
		v.sizes.calm = false
	case settled:
		for _, l := range v.visible() {
			l.Pane.Settle()
		}
	case keptMsg:
		v.keeper.done(msg)
	case layoutTaken:
		v.layouts.askReplaceLayout(msg)
	case layoutSavedMsg:
		return v.layouts.layoutSaved(msg)
	}
	return nil
}

// Fetch opens the first session, tells sessions their sizes and the engine the
// layout, and has lines fetched that the terminal lacks.
func (v *sessionsView) Fetch() tea.Cmd {
	v.keeper.followOthers()
	cmd := tea.Batch(v.open(), v.list.Fetch(), v.sizes.tell(v.feeds.stops, v.visible), v.keeper.keep())
	if p := v.focused(); p != nil {
		cmd = tea.Batch(cmd, p.Fetch())
	}
	return cmd
}

// Take takes a key before it is looked up, if it is a terminal's or moves a border
// once more.
func (v *sessionsView) TakeKey(k keys.Key) (taken bool) {
	for _, l := range v.visible() {
		l.Pane.Unmark()
	}
	if v.steps.numbers != nil {
		return v.steps.takeNumbered(k)
	}
	if p := v.focused(); p != nil && p.TakeKey(k) {
		return true
	}
	return v.moves.pushAgain(k)
}

// Key gives a key to the terminal that has the keyboard.
func (v *sessionsView) HandleKey(k keys.Key) tea.Cmd {
	if p := v.focused(); p != nil {
		return p.HandleKey(k)
	}
	return nil
}

// Paste gives text to the terminal that has the keyboard.
func (v *sessionsView) Paste(text string) tea.Cmd {
	if p := v.focused(); p != nil {
		return p.Paste(text)
	}
	return nil
}

// Scopes are those of the terminal that has the keyboard, or of the list.
func (v *sessionsView) Scopes() []keymap.Scope {
	if p := v.focused(); p != nil {
		return p.Scopes()
	}
	return v.list.Scopes()
}

// Hints are those of the terminal that has the keyboard, or of the list.
func (v *sessionsView) Hints() ([]panes.Hint, bool) {
	if v.steps.numbers != nil {
		return []panes.Hint{{Key: v.steps.numbers.Keys(), Does: "go to the pane"}, panes.HintFor(v.env.Bindings(), keymap.Cancel, "stay", keymap.ScopePicker)}, true
	}
	if p := v.focused(); p != nil {
		return p.Hints()
	}
	if v.opened && v.tabs.Current == nil && v.list.Empty() {
		return v.noSessions().Hints, true
	}
	return v.list.Hints()
}

// Note says who may type into the session, or what the list shows.
func (v *sessionsView) Note() (string, widget.Ink) { return v.list.Note() }

// Show and Hide put the view on the screen and take it off.
func (v *sessionsView) Show() {
	if !v.shown {
		v.shown, v.sizes.changed = true, true
		v.list.Show()
		v.tellFocus(true)
		v.refreshList()
	}
}

func (v *sessionsView) Hide() {
	v.tellFocus(false)
	v.shown, v.sizes.changed, v.steps.numbers = false, true, nil
	v.list.Hide()
}

// SetBlurred tells the program that has the keyboard that another window has it,
// or has it no more.
func (v *sessionsView) SetBlurred(blurred bool) {
	if p := v.focused(); p != nil {
		p.Focus(!blurred)
	}
	if !blurred {
		v.refreshList()
	}
}

// Changed reports whether there is something new to draw since it was asked last.
func (v *sessionsView) NeedsRedraw() bool {
	changed := v.dirty
	v.dirty = false
	v.asked = v.appendVisible(v.asked[:0])
	for _, l := range v.asked {
		changed = l.Pane.NeedsRedraw() || changed
	}
	return changed
}

// Sync takes in what has come for the terminals.
func (v *sessionsView) Sync() tea.Cmd {
	rang := false
	var cmd tea.Cmd
	for p := range v.feeds.stops {
		rang = p.Sync() || rang
		cmd = tea.Batch(cmd, p.TellUnsure())
	}
	cmd = tea.Batch(cmd, v.takeClips(), v.closeFinished())
	if rang {
		v.env.Bell()
	}
	return cmd
}

// takeClips passes on what the program in the focused pane put on the clipboard.
// Those in other panes have no business there.
func (v *sessionsView) takeClips() (cmd tea.Cmd) {
	for p := range v.feeds.stops {
		if clip := p.Feed.TakeClip(); clip != nil && p == v.focused() {
			cmd = v.env.TakeClip(clip)
		}
	}
	return cmd
}

// refreshList tells the list how sessions lie.
func (v *sessionsView) refreshList() {
	var current string
	if v.tabs.Current != nil {
		current = v.tabs.Current.Focus.Pane.ID
	}
	every := v.tabs.Every()
	ids := make([][]string, len(every))
	for i, t := range every {
		for _, l := range t.Root.Leaves(nil) {
			ids[i] = append(ids[i], l.Pane.ID)
		}
	}
	v.list.Focus(v.listFocused)
	v.list.Floats = v.tabs.Float != nil
	v.list.SetTabs(ids, current)
	v.dirty = true
	if v.areas.list.W > 0 && (v.areas.tabs.W > 0) != v.hasTabBar() {
		changed := v.keeper.changed // which sessions lie where is as it was
		v.relayout()
		v.keeper.changed = changed
	}
}

// News brings the tabs up to what is known of sessions.
func (v *sessionsView) HandleNews(before *panes.News) {
	v.keeper.restoreLayout()
	if v.list.Reopen() {
		v.keeper.changed = true
	}
	v.keeper.unasked(v.adopt)
	if l := v.env.News().Show; l != nil {
		v.layouts.showLayout(*l)
	}
	v.refreshList()
	v.list.HandleNews(before)
}

package ui

import (
	"context"
	"time"

	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/files"
	"tandem/panes/history"
	"tandem/panes/processes"
	"tandem/panes/sessions"
	"tandem/panes/terminal"
	"tandem/panes/widget"
	"tandem/ui/conn"
	"tandem/ui/layout"
	"tandem/ui/overlay"
	"tandem/ui/screen"
)

// A viewKind is one of the four views; its number is one less than the key's.
type viewKind int

const (
	viewSessions viewKind = iota
	viewProcesses
	viewHistory
	viewFiles
	viewCount
)

func (v viewKind) String() string {
	return [viewCount]string{"Sessions", "Processes", "History", "Files"}[v]
}

// A model is the state of the dashboard. It belongs to Bubble Tea's goroutine.
type model struct {
	ctx  context.Context
	o    Options
	link *conn.Link
	in   *screen.Input
	stop context.CancelCauseFunc // ends the dashboard with an error

	terminal *screen.Terminal // nil in tests
	left     bool             // the person has left; what is typed now goes nowhere
	handing  bool             // the terminal is being handed to a session; what is typed waits

	w, h   int
	layout areas
	view   viewKind

	news        panes.News
	opened      bool    // the first snapshot has been taken in
	starts      []start // sessions that were asked for and are not there yet; the first is being started
	calledOff   []start // that were not wanted any more while the engine was at them
	tabs        layout.Tabs
	shows       uint64
	attachments map[*terminal.Pane]context.CancelFunc
	closed      map[string]bool // ended sessions that the person has put away
	ending      map[string]bool // sessions that were asked to end here
	unwanted    map[string]bool // those of them that were called off while they were started
	zoomed      bool
	blurred     bool // another window has the keyboard

	list        sessions.List
	listFocused bool
	filter      string
	views       [viewCount]panes.Pane
	processes   *processes.Pane
	held        panes.Pane // the one that the mouse was pressed in
	history     *history.Pane
	files       *files.Pane
	visit       *visit // nil without one
	layouts     layouts
	dragged     *layout.Node   // the split whose border the mouse holds
	dragMoved   bool           // since the button went down
	pressed     *terminal.Pane // the pane in which a mouse button went down
	clip        clipboard
	search      terminal.Search // the last one in a terminal
	attention   attention
	pictures    screen.Pictures

	resolver *keymap.Resolver
	actions  map[keymap.Action]func(*model) tea.Cmd
	overlay  overlay.Overlay

	overlayAt    widget.Rect     // where the overlay was drawn last
	overlaySeen  overlay.Overlay // the one that was
	overlayPress overlayPress
	spinner      busySign
	ahead        []screen.Event // typed while a form waits, for what comes then

	toast toast
	look  widget.Look
	dark  bool
	// groundTold says that the terminal has told whether it is dark.
	groundTold bool
	// themePicked is the theme of this run, or the one that is being tried; "" is
	// that of the settings.
	themePicked string
	themesKept  []string // chosen for good here, and not read from the configuration yet
	profile     colorprofile.Profile

	dirty   bool // what is on the screen has to be drawn anew
	resized bool // a pane may have a size that its session was not told
	calm    bool // a timer runs that tells sizes
	content []byte
	drawn   tea.View
}

// A toast is a message in the status bar that goes away by itself.
type toast struct {
	text   string
	bad    bool
	news   bool // it tells of what happened by itself, and not how a key has ended
	serial int
}

const toastTime = 4 * time.Second

// toastOver is the end of the toast with that number.
type toastOver int

// say shows a toast.
func (m *model) say(text string, bad bool) tea.Cmd {
	m.toast = toast{text: widget.Clean(text), bad: bad, serial: m.toast.serial + 1}
	m.dirty = true
	serial := toastOver(m.toast.serial)
	return tea.Tick(toastTime, func(time.Time) tea.Msg { return serial })
}

// tell shows a toast of what nobody has asked for here.
func (m *model) tell(text string, bad bool) tea.Cmd {
	cmd := m.say(text, bad)
	m.toast.news = true
	return cmd
}

// hush takes away what was said last.
func (m *model) hush() { m.toast = toast{serial: m.toast.serial + 1} }

// focused is the pane that keys go to; nil when a list or nothing has them.
func (m *model) focused() *terminal.Pane {
	if m.view != viewSessions || m.tabs.Current == nil || m.listFocused {
		return nil
	}
	return m.tabs.Current.Focus.Pane
}

// tellFocus tells the program in the focused pane that it has the keyboard, or
// not any more.
func (m *model) tellFocus(on bool) {
	if p := m.focused(); p != nil && !(on && m.blurred) {
		p.Focus(on)
	}
}

// moveFocus runs a change of the focus and tells both programs.
func (m *model) moveFocus(change func()) {
	before := m.focused()
	change()
	m.dirty = true
	if m.layout.tight {
		m.relayout()
	}
	after := m.focused()
	if before == after || m.blurred {
		return
	}
	if before != nil {
		before.Focus(false)
	}
	if after != nil {
		after.Focus(true)
	}
}

// process is what is known of a session.
func (m *model) process(id string) (api.Process, bool) {
	for i := range m.news.Processes {
		if m.news.Processes[i].ID == id {
			return m.news.Processes[i], true
		}
	}
	return api.Process{}, false
}

// Init does nothing; what there is to begin with comes as messages.
func (m *model) Init() tea.Cmd { return nil }

// leaveOnPanic puts the terminal back before a panic goes on, so that what is
// printed about it can be read.
func (m *model) leaveOnPanic() {
	if p := recover(); p != nil {
		if m.terminal != nil {
			m.terminal.Close()
		}
		panic(p)
	}
}

// Update takes in one message. Everything that has an order, typed input above
// all, is handled here and not in commands, which run concurrently.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	defer m.leaveOnPanic()
	waited := m.waiter() != nil
	cmd := tea.Batch(m.handle(msg), m.afterWaiting(waited))
	m.pumpFollow()
	m.seePictures(msg)
	return m, tea.Batch(cmd, m.tellSizes(), m.fetch(), m.endVisit(), m.pumpLayout(), m.pumpSpinner())
}

// A message is one of the dashboard's own: it knows what is to be done with it.
type message interface{ take(*model) tea.Cmd }

func (m *model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case nil:
	case message:
		return msg.take(m)
	case terminal.Message:
		m.dirty = true
		return msg.For().Update(msg)
	case spinner.TickMsg:
		return m.turn(msg)
	case overlay.Answer:
		return m.answered(msg)
	case panes.Result:
		m.dirty = true
		return msg()
	case panes.DoneMsg:
		return m.done(msg)
	case inputMsg:
		return m.handleInput(m.in.Drain())
	case changedMsg:
		return m.sync()
	case tea.WindowSizeMsg:
		return m.resize(msg.Width, msg.Height)
	case tea.BackgroundColorMsg:
		m.setDark(msg.IsDark())
	case uv.DarkColorSchemeEvent:
		m.setDark(true)
	case uv.LightColorSchemeEvent:
		m.setDark(false)
	case tea.ModeReportMsg:
		if m.terminal != nil {
			m.terminal.Learn(msg)
		}
	}
	return nil
}

func (m *model) endToast(serial toastOver) tea.Cmd {
	if int(serial) == m.toast.serial {
		m.toast.text = ""
		m.dirty = true
	}
	return nil
}

func (m *model) resize(w, h int) tea.Cmd {
	m.w, m.h = w, h
	m.relayout()
	return m.open()
}

// typed input

func (m *model) handleInput(events []screen.Event) tea.Cmd {
	var cmds []tea.Cmd
	for i, e := range events {
		if m.left { // what was typed after that is not for the session that was left
			break
		}
		if m.handing {
			m.in.Unread(events[i:])
			break
		}
		if m.holdForPick(events[i:]) {
			break
		}
		cmds = append(cmds, m.handleTyped(e))
	}
	return tea.Batch(cmds...)
}

func (m *model) handleTyped(e screen.Event) tea.Cmd {
	switch e.Kind {
	case keys.EventKey:
		m.overlayPress.on = nil
		return m.pressKey(e.Key)
	case keys.EventMouse:
		return m.mouse(e.Mouse)
	case keys.EventPaste:
		return m.paste(e.Paste)
	case keys.EventFocusIn, keys.EventFocusOut:
		m.setBlurred(e.Kind == keys.EventFocusOut)
	}
	return nil
}

func (m *model) setBlurred(blurred bool) {
	if m.blurred == blurred {
		return
	}
	m.blurred = blurred
	if !blurred {
		m.attention.desk.held = nil
		m.refreshList()
	}
	if p := m.focused(); p != nil {
		p.Focus(!blurred)
	}
}

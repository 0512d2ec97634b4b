package ui

import (
	"context"
	"time"

	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/files"
	"tandem/panes/history"
	"tandem/panes/processes"
	"tandem/panes/widget"
	"tandem/ui/conn"
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

	w, h  int
	areas areas
	view  viewKind
	home  string // of the person; "" if that is unknown

	news      panes.News
	views     [viewCount]panes.Pane
	sessions  *sessionsView
	processes *processes.Pane
	history   *history.Pane
	files     *files.Pane
	held      panes.Pane // the one that the mouse was pressed in
	visit     *visit     // nil without one
	blurred   bool       // another window has the keyboard

	clip     clipboard
	notices  notices
	pictures screen.Pictures

	resolver *keymap.Resolver
	actions  panes.Actions
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
	m.seePictures(msg)
	return m, tea.Batch(cmd, m.fetch(), m.endVisit(), m.pumpSpinner())
}

// A message is one of the dashboard's own: it knows what is to be done with it.
type message interface{ take(*model) tea.Cmd }

func (m *model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case nil:
	case message:
		return msg.take(m)
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
	default:
		return m.sessions.Update(msg)
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
	return nil
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
	m.notices.held = nil
	m.sessions.SetBlurred(blurred)
}

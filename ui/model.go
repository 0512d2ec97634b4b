package ui

import (
	"context"
	"slices"

	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"tandem/keys"
	"tandem/panes"
	"tandem/panes/files"
	"tandem/panes/history"
	"tandem/panes/machines"
	"tandem/panes/processes"
	"tandem/panes/terminal"
	"tandem/panes/web"
	"tandem/ui/conn"
	"tandem/ui/display"
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
	ctx      context.Context
	o        Options
	link     *conn.Link
	stop     context.CancelCauseFunc // ends the dashboard with an error
	terminal *screen.Terminal        // nil in tests

	areas areas
	view  viewKind

	news      panes.News
	sessions  *sessionsView
	processes *processes.Pane
	history   *history.Pane
	files     *files.Pane
	machines  *machines.Dialog
	browser   *web.Dialog
	visit     *visit // nil without one

	input   input
	dialog  dialog
	form    processForm
	notices notices
	clip    clipboard
	zoom    zoom
	theme   theming
	display display.Terminal

	dirty   bool // what is on the screen has to be redrawn
	content []byte
	drawn   tea.View
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
	switch msg.(type) {
	case nil, inputMsg, changedMsg: // what these change says so itself
	default:
		m.dirty = true
	}
	waited := m.input.waits()
	cmd := tea.Batch(m.handle(msg), m.input.settle(waited))
	m.seeTerminal(msg)
	return m, tea.Batch(cmd, m.fetch(), m.input.afterStart(), m.endVisit(), m.dialog.pump(), m.zoom.handOver())
}

// A message is one of the dashboard's own: it knows what is to be done with it.
type message interface{ take(*model) tea.Cmd }

func (m *model) handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case nil:
	case message:
		return msg.take(m)
	case spinner.TickMsg:
		return m.dialog.turn(msg)
	case overlay.Answer:
		return m.dialog.answered(msg)
	case panes.Result:
		return msg()
	case panes.DoneMsg:
		return m.done(msg)
	case inputMsg:
		return m.input.take(m.input.queue.Drain())
	case changedMsg:
		if msg.echo && m.terminal != nil {
			m.terminal.HurryNext()
		}
		return m.sync()
	case tea.WindowSizeMsg:
		return m.resize(msg.Width, msg.Height)
	case tea.BackgroundColorMsg:
		m.theme.setDark(msg.IsDark())
	case uv.DarkColorSchemeEvent:
		m.theme.setDark(true)
	case uv.LightColorSchemeEvent:
		m.theme.setDark(false)
	case tea.ModeReportMsg:
		if m.terminal != nil {
			m.terminal.Learn(msg)
		}
	default:
		return m.sessions.Update(msg)
	}
	return nil
}

func (m *model) resize(w, h int) tea.Cmd {
	m.areas.w, m.areas.h = w, h
	m.relayout()
	return nil
}

// typed input

func (in *input) take(events []screen.Event) tea.Cmd {
	var cmds []tea.Cmd
	for ; len(events) > 0; events = events[1:] {
		if in.left { // what was typed after that is not for the session that was left
			break
		}
		if p := in.textPane(events[0].Typed); p != nil {
			cmds = append(cmds, p.TypeText(events[0].Typed))
			continue
		}
		if first := events[0]; first.Typed != "" {
			events = append(first.Split(), events[1:]...)
		}
		if in.takeEarly(events[0]) {
			continue
		}
		if in.hold(events) {
			break
		}
		cmds = append(cmds, in.takeOne(events[0]))
	}
	return tea.Batch(cmds...)
}

// splitTyped returns events with each key of its own.
func splitTyped(events []screen.Event) []screen.Event {
	if !slices.ContainsFunc(events, func(e screen.Event) bool { return e.Typed != "" }) {
		return events
	}
	var all []screen.Event
	for _, e := range events {
		all = append(all, e.Split()...)
	}
	return all
}

// textPane returns the pane that text typed in one piece goes to as it is: no key of it
// means anything but a character. nil if its keys have to be taken one by one.
func (in *input) textPane(text string) *terminal.Pane {
	m := in.m
	if text == "" || m.view != viewSessions || m.dialog.open != nil || in.resolver.Pending() || !m.sessions.opened {
		return nil
	}
	p := m.sessions.focused()
	if p == nil || !p.TakesText() || m.sessions.steps.numbers != nil || !m.sessions.moves.pushed.IsZero() {
		return nil
	}
	if in.waits() || in.resolver.BindsAny(text, in.scopes()...) {
		return nil
	}
	return p
}

func (in *input) takeOne(e screen.Event) tea.Cmd {
	switch e.Kind {
	case keys.EventKey:
		in.m.dialog.press.on = nil
		return in.press(e.Key)
	case keys.EventMouse:
		return in.mouse(e.Mouse)
	case keys.EventPaste:
		return in.paste(e.Paste)
	case keys.EventFocusIn, keys.EventFocusOut:
		in.setBlurred(e.Kind == keys.EventFocusOut)
	}
	return nil
}

func (in *input) setBlurred(blurred bool) {
	if in.blurred == blurred {
		return
	}
	in.blurred = blurred
	in.m.notices.held = nil
	in.m.sessions.SetBlurred(blurred)
	if !blurred && !in.m.display.Tells() { // it may have another theme since
		in.m.terminal.AskColors()
	}
}

package ui

import (
	"context"
	"slices"

	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"tandem/keys"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/files"
	"tandem/panes/history"
	"tandem/panes/kit/dialog"
	"tandem/panes/machines"
	"tandem/panes/processes"
	"tandem/panes/sessions"
	"tandem/panes/terminal"
	"tandem/ui/conn"
	"tandem/ui/display"
	"tandem/ui/screen"
)

// A model is the state of the dashboard. Only Bubble Tea's goroutine may access it.
type model struct {
	ctx      context.Context
	o        Options
	link     *conn.Link
	terminal *screen.Terminal // nil in tests

	areas areas
	views views

	news      panes.News
	sessions  *sessions.View
	processes *processes.Pane
	history   *history.Pane
	files     *files.Pane
	machines  *machines.Dialog

	env      env
	top      topBar
	input    input
	dialog   openDialog
	prefix   prefixKeys
	tips     tips
	form     processForm
	notices  notices
	clip     clipboard
	inserter inserter
	visits   visits
	zoom     zoom
	theme    themeState
	display  display.Terminal
	frame    frame
}

// Init implements tea.Model. The initial state arrives as messages.
func (m *model) Init() tea.Cmd { return nil }

// leaveOnPanic restores the terminal before a panic continues, to keep the stack trace
// readable.
func (m *model) leaveOnPanic() {
	if p := recover(); p != nil {
		if m.terminal != nil {
			m.terminal.Close()
		}
		panic(p)
	}
}

// Update implements tea.Model. Everything with an order, above all typed input, is handled
// here: commands run concurrently.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	defer m.leaveOnPanic()
	switch msg.(type) {
	case nil, inputMsg, changedMsg: // their handlers request a redraw if necessary
	default:
		m.frame.redraw()
	}
	// Input held for a pending action is handled only once the message has been, as the
	// message may complete that action.
	waited := m.input.isHeld()
	cmd := tea.Batch(m.handleMessage(msg), m.input.runReady(waited))
	m.learnTerminal(msg)
	return m, tea.Batch(cmd, m.fetchViews(), m.input.replayEarly(), m.visits.end(), m.dialog.startSpinner(), m.zoom.handOver())
}

// A message is one of the dashboard's own messages. It knows how to apply itself.
type message interface{ applyTo(*model) tea.Cmd }

func (m *model) handleMessage(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case nil:
	case message:
		return msg.applyTo(m)
	case spinner.TickMsg:
		return m.dialog.advanceSpinner(msg)
	case dialog.Answer:
		return m.dialog.runAnswer(msg)
	case panes.Result:
		return msg()
	case panes.DoneMsg:
		if msg.Err != nil {
			return m.env.Say(panes.ErrorText(msg.Err), true)
		}
	case inputMsg:
		return m.input.handleEvents(m.input.queue.Drain())
	case changedMsg:
		if msg.echo && m.terminal != nil {
			m.terminal.SkipPauseNext()
		}
		return m.syncNews()
	case tea.WindowSizeMsg:
		return m.setSize(msg.Width, msg.Height)
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
	}
	return nil
}

func (m *model) setSize(w, h int) tea.Cmd {
	m.areas.w, m.areas.h = w, h
	m.relayout()
	return nil
}

func (in *input) handleEvents(events []screen.Event) tea.Cmd {
	var cmds []tea.Cmd
	for ; len(events) > 0; events = events[1:] {
		// Later keys were not meant for the session.
		if in.detached {
			break
		}
		// Fast path: text without bindings goes to the program in one piece, not key by
		// key.
		if p := in.textPane(events[0].Typed); p != nil {
			cmds = append(cmds, p.TypeText(events[0].Typed))
			continue
		}
		if first := events[0]; first.Typed != "" {
			events = append(first.Split(), events[1:]...)
		}
		if in.keepEarly(events[0]) {
			continue
		}
		if in.holdEvents(events) {
			break
		}
		cmds = append(cmds, in.handleEvent(events[0]))
	}
	return tea.Batch(cmds...)
}

// splitEvents splits typed text in events into one event per key.
func splitEvents(events []screen.Event) []screen.Event {
	if !slices.ContainsFunc(events, func(e screen.Event) bool { return e.Typed != "" }) {
		return events
	}
	var all []screen.Event
	for _, e := range events {
		all = append(all, e.Split()...)
	}
	return all
}

// textPane returns the pane that can take typed text in one piece, because none of its
// keys is bound. It returns nil if the keys must be handled one by one.
func (in *input) textPane(text string) *terminal.Pane {
	m := in.m
	if text == "" || m.views.action() != keymap.ViewSessions || m.dialog.open != nil || in.resolver.Pending() {
		return nil
	}
	p := m.sessions.TextPane()
	if p == nil || in.isHeld() || in.resolver.BindsAny(text, in.activeScopes()...) {
		return nil
	}
	return p
}

func (in *input) handleEvent(e screen.Event) tea.Cmd {
	switch e.Kind {
	case keys.EventKey:
		in.m.dialog.press.on = nil
		return in.pressKey(e.Key)
	case keys.EventMouse:
		return in.handleMouse(e.Mouse)
	case keys.EventPaste:
		return in.pasteText(e.Paste)
	case keys.EventFocusIn, keys.EventFocusOut:
		in.setBlurred(e.Kind == keys.EventFocusOut)
	}
	return nil
}

func (in *input) setBlurred(blurred bool) {
	d := &in.m.notices.desktop
	if d.blurred == blurred {
		return
	}
	d.blurred, d.held = blurred, nil
	in.m.sessions.SetBlurred(blurred)
	// The terminal may have changed its theme while another window had the keyboard.
	if !blurred && !in.m.display.ReportsChanges() {
		in.m.terminal.AskColors()
	}
}

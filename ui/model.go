package ui

import (
	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"tandem/keys"
	"tandem/panes"
	"tandem/panes/files"
	"tandem/panes/history"
	"tandem/panes/kit/dialog"
	"tandem/panes/machines"
	"tandem/panes/processes"
	"tandem/panes/sessions"
	"tandem/ui/conn"
	"tandem/ui/display"
	"tandem/ui/screen"
)

// A model is the state of the dashboard. Only Bubble Tea's goroutine may access it.
type model struct {
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
	keyboard keyboard
	pointer  pointer
	dialog   openDialog
	tips     tips
	form     processForm
	notices  notices
	clip     clipboard
	inserter inserter
	visits   visits
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
	// What was typed before the message is meant for what was shown then. Input held for a
	// pending action is handled afterwards, as the message may complete that action.
	waited := m.input.isHeld()
	var typed tea.Cmd
	if !waited {
		typed = m.input.handleQueue()
	}
	cmd := tea.Batch(typed, m.handleMessage(msg), m.input.runReady(waited))
	m.learnTerminal(msg)
	// What follows depends on any part of the state.
	cmd = tea.Batch(cmd, m.fetchViews(), m.dialog.startSpinner(), m.notices.announceQuestions(&m.dialog))
	m.input.updateShortcut()
	return m, cmd
}

func (m *model) handleMessage(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case nil:
	case settingsMsg:
		return m.applySettings(Settings(msg))
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
		if m.input.isHeld() {
			return m.input.handleQueue() // for the Cancel key
		}
	case changedMsg:
		if msg.echo && m.terminal != nil {
			m.terminal.SkipPauseNext()
		}
		return m.syncNews()
	case tea.WindowSizeMsg:
		m.setSize(msg.Width, msg.Height)
	case tea.BackgroundColorMsg:
		m.theme.setDark(msg.IsDark())
	case uv.DarkColorSchemeEvent:
		m.theme.setDark(true)
	case uv.LightColorSchemeEvent:
		m.theme.setDark(false)
	case tea.ModeReportMsg:
		if m.terminal != nil {
			m.terminal.RecordMode(msg)
		}
	}
	return nil
}

func (m *model) setSize(w, h int) {
	m.areas.w, m.areas.h = w, h
	m.relayout()
}

// handleEvent handles one event of the user's terminal.
func (m *model) handleEvent(e screen.Event) tea.Cmd {
	switch e.Kind {
	case keys.EventKey:
		m.dialog.press.on = nil
		return m.keyboard.press(e.Key)
	case keys.EventMouse:
		return m.pointer.handle(e.Mouse)
	case keys.EventPaste:
		return m.keyboard.paste(e.Paste)
	case keys.EventFocusIn, keys.EventFocusOut:
		m.setBlurred(e.Kind == keys.EventFocusOut)
	}
	return nil
}

func (m *model) setBlurred(blurred bool) {
	d := &m.notices.desktop
	if d.blurred == blurred {
		return
	}
	d.blurred, d.held = blurred, nil
	m.sessions.SetBlurred(blurred)
	// The terminal may have changed its theme while another window had the keyboard.
	if !blurred && !m.display.ReportsChanges() {
		m.terminal.AskColors()
	}
}

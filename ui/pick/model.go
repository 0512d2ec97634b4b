package pick

import (
	"context"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/keys/keymap"
	"tandem/panes/history"
	"tandem/panes/kit/field"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/themes"
	"tandem/ui/display"
)

// typingDelay is how long a search waits for the next key of the query.
const typingDelay = 15 * time.Millisecond

// A model is the state of the picker. Only Bubble Tea's goroutine may access it.
type model struct {
	ctx     context.Context
	o       Options
	engine  api.Engine
	profile colorprofile.Profile
	look    look.Look
	w, h    int

	list    history.List
	field   field.Field
	here    bool // only commands run in the folder
	failed  bool
	today   bool
	pending bool // a choice waits for the results of earlier keys
	run     bool // run the pending choice
	chosen  Choice

	queriedAt time.Time // when the terminal was queried for its background
	answered  bool
	leaving   bool // quit after its answer
}

func newModel(ctx context.Context, o Options, e api.Engine, profile colorprofile.Profile) *model {
	m := &model{ctx: ctx, o: o, engine: e, profile: profile, queriedAt: time.Now()}
	// A dark background is assumed until the terminal reports its own.
	m.setDark(true, false)
	m.list.Focused, m.list.Home = true, o.Home
	m.field.Set(o.Query)
	m.startSearch(0)
	return m
}

// setDark selects the theme for a background. A theme for the other kind is unreadable on
// a reported background, so it is replaced.
func (m *model) setDark(dark, told bool) {
	name := ""
	if m.o.Theme != nil {
		name = m.o.Theme(dark)
	}
	theme, err := themes.ByName(name, dark)
	if err != nil || told && theme.Dark != dark {
		theme = themes.ForBackground(dark)
	}
	m.look = look.NewLook(theme.Styles(m.profile), themes.GlyphsFor(os.Environ()))
}

// rowsMsg is the answer to a request.
type rowsMsg struct {
	request history.Request
	out     api.HistorySearchOutput
	err     error
}

// Init queries the terminal's background and requests the commands. The last query, for
// the attributes, is answered by every terminal.
func (m *model) Init() tea.Cmd {
	ask := tea.Sequence(tea.RequestBackgroundColor, tea.Raw(ansi.RequestPrimaryDeviceAttributes))
	return tea.Batch(ask, m.fetchRows())
}

// quitPicker quits, but not before the terminal has answered: the shell would take a late
// answer for input.
func (m *model) quitPicker() tea.Cmd {
	if m.answered {
		return tea.Quit
	}
	m.leaving = true
	return tea.Tick(time.Until(m.queriedAt.Add(display.AnswerLimit)), func(time.Time) tea.Msg { return tea.Quit() })
}

// Update handles one message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		m.setDark(msg.IsDark(), true)
	case uv.PrimaryDeviceAttributesEvent:
		if m.answered = true; m.leaving {
			return m, tea.Quit
		}
	case tea.PasteMsg:
		m.editQuery(func() { m.field.Paste(msg.Content) })
	case tea.KeyPressMsg:
		cmd = m.handleKey(msg)
	case rowsMsg:
		cmd = m.applyRows(msg)
	}
	return m, tea.Batch(cmd, m.fetchRows())
}

// handleKey handles a key.
func (m *model) handleKey(k tea.KeyPressMsg) tea.Cmd {
	if m.leaving {
		return nil
	}
	switch k.String() {
	case "esc", "ctrl+c", "ctrl+g":
		return m.quitPicker()
	case "enter":
		return m.chooseRow(true)
	case "tab":
		return m.chooseRow(false)
	case "down", "ctrl+r", "ctrl+n":
		m.list.Move(1)
	case "up", "ctrl+s", "ctrl+p":
		m.list.Move(-1)
	case "pgdown":
		m.list.Move(m.list.PageRows())
	case "pgup":
		m.list.Move(-m.list.PageRows())
	case "alt+h":
		m.toggleFilter(&m.here)
	case "alt+e":
		m.toggleFilter(&m.failed)
	case "alt+t":
		m.toggleFilter(&m.today)
	default:
		m.editQuery(func() { m.field.Type(k) })
	}
	return nil
}

func (m *model) toggleFilter(filter *bool) {
	*filter = !*filter
	m.startSearch(0)
}

// editQuery changes the query, and searches if it differs.
func (m *model) editQuery(change func()) {
	before := m.field.Text()
	if change(); m.field.Text() != before {
		m.startSearch(typingDelay)
	}
}

// startSearch restarts the search after a delay.
func (m *model) startSearch(delay time.Duration) {
	in := api.HistorySearchInput{Query: m.field.Text(), Failed: m.failed, Unique: true}
	if m.here {
		in.CWD = m.o.Folder
	}
	if m.today {
		y, month, d := time.Now().Date()
		since := time.Date(y, month, d, 0, 0, 0, 0, time.Local)
		in.Since = &since
	}
	m.list.StartSearch(in, delay)
}

// fetchRows requests the rows needed now.
func (m *model) fetchRows() tea.Cmd {
	r, ok := m.list.NextRequest()
	if !ok {
		return nil
	}
	return func() tea.Msg {
		_ = sleep.For(m.ctx, r.Delay)
		out, err := api.HistorySearch.Call(m.ctx, m.engine, r.Input)
		return rowsMsg{r, out, err}
	}
}

func (m *model) applyRows(msg rowsMsg) tea.Cmd {
	if msg.err != nil {
		m.list.StoreError(msg.request, msg.err)
	} else {
		m.list.StoreAnswer(msg.request, msg.out)
	}
	if m.pending && m.list.IsSettled() {
		return m.chooseRow(m.run)
	}
	return nil
}

// chooseRow quits with the selected command, once the results for earlier keys have
// arrived.
func (m *model) chooseRow(run bool) tea.Cmd {
	// Results still to come may change the selection.
	if m.pending, m.run = !m.list.IsSettled(), run; m.pending {
		return nil
	}
	row, ok := m.list.Selected()
	if !ok {
		return nil
	}
	m.chosen = Choice{row.Command.Command, run}
	return m.quitPicker()
}

// Minimum size of a terminal for the picker.
const (
	minWidth  = 16
	minHeight = 4
)

// View draws the picker on the whole terminal.
func (m *model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	if m.w < minWidth || m.h < minHeight {
		return v
	}
	style := &m.look
	note := text.Thousands(m.list.Total()) + " found"
	room := m.w - text.Width(note) - 5
	if room < minWidth {
		note, room = "", m.w-4
	}
	s, x := m.field.DrawIn(room, style)
	query := " " + style.Title.Text("/") + " " + s
	query += style.Dim.Text(text.Pad(text.Clip(" "+note, m.w-3-room), m.w-3-room))
	rows := []string{query, m.drawFilters()}
	rows = append(rows, m.list.Draw(m.w, m.h-3, time.Now(), style)...)
	hints := []keymap.Hint{{Key: "enter", Does: "run"}, {Key: "tab", Does: "edit"}, {Key: "↑ ↓", Does: "choose"}, {Key: "esc", Does: "back"}}
	line, used := look.Hints(hints, m.w-1, 1, style.BarKey, style.BarDim)
	rows = append(rows, style.Bar.Text(" ")+line+style.Bar.Text(text.Spaces(m.w-1-used)))
	v.SetContent(strings.Join(rows, "\n"))
	v.Cursor = tea.NewCursor(3+x, 0)
	v.Cursor.Shape = tea.CursorBar
	return v
}

// drawFilters draws the row of filters; active ones are inverted.
func (m *model) drawFilters() string {
	line, used := " ", 1
	for _, f := range []struct {
		key, name string
		on        bool
	}{{"alt+h", "here", m.here}, {"alt+e", "failed", m.failed}, {"alt+t", "today", m.today}} {
		ink := m.look.Dim
		if f.on {
			ink = m.look.Tab
		}
		if used+len(f.key)+len(f.name)+4 > m.w {
			break
		}
		line += m.look.Key.Text(f.key) + " " + ink.Text(f.name) + "  "
		used += len(f.key) + len(f.name) + 3
	}
	return line + text.Spaces(m.w-used)
}

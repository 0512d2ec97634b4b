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
	"tandem/engine/sleep"
	"tandem/panes/history"
	"tandem/panes/widget"
	"tandem/themes"
	"tandem/ui/display"
)

// typingDelay is how long a search waits for the next key of the query.
const typingDelay = 15 * time.Millisecond

// A model is the picker. It belongs to Bubble Tea's goroutine.
type model struct {
	ctx     context.Context
	o       Options
	engine  api.Engine
	profile colorprofile.Profile
	look    widget.Look
	w, h    int

	list   history.List
	field  widget.Field
	here   bool // only what ran in the folder
	failed bool
	today  bool
	waits  bool // a choice waits for the answer to what was typed before it
	run    bool // to run it
	chosen Choice

	asked    time.Time // the terminal was, for its background
	answered bool
	leaving  bool // once it has answered
}

func newModel(ctx context.Context, o Options, e api.Engine, profile colorprofile.Profile) *model {
	m := &model{ctx: ctx, o: o, engine: e, profile: profile, asked: time.Now()}
	m.setDark(true, false)
	m.list.Focused, m.list.Home = true, o.Home
	m.field.Set(o.Query)
	m.search(0)
	return m
}

// setDark takes the theme for a background; one for the other kind could not be read
// on it, once the terminal has told which it has.
func (m *model) setDark(dark, told bool) {
	name := ""
	if m.o.Theme != nil {
		name = m.o.Theme(dark)
	}
	theme, err := themes.ByName(name, dark)
	if err != nil || told && theme.Dark != dark {
		theme = themes.ForBackground(dark)
	}
	m.look = widget.NewLook(theme.Styles(m.profile), themes.GlyphsFor(os.Environ()))
}

// found is the answer to a request.
type found struct {
	request history.Request
	out     api.HistorySearchOutput
	err     error
}

// Init asks for the terminal's background, and for the commands. Every terminal answers
// what it is asked last, its attributes.
func (m *model) Init() tea.Cmd {
	ask := tea.Sequence(tea.RequestBackgroundColor, tea.Raw(ansi.RequestPrimaryDeviceAttributes))
	return tea.Batch(ask, m.fetch())
}

// leave ends, but not before the terminal has answered: the shell would take what comes
// then for typed.
func (m *model) leave() tea.Cmd {
	if m.answered {
		return tea.Quit
	}
	m.leaving = true
	return tea.Tick(time.Until(m.asked.Add(display.AnswerLimit)), func(time.Time) tea.Msg { return tea.Quit() })
}

// Update takes in one message.
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
		m.edit(func() { m.field.Paste(msg.Content) })
	case tea.KeyPressMsg:
		cmd = m.press(msg)
	case found:
		cmd = m.take(msg)
	}
	return m, tea.Batch(cmd, m.fetch())
}

// press does what a key means.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	if m.leaving {
		return nil
	}
	switch k.String() {
	case "esc", "ctrl+c", "ctrl+g":
		return m.leave()
	case "enter":
		return m.choose(true)
	case "tab":
		return m.choose(false)
	case "down", "ctrl+r", "ctrl+n":
		m.list.Move(1)
	case "up", "ctrl+s", "ctrl+p":
		m.list.Move(-1)
	case "pgdown":
		m.list.Move(m.list.PageRows())
	case "pgup":
		m.list.Move(-m.list.PageRows())
	case "alt+h":
		m.toggle(&m.here)
	case "alt+e":
		m.toggle(&m.failed)
	case "alt+t":
		m.toggle(&m.today)
	default:
		m.edit(func() { m.field.Type(k) })
	}
	return nil
}

func (m *model) toggle(filter *bool) {
	*filter = !*filter
	m.search(0)
}

// edit changes the query.
func (m *model) edit(change func()) {
	before := m.field.Text()
	if change(); m.field.Text() != before {
		m.search(typingDelay)
	}
}

// search looks anew.
func (m *model) search(delay time.Duration) {
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

// fetch asks for the rows that are needed now.
func (m *model) fetch() tea.Cmd {
	r, ok := m.list.NextRequest()
	if !ok {
		return nil
	}
	return func() tea.Msg {
		_ = sleep.For(m.ctx, r.Delay)
		out, err := api.HistorySearch.Call(m.ctx, m.engine, r.Input)
		return found{r, out, err}
	}
}

func (m *model) take(msg found) tea.Cmd {
	if msg.err != nil {
		m.list.StoreError(msg.request, msg.err)
	} else {
		m.list.StoreAnswer(msg.request, msg.out)
	}
	if m.waits && m.list.IsSettled() {
		return m.choose(m.run)
	}
	return nil
}

// choose ends with the command under the cursor, once the answer to what was typed
// is there.
func (m *model) choose(run bool) tea.Cmd {
	if m.waits, m.run = !m.list.IsSettled(), run; m.waits {
		return nil
	}
	row, ok := m.list.Selected()
	if !ok {
		return nil
	}
	m.chosen = Choice{row.Command.Command, run}
	return m.leave()
}

// Least size of a terminal that the picker is drawn on.
const (
	leastWidth  = 16
	leastHeight = 4
)

// View draws the picker over the whole terminal.
func (m *model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	if m.w < leastWidth || m.h < leastHeight {
		return v
	}
	look := &m.look
	note := widget.Thousands(m.list.Total()) + " found"
	room := m.w - widget.Width(note) - 5
	if room < leastWidth {
		note, room = "", m.w-4
	}
	text, x := m.field.DrawIn(room, look)
	query := " " + look.Title.Text("/") + " " + text
	query += look.Dim.Text(widget.Pad(widget.Clip(" "+note, m.w-3-room), m.w-3-room))
	rows := []string{query, m.drawFilters()}
	rows = append(rows, m.list.Draw(m.w, m.h-3, time.Now(), look)...)
	hints := []widget.Hint{{Key: "enter", Does: "run"}, {Key: "tab", Does: "edit"}, {Key: "↑ ↓", Does: "choose"}, {Key: "esc", Does: "back"}}
	line, used := widget.Hints(hints, m.w-1, 1, look.BarKey, look.BarDim)
	rows = append(rows, look.Bar.Text(" ")+line+look.Bar.Text(widget.Spaces(m.w-1-used)))
	v.SetContent(strings.Join(rows, "\n"))
	v.Cursor = tea.NewCursor(3+x, 0)
	v.Cursor.Shape = tea.CursorBar
	return v
}

// drawFilters is the row of filters, those that are on inverted.
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
	return line + widget.Spaces(m.w-used)
}

package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes"
)

// changedMsg says that the link has news or a pane's session has.
type changedMsg struct{}

// startedMsg is the outcome of the first of the starts.
type startedMsg struct {
	process api.Process
	err     error
}

// doneMsg is the outcome of an operation whose effect comes as an event.
type doneMsg struct{ err error }

// sync takes in what the link has learnt.
func (m *model) sync() tea.Cmd {
	var cmds []tea.Cmd
	if n := m.link.latest(); n.serial != m.news.serial {
		cmds = append(cmds, m.takeNews(n))
	}
	rang := false
	for p := range m.attachments {
		if p.Sync() {
			rang = true
		}
	}
	for _, l := range m.visible() {
		if l.pane.Changed() {
			m.dirty = true
		}
	}
	m.closeFinished()
	if rang && m.terminal != nil {
		m.terminal.painter.update(func(f *frame) { f.bells++ })
	}
	return tea.Batch(cmds...)
}

func (m *model) takeNews(n news) tea.Cmd {
	before := m.news
	m.news = n
	m.dirty = true
	m.adopt()
	m.refreshList()
	cmd := m.open()
	if n.connected && !before.connected && n.losses > 0 {
		cmd = tea.Batch(cmd, m.say("reconnected", false))
	}
	for _, notice := range n.notices {
		cmd = tea.Batch(cmd, m.say(notice, true))
	}
	return cmd
}

// adopt gives every live session that is in no group one of its own, and drops
// groups that were never opened when their session has ended. While a session
// is being started it waits, because the new one could be it.
func (m *model) adopt() {
	if !m.news.connected {
		return
	}
	live := map[string]bool{}
	for _, p := range m.news.processes {
		if p.Kind != api.KindSession || p.State.Ended() {
			continue
		}
		live[p.ID] = true
		if g, _ := m.find(p.ID); g == nil && len(m.starts) == 0 {
			m.groups = append(m.groups, newGroup(panes.NewTerminal(p.ID)))
		}
	}
	for _, g := range slices.Clone(m.groups) {
		if g == m.current {
			continue
		}
		for _, l := range g.root.leaves(nil) {
			if l.pane.ID != "" && !live[l.pane.ID] && m.attachments[l.pane] == nil {
				m.closeLeaf(g, l)
			}
		}
	}
}

// open shows the first session, or starts one, once both the screen's size and
// the sessions are known.
func (m *model) open() tea.Cmd {
	if m.opened || !m.news.connected || m.w == 0 {
		return nil
	}
	m.opened = true
	if len(m.groups) > 0 {
		m.show(m.groups[0], nil)
		m.refreshList()
		return nil
	}
	return m.newSession()
}

// closeFinished puts away the panes whose program has ended well, or was ended
// on purpose; one that failed stays to be read.
func (m *model) closeFinished() {
	for p := range m.attachments {
		ended := p.Ended()
		if ended == nil {
			continue
		}
		g, l := m.groupOf(p)
		switch {
		case g == nil:
			m.release(p)
		case !panes.Failed(ended):
			m.closeLeaf(g, l)
			m.refreshList()
		}
	}
}

// maxEndedRows is how many sessions that ended badly the list shows.
const maxEndedRows = 20

// refreshList makes the list's rows: sessions in the order of their groups,
// then those that ended badly.
func (m *model) refreshList() {
	var rows []panes.SessionRow
	var current string
	if m.current != nil {
		current = m.current.focus.pane.ID
	}
	for _, g := range m.groups {
		leaves := g.root.leaves(nil)
		for i, l := range leaves {
			if p, ok := m.process(l.pane.ID); ok {
				rows = append(rows, panes.SessionRow{Process: p, Branch: branch(i, len(leaves)), Current: p.ID == current})
			}
		}
	}
	rows = slices.DeleteFunc(append(rows, m.endedRows()...), func(r panes.SessionRow) bool {
		return !matches(r.Process, m.filter)
	})
	m.list.SetRows(rows)
	m.list.Focused = m.listFocused
	if !m.listFocused {
		m.list.Select(current)
	}
	m.dirty = true
}

func branch(i, n int) string {
	switch {
	case n == 1:
		return ""
	case i == 0:
		return "┌"
	case i == n-1:
		return "└"
	}
	return "│"
}

// endedRows are the newest sessions that ended badly and are in no group.
func (m *model) endedRows() []panes.SessionRow {
	var rows []panes.SessionRow
	for _, p := range slices.Backward(m.news.processes) {
		if p.Kind != api.KindSession || !panes.Failed(&p) || m.closed[p.ID] || len(rows) == maxEndedRows {
			continue
		}
		if g, _ := m.find(p.ID); g == nil {
			rows = append(rows, panes.SessionRow{Process: p})
		}
	}
	return rows
}

func matches(p api.Process, filter string) bool {
	if filter == "" {
		return true
	}
	text := p.Name + " " + p.Command + " " + p.CWD
	if p.Terminal != nil {
		text += " " + p.Terminal.Title
	}
	return strings.Contains(strings.ToLower(text), strings.ToLower(filter))
}

// newSession starts a shell in a group of its own and shows it at once; what
// is typed meanwhile waits in the pane.
func (m *model) newSession() tea.Cmd {
	here := m.currentPane()
	p := panes.NewTerminal("")
	g := newGroup(p)
	m.groups = append(m.groups, g)
	m.view = viewSessions
	m.show(g, nil)
	return m.startFor(p, here)
}

// split starts a shell beside or below the focused pane.
func (m *model) split(x axis) tea.Cmd {
	if m.view != viewSessions || m.current == nil {
		return m.newSession()
	}
	if m.zoomed {
		m.zoomed = false
		m.relayout()
	}
	leaf := m.current.focus
	if !leaf.canSplit(x) {
		return m.say("no room to split this pane", true)
	}
	p := panes.NewTerminal("")
	var created *node
	m.current.root, created = leaf.split(x, p)
	m.show(m.current, created)
	return m.startFor(p, leaf.pane)
}

func (m *model) currentPane() *panes.Terminal {
	if m.current == nil {
		return nil
	}
	return m.current.focus.pane
}

// A start is a session that is wanted for a pane, in the folder where another
// pane's is.
type start struct{ pane, near *panes.Terminal }

// startFor starts the session of a pane that is on the screen already. Starts
// follow each other, so that sessions are there in the order they were asked
// for.
func (m *model) startFor(p, near *panes.Terminal) tea.Cmd {
	m.starts = append(m.starts, start{p, near})
	if len(m.starts) > 1 {
		return nil
	}
	return m.startNext()
}

func (m *model) startNext() tea.Cmd {
	if len(m.starts) == 0 {
		return nil
	}
	next := m.starts[0]
	size := next.pane.Feed.Size()
	in := api.SessionStartInput{CWD: m.cwd(next.near), Cols: size.Cols, Rows: size.Rows}
	return m.call(func(ctx context.Context, e engine) tea.Msg {
		process, err := e.Start(ctx, in)
		return startedMsg{process, err}
	}, func(err error) tea.Msg { return startedMsg{err: err} })
}

// call runs an operation on the engine as a command.
func (m *model) call(do func(context.Context, engine) tea.Msg, failed func(error) tea.Msg) tea.Cmd {
	ctx, l := m.ctx, m.link
	return func() tea.Msg {
		e, err := l.at(ctx)
		if err != nil {
			return failed(err)
		}
		return do(ctx, e)
	}
}

// cwd is where a new session starts: where that of a pane is.
func (m *model) cwd(near *panes.Terminal) string {
	if near != nil {
		if p, ok := m.process(near.ID); ok && p.CWD != "" {
			return p.CWD
		}
	}
	return m.o.CWD
}

func (m *model) started(msg startedMsg) tea.Cmd {
	pane := m.starts[0].pane
	m.starts = m.starts[1:]
	g, l := m.groupOf(pane)
	if msg.err != nil {
		if g != nil {
			m.closeLeaf(g, l)
		}
		m.adopt()
		m.refreshList()
		return tea.Batch(m.startNext(), m.say(errorText(msg.err), true))
	}
	m.news.processes = withMissing(m.news.processes, msg.process)
	if g != nil {
		pane.ID = msg.process.ID
		if g == m.current {
			m.relayout()
		}
	}
	m.adopt()
	m.refreshList()
	return tea.Batch(m.startNext(), m.sync())
}

// withMissing is list with p, unless the list has a newer state of it.
func withMissing(list []api.Process, p api.Process) []api.Process {
	for i := range list {
		if list[i].ID == p.ID {
			return list
		}
	}
	return with(list, p)
}

func (m *model) done(msg doneMsg) tea.Cmd {
	if msg.err != nil {
		return m.say(errorText(msg.err), true)
	}
	return nil
}

// errorText is an error with its hint on one line.
func errorText(err error) string {
	e := api.AsError(err)
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + " – " + e.Hint
}

// step goes to the next session of the list, around its end.
func (m *model) step(by int) tea.Cmd {
	var all []*node
	at := -1
	for _, g := range m.groups {
		for _, l := range g.root.leaves(nil) {
			if m.current == g && g.focus == l {
				at = len(all)
			}
			all = append(all, l)
		}
	}
	if len(all) == 0 {
		return nil
	}
	next := all[(at+by+len(all))%len(all)]
	m.view = viewSessions
	g, _ := m.groupOf(next.pane)
	m.show(g, next)
	m.refreshList()
	return nil
}

// openSelected shows the session under the list's cursor. One that has ended
// gets a pane that says how.
func (m *model) openSelected() tea.Cmd {
	if m.view != viewSessions {
		return nil
	}
	if len(m.list.Rows()) == 0 {
		return m.newSession()
	}
	return m.openSession(m.list.Selected())
}

func (m *model) openSession(id string) tea.Cmd {
	if id == "" {
		return nil
	}
	g, l := m.find(id)
	if g == nil {
		g = newGroup(panes.NewTerminal(id))
		m.groups = append(m.groups, g)
	}
	m.show(g, l)
	m.refreshList()
	return nil
}

// closePane takes the focused pane off the screen; its session goes on in a
// group of its own.
func (m *model) closePane() tea.Cmd {
	p := m.focused()
	if p == nil {
		return nil
	}
	g, l := m.current, m.current.focus
	if p.Ended() != nil || p.Err() != nil {
		m.closed[p.ID] = true
		m.closeLeaf(g, l)
		m.refreshList()
		return nil
	}
	if g.root.pane != nil {
		return m.say("this is the session's only pane; end the session to close it", false)
	}
	m.closeLeaf(g, l)
	m.adopt()
	m.refreshList()
	return nil
}

// keyAfterEnd handles keys in a pane whose program is gone.
func (m *model) keyAfterEnd(k keys.Key) tea.Cmd {
	switch {
	case k.Phase == keys.Release:
	case k.Code == keys.Enter || k.Code == keys.KPEnter:
		return m.startInPlace()
	case k.Text == "x" || k.Text == "q":
		return m.closePane()
	}
	return nil
}

// startInPlace starts a shell in the focused pane after its program has ended.
func (m *model) startInPlace() tea.Cmd {
	leaf := m.current.focus
	ended := leaf.pane
	m.release(ended)
	m.closed[ended.ID] = true
	leaf.pane = panes.NewTerminal("")
	m.relayout()
	m.refreshList()
	return m.startFor(leaf.pane, ended)
}

// target is the session that an action is about: that of the focused pane, or
// the list's.
func (m *model) target() (api.Process, bool) {
	if m.view != viewSessions {
		return api.Process{}, false
	}
	if p := m.focused(); p != nil {
		return m.process(p.ID)
	}
	return m.process(m.list.Selected())
}

func (m *model) askEnd() tea.Cmd {
	p, ok := m.target()
	if !ok {
		return nil
	}
	if p.State.Ended() {
		if m.focused() != nil {
			return m.closePane()
		}
		return m.askForget()
	}
	m.overlay = &question{
		title: fmt.Sprintf("End session %s?", panes.Clean(p.Name)),
		lines: []string{"Its program and all that runs in it get SIGHUP."},
		yes:   "end it",
		then: m.call(func(ctx context.Context, e engine) tea.Msg {
			_, err := e.Kill(ctx, p.ID)
			return doneMsg{err}
		}, func(err error) tea.Msg { return doneMsg{err} }),
	}
	return nil
}

func (m *model) askForget() tea.Cmd {
	p, ok := m.target()
	if !ok {
		return nil
	}
	if !p.State.Ended() {
		return m.say("the session is running; end it first", true)
	}
	m.overlay = &question{
		title: fmt.Sprintf("Forget session %s?", panes.Clean(p.Name)),
		lines: []string{"Its record and its output are removed."},
		yes:   "forget it",
		then: m.call(func(ctx context.Context, e engine) tea.Msg {
			return doneMsg{e.Remove(ctx, p.ID)}
		}, func(err error) tea.Msg { return doneMsg{err} }),
	}
	return nil
}

func (m *model) askName() tea.Cmd {
	p, ok := m.target()
	if !ok {
		return nil
	}
	m.overlay = newPrompt("Rename session", p.Name, func(m *model, name string) tea.Cmd {
		if name == "" || name == p.Name {
			return nil
		}
		return m.call(func(ctx context.Context, e engine) tea.Msg {
			_, err := e.Rename(ctx, p.ID, name)
			return doneMsg{err}
		}, func(err error) tea.Msg { return doneMsg{err} })
	})
	return nil
}

func (m *model) askFilter() tea.Cmd {
	if m.view != viewSessions {
		return nil
	}
	m.overlay = newPrompt("Show sessions with", m.filter, func(m *model, text string) tea.Cmd {
		m.filter = text
		m.refreshList()
		return nil
	})
	return nil
}

func (m *model) clearFilter() tea.Cmd {
	m.filter = ""
	m.refreshList()
	return nil
}

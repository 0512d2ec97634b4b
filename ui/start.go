package ui

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"slices"
	"sync"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/terminal"
	"tandem/ui/conn"
	"tandem/ui/layout"
)

// startedMsg is the outcome of a start: the first of them, or one that was called
// off meanwhile.
type startedMsg struct {
	asking  *asking
	process api.Process
	err     error
}

// newSession starts a shell in a tab of its own and shows it at once; what
// is typed meanwhile waits in the pane.
func (m *model) newSession() tea.Cmd {
	here := m.currentPane()
	p := m.tabs.New("")
	g := m.tabs.Add(p)
	m.switchTo(viewSessions)
	m.show(g, nil)
	return m.startFor(p, here)
}

// split starts a shell beside or below the focused pane.
func (m *model) split(x layout.Axis) tea.Cmd {
	if m.view != viewSessions || m.tabs.Current == nil {
		return m.newSession()
	}
	if m.zoomed {
		m.zoomed = false
		m.relayout()
	}
	leaf := m.tabs.Current.Focus
	if !leaf.CanSplit(x) {
		return m.say("no room to split this pane", true)
	}
	p := m.tabs.New("")
	var created *layout.Node
	m.tabs.Current.Root, created = leaf.Split(x, p)
	m.show(m.tabs.Current, created)
	return m.startFor(p, leaf.Pane)
}

func (m *model) currentPane() *terminal.Pane {
	if m.tabs.Current == nil {
		return nil
	}
	return m.tabs.Current.Focus.Pane
}

// A start is a session that is wanted for a pane, in the folder where another
// pane's is.
type start struct {
	pane, near *terminal.Pane
	command    []string // a shell if there is none
	folder     string   // instead of the one near
	id         string   // that its session will have
	asking     *asking
}

// asking is what the engine is asked once, by whoever comes first, and what it
// answers.
type asking struct {
	once   sync.Once
	answer startedMsg
}

// ask asks, or waits for the answer to who has.
func (a *asking) ask(ctx context.Context, l *conn.Link, in api.SessionStartInput) startedMsg {
	a.once.Do(func() {
		a.answer.asking = a
		e, err := l.At(ctx)
		if err == nil {
			a.answer.process, err = e.Start(ctx, in)
		}
		a.answer.err = err
	})
	return a.answer
}

// startFor starts the session of a pane that is on the screen already. Starts
// follow each other, so that sessions are there in the order they were asked
// for.
func (m *model) startFor(p, near *terminal.Pane) tea.Cmd {
	return m.startWith(start{pane: p, near: near})
}

func (m *model) startWith(s start) tea.Cmd {
	s.asking, s.id = &asking{}, newID()
	m.starts = append(m.starts, s)
	if len(m.starts) > 1 {
		return nil
	}
	return m.startNext()
}

// newID makes the id of a session, as the engine does: by it a session is known
// that the engine has not answered about yet.
func newID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

func (m *model) startNext() tea.Cmd {
	if len(m.starts) == 0 {
		return nil
	}
	next := m.starts[0]
	ctx, l, in := m.ctx, m.link, m.startInput(next)
	return func() tea.Msg { return next.asking.ask(ctx, l, in) }
}

func (m *model) startInput(s start) api.SessionStartInput {
	size := s.pane.Feed.Size()
	in := api.SessionStartInput{ID: s.id, Command: s.command, CWD: m.cwd(s.near), Cols: size.Cols, Rows: size.Rows, Environ: api.Environ(os.Environ())}
	if s.folder != "" {
		in.CWD = s.folder
	} else if s.near != nil {
		in.CWDOf = s.near.ID
	}
	return in
}

// finishStarts has the sessions that were asked for and are not there yet in
// their panes, if the engine gives them before ctx ends. Nothing else runs on the
// model any more.
func (m *model) finishStarts(ctx context.Context) {
	for _, s := range slices.Concat(m.calledOff, m.starts) {
		in, answer := m.startInput(s), make(chan startedMsg, 1)
		m.link.Start(func() { answer <- s.asking.ask(ctx, m.link, in) })
		select {
		case msg := <-answer:
			if msg.err == nil && m.isCalledOff(msg) {
				m.endNow(ctx, msg.process.ID)
			} else if msg.err == nil {
				m.news.Learn(msg.process)
				s.pane.ID = msg.process.ID
			}
		case <-ctx.Done():
			return
		}
	}
}

// cwd is where a new session starts: where that of a pane is.
func (m *model) cwd(near *terminal.Pane) string {
	if near != nil {
		if p, ok := m.process(near.ID); ok && p.CWD != "" {
			return p.CWD
		}
	}
	return m.o.CWD
}

func (m *model) started(msg startedMsg) tea.Cmd {
	if m.isCalledOff(msg) {
		return m.calledOffStarted(msg)
	}
	pane := m.starts[0].pane
	m.starts = m.starts[1:]
	g, l := m.tabs.Of(pane)
	if msg.err != nil {
		if g != nil {
			m.closeLeaf(g, l)
		}
		m.adopt()
		m.refreshList()
		return tea.Batch(m.startNext(), m.say(panes.ErrorText(msg.err), true))
	}
	m.link.Learn(msg.process) // or news that are older would take it away again
	m.news.Learn(msg.process)
	if g != nil {
		pane.ID = msg.process.ID
		if g == m.tabs.Current {
			m.relayout()
		}
	}
	m.adopt()
	m.refreshList()
	return tea.Batch(m.startNext(), m.sync())
}

// step goes to the next session of the list, around its end.
func (m *model) step(by int) tea.Cmd {
	all := m.tabs.Leaves()
	at := -1
	if m.tabs.Current != nil {
		at = slices.Index(all, m.tabs.Current.Focus)
	}
	if len(all) == 0 {
		return nil
	}
	next := all[(at+by+len(all))%len(all)]
	m.switchTo(viewSessions)
	g, _ := m.tabs.Of(next.Pane)
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
	g, l := m.tabs.Find(id)
	if g == nil {
		g = m.tabs.Add(m.tabs.New(id))
	}
	m.show(g, l)
	m.refreshList()
	return nil
}

// closePane takes the focused pane off the screen; its session goes on in a
// tab of its own.
func (m *model) closePane() tea.Cmd {
	p := m.focused()
	if p == nil {
		return nil
	}
	g, l := m.tabs.Current, m.tabs.Current.Focus
	if p.Ended() != nil || p.Err() != nil {
		m.putAway(p)
		m.closeLeaf(g, l)
		m.refreshList()
		return nil
	}
	if g.Root.Pane != nil {
		return m.say("this is the session's only pane; end the session to close it", false)
	}
	m.closeLeaf(g, l)
	m.adopt()
	m.refreshList()
	return nil
}

// putAway takes the session of a pane, which has ended, out of the list, in the
// next dashboards too. The pane may know of the end before the list does.
func (m *model) putAway(p *terminal.Pane) {
	if last := p.Ended(); last != nil {
		m.link.Ended(*last)
		m.news.Ended(*last)
	}
	m.closed[p.ID] = true
	m.layouts.changed = true
}

// startInPlace starts a shell in a pane after its program has ended.
func (m *model) startInPlace(ended *terminal.Pane) tea.Cmd {
	_, leaf := m.tabs.Of(ended)
	if leaf == nil {
		return nil
	}
	m.release(ended)
	m.putAway(ended)
	leaf.Pane = m.tabs.New("")
	m.relayout()
	m.refreshList()
	return m.startFor(leaf.Pane, ended)
}

// startCommand starts a command in a new session and shows it; without one a
// shell. Without a folder it is where the session near is.
func (m *model) startCommand(near *terminal.Pane, command []string, folder string) tea.Cmd {
	p := m.tabs.New("")
	g := m.tabs.Add(p)
	m.switchTo(viewSessions)
	m.show(g, nil)
	return m.startWith(start{pane: p, near: near, command: command, folder: folder})
}

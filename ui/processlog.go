package ui

import (
	"context"
	"io"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/processes"
	"tandem/panes/widget"
	"tandem/ui/conn"
	"tandem/ui/overlay"
)

// logMsg is the answer to a request of a log.
type logMsg struct {
	log     *processes.Log
	request processes.LogRequest
	out     api.ProcessLogOutput
	err     error
}

// log is the log of the process under the cursor; nil without one. It is made
// at once: what is typed behind a move of the cursor is about it.
func (m *model) log() *processes.Log {
	p := &m.processes
	selected, ok := p.table.Selected()
	if !ok {
		m.dropLog()
		return nil
	}
	if p.log == nil || p.log.ID != selected.ID {
		m.dropLog()
		p.log = processes.NewLog(selected.ID, selected.Kind == api.KindSession)
		if splitLog(&selected) {
			p.log.Stream = "stdout"
		}
		m.dirty = true
	}
	var tail []string
	if selected.Supervision != nil {
		tail = selected.Supervision.LastLines
	}
	p.log.SetState(selected.State, tail)
	return p.log
}

// pumpLog asks for what the log under the cursor needs. Update never waits for
// it.
func (m *model) pumpLog() tea.Cmd {
	p := &m.processes
	if m.log() == nil {
		return nil
	}
	size := m.processParts().log
	p.log.SetSize(size.w, size.h)
	request, ok := p.log.Next()
	if !ok {
		return nil
	}
	if p.stop != nil {
		p.stop()
	}
	ctx, stop := context.WithCancel(m.ctx)
	p.stop = stop
	return readLog(ctx, m.link, p.log, request)
}

func splitLog(p *api.Process) bool { return p.Supervision != nil && p.Supervision.SplitLog }

// switchStream goes from standard output to standard error and back.
func (m *model) switchStream() tea.Cmd {
	p := &m.processes
	selected, ok := p.table.Selected()
	if !ok || m.log() == nil || !splitLog(&selected) {
		return m.say("this process has one log for both output and errors", false)
	}
	stream := map[string]string{"stdout": "stderr", "stderr": "stdout"}[p.log.Stream]
	m.dropLog()
	p.log = processes.NewLog(selected.ID, false)
	p.log.Stream = stream
	return nil
}

func readLog(ctx context.Context, l *conn.Link, log *processes.Log, request processes.LogRequest) tea.Cmd {
	return func() tea.Msg {
		pause(ctx, request.Delay)
		e, err := l.At(ctx)
		if err != nil {
			return logMsg{log: log, request: request, err: err}
		}
		out, err := e.Log(ctx, request.Input)
		return logMsg{log, request, out, err}
	}
}

// dropLog ends what is under way for the log that was shown.
func (m *model) dropLog() {
	p := &m.processes
	m.endSearch()
	if p.stop != nil {
		p.stop()
	}
	if p.log == nil {
		return
	}
	p.log, p.stop = nil, nil
	if _, ok := p.table.Selected(); !ok {
		p.onLog = false
	}
	m.dirty = true
}

func (m *model) takeLog(msg logMsg) tea.Cmd {
	if msg.log != m.processes.log {
		return nil
	}
	changed := false
	if msg.err != nil {
		changed = msg.log.Fail(msg.request, msg.err)
	} else {
		changed = msg.log.Take(msg.request, msg.out)
	}
	m.dirty = m.dirty || changed
	if m.processes.pending == msg.log {
		return m.searchFirst(msg.log)
	}
	return nil
}

// search

// searchMsg is the answer to a search.
type searchMsg struct {
	log    *processes.Log
	search processes.LogSearch
	out    api.ProcessLogOutput
	err    error
}

func (m *model) askSearch() tea.Cmd {
	if m.log() == nil {
		return nil
	}
	m.overlay = overlay.NewPrompt("Search the log for", "", func(pattern string) tea.Cmd {
		log := m.log()
		if log == nil { // its process was forgotten meanwhile
			return nil
		}
		m.endSearch()
		if err := log.Search(pattern); err != nil {
			return m.say(err.Error(), true)
		}
		return m.searchFirst(log)
	})
	return nil
}

// searchFirst searches a log for what was typed last, as soon as there is
// something in it.
func (m *model) searchFirst(log *processes.Log) tea.Cmd {
	p := &m.processes
	p.pending = nil
	if log.Pattern() != "" && !log.Begun() {
		p.pending = log
		return nil
	}
	s, ok := log.First()
	if !ok {
		return nil
	}
	cmd := m.search(log, s)
	p.turn = !s.Input.Backward
	return cmd
}

// nextMatch goes to the next match above or below.
func (m *model) nextMatch(above bool) tea.Cmd {
	log := m.log()
	if log == nil {
		return nil
	}
	s, ok := log.Another(above)
	if !ok {
		return m.askSearch()
	}
	return m.search(log, s)
}

func (m *model) search(log *processes.Log, s processes.LogSearch) tea.Cmd {
	m.endSearch()
	ctx, cancel := context.WithCancel(m.ctx)
	m.processes.find, m.processes.finding, m.processes.turn = cancel, s, false
	l := m.link
	return func() tea.Msg {
		e, err := l.At(ctx)
		if err != nil {
			return searchMsg{log: log, search: s, err: err}
		}
		out, err := e.Log(ctx, s.Input)
		return searchMsg{log, s, out, err}
	}
}

func (m *model) endSearch() {
	m.processes.pending = nil
	if m.processes.find != nil {
		m.processes.find()
		m.processes.find = nil
	}
}

func (m *model) searched(msg searchMsg) tea.Cmd {
	p := &m.processes
	if p.find == nil || msg.log != p.log || msg.search != p.finding {
		return nil
	}
	turn := p.turn
	m.endSearch()
	m.dirty = true
	if msg.err != nil {
		return m.say(errorText(msg.err), true)
	}
	found, more := msg.log.Found(msg.search, msg.out)
	switch {
	case more != nil:
		cmd := m.search(msg.log, *more)
		p.turn = turn
		return cmd
	case found:
		m.hush()
		return nil
	case turn: // a new search: what is above is better than nothing
		if above, ok := msg.log.Another(true); ok {
			return tea.Batch(m.search(msg.log, above), m.say("no match below, looking above", false))
		}
		return nil
	case msg.log.Following() && !msg.out.State.Ended():
		return m.say("no match so far; what comes is marked", false)
	case msg.search.Input.Backward:
		return m.say("no match above", false)
	}
	return m.say("no match below", false)
}

// leaveLog ends a search, takes its highlights away, or goes back to the table,
// whichever comes first.
func (m *model) leaveLog() tea.Cmd {
	p := &m.processes
	switch {
	case p.find != nil || p.pending != nil:
		m.endSearch()
	case p.log != nil && p.log.Pattern() != "":
		return m.sent(p.log.Search(""))
	case p.zoomed:
		p.zoomed = false
	default:
		return m.focusLog(false)
	}
	return nil
}

// saving

func (m *model) askSave() tea.Cmd {
	selected, ok := m.processes.table.Selected()
	if !ok {
		return nil
	}
	stream := ""
	if log := m.processes.log; log != nil && log.ID == selected.ID {
		stream = log.Stream
	}
	m.overlay = overlay.NewPrompt("Save the log of "+widget.Clean(selected.Name)+" to", filepath.Join(m.o.CWD, fileName(selected.Name)+".log"),
		func(path string) tea.Cmd {
			if path == "" {
				return nil
			}
			return m.save(save{"log", expandHome(path, m.list.Home), func(ctx context.Context, e panes.Engine, to io.Writer) (int64, error) {
				return copyLog(ctx, e, selected, stream, to)
			}}, false)
		})
	return nil
}

// copyLog copies what is kept of a log now, byte for byte. What is dropped while
// it is copied is left out.
func copyLog(ctx context.Context, e panes.Engine, p api.Process, stream string, to io.Writer) (written int64, err error) {
	in := api.ProcessLogInput{ID: p.ID, Stream: stream, Max: 1 << 20, Exact: true}
	end := int64(-1)
	for {
		out, err := e.Log(ctx, in)
		if err != nil {
			return written, err
		}
		if end < 0 {
			end = out.End
		}
		piece, err := out.Bytes()
		if err == nil {
			_, err = to.Write(piece)
		}
		written += int64(len(piece))
		if err != nil || out.NextCursor >= end || len(piece) == 0 {
			return written, err
		}
		next := out.NextCursor
		in.Since = &next
	}
}

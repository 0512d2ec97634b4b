// Package logview shows the log of a process, or the logs of several processes merged by time, with
// the name of the process before each line. It handles no keys and does not call the engine by
// itself: its user makes the requests.
package logview

import (
	"tandem/engine/api"
	"tandem/engine/api/logmerge"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A Log is a log on the screen. It may be huge, so only a window of lines around the visible ones
// is held. NextRequest returns the next request for lines and AcceptAnswer takes the answer.
// Between the two calls the request runs in a command, and the log stays usable.
type Log struct {
	ID      string // of the only process
	Stream  string // "stdout" or "stderr" if they are separate
	Project string // file of the project shown; "" for none
	Title   string // of merged logs
	Focused bool

	window window
	format format
	view   view
	reader reader
	match  match

	sources []*logmerge.Source
	states  map[string]api.State // of the processes, by id
	tail    []string             // shown until there are lines
	out     []string
}

// New returns the log of a process, following its end.
func New(id, stream string, kind api.Kind) *Log {
	l := newLog()
	l.ID, l.Stream = id, stream
	l.window.spans = []span{{source: &logmerge.Source{Process: api.Process{ID: id, Kind: kind}}, stream: stream}}
	return l
}

// NewMerged returns the merged logs of processes.
func NewMerged(title string, all []api.Process) *Log {
	l := newLog()
	l.Title, l.window.merged = title, true
	for _, p := range all {
		l.addProcess(p)
	}
	return l
}

// NewProject returns the merged logs of those processes in all that currently belong to a project
// file. Processes that join the project later are added by UpdateProcesses.
func NewProject(title, file string, all []api.Process) *Log {
	l := NewMerged(title, logmerge.Newest(file, all, false))
	l.Project = file
	for _, p := range all {
		l.states[p.ID] = p.State // so that former ones are not taken for new
	}
	return l
}

func newLog() *Log {
	l := &Log{match: match{at: -1}, states: map[string]api.State{}}
	l.format.window = &l.window
	l.view = view{window: &l.window, format: &l.format, follow: true}
	return l
}

func (l *Log) addProcess(p api.Process) {
	l.states[p.ID] = p.State
	source := logmerge.NewSource(p, l.sources, look.Tints, text.Clean)
	l.sources = append(l.sources, source)
	l.format.nameWidth = max(l.format.nameWidth, text.Width(source.Label))
	// If lines of other processes are shown already, this process was started after they were read.
	// So its whole log comes after them.
	l.window.spans = append(l.window.spans, spansOf(source)...)
}

// UpdateProcesses updates the states of merged processes. It adds new processes of the project, and
// continues to read the log of a process that was restarted.
func (l *Log) UpdateProcesses(all []api.Process) {
	for _, p := range all {
		if before, known := l.states[p.ID]; known {
			if l.states[p.ID] = p.State; before.Ended() && !p.State.Ended() {
				l.resume()
			}
		} else if l.Project != "" && logmerge.Of(p, l.Project, false) {
			l.addProcess(p)
			l.resume()
			l.reader.pending = nil // its answer would lack the new log
		}
	}
}

// SetState sets the state of the only process, and its last lines, which are shown until the log
// has been read.
func (l *Log) SetState(s api.State, tail []string) {
	if l.states[l.ID] != s {
		l.resume()
	}
	l.states[l.ID], l.tail = s, tail
}

// SetSize sets the size of the log on the screen. How many lines are requested depends on it.
func (l *Log) SetSize(w, h int) {
	l.format.w = w
	l.view.setHeight(h)
}

// Following reports whether the end stays visible.
func (l *Log) Following() bool { return l.view.follow }

// Scroll moves the visible part down by a number of rows, or up if it is negative. Scrolling up
// stops following.
func (l *Log) Scroll(rows int) { l.view.scroll(rows) }

// ScrollHalfPages moves the visible part down by half pages, or up if halves is negative.
func (l *Log) ScrollHalfPages(halves int) {
	l.view.scroll(halves * max(l.view.h-1, 2) / 2)
}

// ScrollToStart goes to the oldest line.
func (l *Log) ScrollToStart() {
	l.view.pauseFollowing()
	l.reader.jump = &Request{kind: askStart}
}

// ScrollToEnd goes to the end and follows it.
func (l *Log) ScrollToEnd() {
	l.view.follow, l.view.skipped, l.format.left = true, 0, 0
	if !l.reader.atEnd {
		l.reader.jump = &Request{kind: askEnd}
	}
}

func (l *Log) ToggleFollow() {
	if l.view.follow {
		l.view.pauseFollowing()
		return
	}
	l.ScrollToEnd()
}

// ToggleWrap switches between wrapping long lines and scrolling sideways.
func (l *Log) ToggleWrap() {
	l.format.wrap, l.format.left = !l.format.wrap, 0
	l.view.top.row = 0
}

// ToggleTimes shows or hides the time at which each line was written.
func (l *Log) ToggleTimes() { l.format.clock = !l.format.clock }

// TogglePretty switches between structured lines in columns and raw ones.
func (l *Log) TogglePretty() {
	l.format.pretty = !l.format.pretty
	for i := range l.window.lines {
		line := &l.window.lines[i]
		line.text, line.breaks, line.drawn = nil, nil, ""
	}
}

const sideStep = 16

// ScrollSideways scrolls to the right by a number of steps, or to the left if it is negative. It
// does nothing if lines are wrapped.
func (l *Log) ScrollSideways(steps int) {
	if !l.format.wrap {
		l.format.left = min(max(l.format.left+steps*sideStep, 0), maxLine)
	}
}

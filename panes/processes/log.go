package processes

import (
	"time"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/logtext"
)

// Limits of a Log.
const (
	maxLogChunk    = 64 << 10  // bytes read at a time from one log,
	minLogChunk    = 8 << 10   // from each of many,
	maxLogChunks   = 512 << 10 // and from all together
	maxFollowBytes = 256 << 10
	maxFollowLines = 2000    // lines
	maxWindowBytes = 1 << 20 // bytes held
	maxWindowLines = 20_000  // lines held
	maxLogLine     = 16 << 10
	marginScreens  = 3         // screens held before and after the visible one,
	minMarginLines = 200       // but at least this many lines
	maxFollowLag   = 512 << 10 // following skips to the end if it lags by more bytes
)

// A Log shows the log of a process, or several merged by time, with the process's name before each
// line. A log may be huge, so only a window of lines around the view is held, at most
// maxWindowBytes. NextRequest returns the next request for lines and AcceptAnswer takes the answer;
// in between, the request runs in a command and the view stays usable. Lines of a single log keep
// their offsets in it; those of merged logs get offsets of their own, because one position there
// stands for a position in each.
type Log struct {
	ID     string // of the only process
	Stream string // "stdout" or "stderr" if they are separate

	logView
	project string // new processes of this project join; "" for none
	title   string // of merged logs
	sources []*logmerge.Source
	spans   []logmerge.Span      // of the lines held; same index as names
	states  map[string]api.State // of the processes, by id
	tail    []string             // shown until there are lines

	forward *logmerge.Merge // reads on after the lines held; nil until needed
	pending *logRequest     // the request under way
	jump    *logRequest     // the request to make next
	atEnd   bool            // the lines held reach the end
}

// A logView draws and scrolls the lines held.
type logView struct {
	Terminal bool // output of a terminal
	Focused  bool

	window
	oldest    int64 // first byte available
	last      int64 // end of the known bytes
	known     bool  // an answer has arrived
	idle      bool  // all processes have exited and everything is read
	err       error
	w, h      int
	top       logRow
	follow    bool
	skipped   int64 // bytes skipped while following
	wrap      bool
	pretty    bool // lines of JSON are shown in columns
	clock     bool // the time of each line is shown
	left      int  // columns scrolled sideways
	search    logMatch
	names     []lineName // of merged logs; none for a single one
	nameWidth int        // cells of the longest name
	out       []string
	buf       []byte
}

// A logRow is a row of the log: the offset of its line, and its index among the rows of that line
// when wrapped.
type logRow struct {
	offset int64
	row    int
}

// A logLine is a line held, with cached results.
type logLine struct {
	offset int64
	raw    string // without its newline
	open   bool   // its newline has not arrived
	name   int    // index of its log
	at     time.Time
	from   int64 // its offset in its own log
	next   int64 // offset of the next line there
	text   *logtext.Line
	breaks []int // first cells of its rows when wrapped
	width  int   // of these rows
	drawn  string
	key    drawKey
}

// A lineName is the name before the lines of one log.
type lineName struct {
	label    string
	tint     int
	stderr   bool
	terminal bool
}

// mergedBase is the offset of the first lines read of merged logs, so that lines before them fit
// below.
const mergedBase = 1 << 40

// NewLog returns a log following its end.
func NewLog(id, stream string, terminal bool) *Log {
	source := &logmerge.Source{Process: api.Process{ID: id}}
	return &Log{ID: id, Stream: stream, logView: logView{Terminal: terminal, follow: true, search: logMatch{at: -1}},
		spans: []logmerge.Span{{Source: source, Stream: stream, Alone: true}}, states: map[string]api.State{}}
}

// NewMerged returns the merged logs of processes. New processes of project join; "" is none.
func NewMerged(title, project string, all []api.Process) *Log {
	l := &Log{logView: logView{follow: true, search: logMatch{at: -1}}, title: title, project: project, states: map[string]api.State{}}
	for _, p := range all {
		l.addProcess(p)
	}
	return l
}

// isMerged reports whether the view shows the logs of several processes.
func (l *logView) isMerged() bool { return len(l.names) > 0 }

func (l *Log) addProcess(p api.Process) {
	l.states[p.ID] = p.State
	source := logmerge.NewSource(p, l.sources, look.Tints, text.Clean)
	l.sources = append(l.sources, source)
	for _, span := range source.Spans("") {
		// Lines are already shown, so the process is new and all of its log follows them.
		if l.known {
			span.From = 0
		}
		l.spans = append(l.spans, span)
		l.names = append(l.names, lineName{source.Label, source.Tint, span.Stream == "stderr", p.Kind == api.KindSession})
		l.nameWidth = max(l.nameWidth, text.Width(source.Label))
	}
}

// UpdateProcesses updates the states. New processes of the project join, and a restarted one is
// read on.
func (l *Log) UpdateProcesses(all []api.Process) {
	for _, p := range all {
		if before, known := l.states[p.ID]; known {
			if l.states[p.ID] = p.State; before.Ended() && !p.State.Ended() {
				l.resumeReading()
			}
		} else if l.project != "" && logmerge.Of(p, l.project, false) {
			l.addProcess(p)
			l.resumeReading()
			l.pending = nil // its answer would lack the new log
		}
	}
}

// SetState sets the state of the only process, and its last lines, shown until the log is read.
func (l *Log) SetState(s api.State, tail []string) {
	if l.states[l.ID] != s {
		l.resumeReading()
	}
	l.states[l.ID], l.tail = s, tail
}

// Exclude keeps an existing process of the project from joining.
func (l *Log) Exclude(p api.Process) {
	if _, joined := l.states[p.ID]; !joined {
		l.states[p.ID] = p.State
	}
}

// resumeReading makes the logs fetch more lines.
func (l *Log) resumeReading() {
	l.forward, l.idle = nil, false
	if l.pending != nil && l.pending.kind == askMore {
		l.pending = nil
	}
}

// Following reports whether the view stays at the end.
func (l *logView) Following() bool { return l.follow }

// parseLine returns line i with its styles and without control characters. It is cached.
func (l *logView) parseLine(i int) *logtext.Line {
	line := &l.lines[i]
	if line.text == nil {
		raw := line.raw
		if l.pretty {
			raw = prettyLine(raw)
		}
		t := logtext.ReadLine(raw, l.Terminal || l.isMerged() && l.names[line.name].terminal)
		line.text = &t
	}
	return line.text
}

// lineRows returns the first cell of each row of line i.
func (l *logView) lineRows(i int) []int {
	if !l.wrap || l.w <= 0 {
		return singleRow[:]
	}
	line := &l.lines[i]
	if w := l.textWidth(); line.breaks == nil || line.width != w {
		line.breaks, line.width = l.parseLine(i).Wrap(w), w
	}
	return line.breaks
}

var singleRow = [1]int{0}

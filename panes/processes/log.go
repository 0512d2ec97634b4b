package processes

import (
	"time"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
	"tandem/panes/widget"
)

// Bounds of a Log, however large the logs are.
const (
	logChunk     = 64 << 10  // bytes asked for at a time of one log,
	logChunkMin  = 8 << 10   // where there are many,
	logChunks    = 512 << 10 // and of all together
	logFollow    = 256 << 10
	logFollowed  = 2000    // lines
	logWindow    = 1 << 20 // bytes held
	logLines     = 20_000  // lines held
	longLogLine  = 16 << 10
	logMargin    = 3         // screens held before and after the one shown,
	logAhead     = 200       // and lines at least
	logFarBehind = 512 << 10 // bytes by which following skips to the end
)

// A Log shows the log of a process, or those of several as one, each line after its process's
// name, in the order of time, through a window of lines around the view. Next returns the next
// request, Take takes the answer. Of logs of any size it holds no more than logWindow bytes.
// Lines of a single log keep their offsets there; merged ones get offsets of their own.
type Log struct {
	ID     string // of the only process
	Stream string // "stdout" or "stderr", where they are kept apart

	logView
	project string // whose processes join; "" if none do
	title   string // of several
	sources []*logmerge.Source
	spans   []logmerge.Span      // of the lines held; one of the same index as each name
	joined  map[string]api.State // of the processes, by id
	tail    []string             // shown as long as nothing else is

	forward *logmerge.Merge // reads on after the lines held; nil until there is a need
	asked   *logRequest     // under way
	jump    *logRequest     // to be made next
	caught  bool            // what is held goes up to the end
}

// A logView draws the lines held of logs, and scrolls in them.
type logView struct {
	Terminal bool // its bytes are what a program wrote to a terminal
	Focused  bool

	window
	oldest  int64 // first byte there is
	last    int64 // after the last byte there is, as far as is known
	known   bool  // an answer has arrived
	idle    bool  // all processes have ended and there is nothing more
	err     error
	w, h    int
	top     logPlace
	follow  bool
	skipped int64 // bytes passed over because they came too fast to be read
	wrap    bool
	pretty  bool // lines of JSON are shown in columns
	clock   bool // the time of each line is shown
	left    int  // columns scrolled sideways
	finding finding
	names   []lineName // of merged logs; none for a single one
	naming  int        // cells of the widest one
	out     []string
	buf     []byte
}

// A logPlace is a row of the log: an absolute offset, and how many rows of the
// wrapped line that begins there are above.
type logPlace struct {
	offset int64
	row    int
}

// A logLine is a line that is held, with what was made of it.
type logLine struct {
	offset int64
	raw    string // without its newline
	open   bool   // its newline has not come yet
	name   int    // index of its log
	at     time.Time
	from   int64 // its offset in its own log
	next   int64 // offset of the line after it there
	text   *widget.Line
	breaks []int // first cells of its rows when wrapped
	width  int   // of these rows
	drawn  string
	key    drawKey
}

// A lineName stands before the lines of one log.
type lineName struct {
	label    string
	tint     int
	stderr   bool
	terminal bool
}

// mergedFrom is the offset of the first lines read of merged logs, with room before it.
const mergedFrom = 1 << 40

// NewLog returns the view of a log, at its end and following it.
func NewLog(id, stream string, terminal bool) *Log {
	source := &logmerge.Source{Process: api.Process{ID: id}}
	return &Log{ID: id, Stream: stream, logView: logView{Terminal: terminal, follow: true, finding: finding{at: -1}},
		spans: []logmerge.Span{{Source: source, Stream: stream, Alone: true}}, joined: map[string]api.State{}}
}

// NewMerged shows the logs of processes and, if a project file is named, of its later ones
// too.
func NewMerged(title, project string, all []api.Process) *Log {
	l := &Log{logView: logView{follow: true, finding: finding{at: -1}}, title: title, project: project, joined: map[string]api.State{}}
	for _, p := range all {
		l.join(p)
	}
	return l
}

// merged reports whether it shows the logs of several processes.
func (l *logView) merged() bool { return len(l.names) > 0 }

// join adds a process's log.
func (l *Log) join(p api.Process) {
	l.joined[p.ID] = p.State
	source := logmerge.NewSource(p, l.sources, widget.Tints, widget.Clean)
	l.sources = append(l.sources, source)
	for _, span := range source.Spans("") {
		if l.known { // all of it is new
			span.From = 0
		}
		l.spans = append(l.spans, span)
		l.names = append(l.names, lineName{source.Label, source.Tint, span.Stream == "stderr", p.Kind == api.KindSession})
		l.naming = max(l.naming, widget.Width(source.Label))
	}
}

// News updates the list of processes: new ones of the project join, and a restarted one is
// read on.
func (l *Log) News(all []api.Process) {
	for _, p := range all {
		if was, joined := l.joined[p.ID]; joined {
			if l.joined[p.ID] = p.State; was.Ended() && !p.State.Ended() {
				l.resume()
			}
		} else if l.project != "" && logmerge.Of(p, l.project, false) {
			l.join(p)
			l.resume()
			l.asked = nil // its answer would not know of the new log
		}
	}
}

// SetState sets the state of the only process, and its last lines as known without its log.
func (l *Log) SetState(s api.State, tail []string) {
	if l.joined[l.ID] != s {
		l.resume()
	}
	l.joined[l.ID], l.tail = s, tail
}

// Pass has a process of the project not join: it was there before.
func (l *Log) Pass(p api.Process) {
	if _, joined := l.joined[p.ID]; !joined {
		l.joined[p.ID] = p.State
	}
}

// resume has the logs asked for more again.
func (l *Log) resume() {
	l.forward, l.idle = nil, false
	if l.asked != nil && l.asked.kind == askMore {
		l.asked = nil
	}
}

// Following reports whether the view stays at the end.
func (l *logView) Following() bool { return l.follow }

// text is a line made fit to be drawn.
func (l *logView) text(i int) *widget.Line {
	line := &l.lines[i]
	if line.text == nil {
		raw := line.raw
		if l.pretty {
			raw = prettyLine(raw)
		}
		t := widget.ReadLine(raw, l.Terminal || l.merged() && l.names[line.name].terminal)
		line.text = &t
	}
	return line.text
}

// rowsOf is how many rows a line takes, and at which cells they begin.
func (l *logView) rowsOf(i int) []int {
	if !l.wrap || l.w <= 0 {
		return oneRow[:]
	}
	line := &l.lines[i]
	if w := l.textWidth(); line.breaks == nil || line.width != w {
		line.breaks, line.width = l.text(i).Wrap(w), w
	}
	return line.breaks
}

var oneRow = [1]int{0}

package processes

import (
	"tandem/engine/api"
	"tandem/panes/widget"
)

// Bounds of what a Log holds of a log, however large that is.
const (
	logChunk     = 64 << 10 // bytes asked for at a time
	logFollow    = 256 << 10
	logWindow    = 1 << 20 // bytes held
	logLines     = 20_000  // lines held
	longLogLine  = 16 << 10
	logMargin    = 3         // screens held before and behind the one shown,
	logAhead     = 200       // and lines at least
	logFarBehind = 512 << 10 // bytes by which following skips to the end
)

// A Log shows the log of a process through a window of lines that moves with
// the view: Next tells what it needs, Take takes the answer. It knows nothing
// of how that is fetched, and of a log of any size it holds no more than
// logWindow bytes.
type Log struct {
	ID     string
	Stream string // "stdout" or "stderr", where they are kept apart

	logView
	state  api.State
	tail   []string // shown as long as nothing else is
	serial int
	asked  *LogRequest // under way
	jump   *LogRequest // to be made next
	idle   bool        // the last answer brought nothing
}

// A logView draws the lines that are held of a log, and scrolls in them.
type logView struct {
	Terminal bool // its bytes are what a program wrote to a terminal
	Focused  bool

	window
	oldest  int64 // first byte that there is
	last    int64 // behind the last byte that there is, as far as is known
	known   bool  // an answer has arrived
	err     error
	w, h    int
	top     logPlace
	follow  bool
	skipped int64 // bytes passed over because they came too fast to be read
	wrap    bool
	pretty  bool // lines of JSON are shown in columns
	clock   bool // the time of each line is shown
	times   []api.LogTime
	left    int // columns scrolled sideways
	finding finding
	names   []lineName // of the logs that are merged; none for a single one
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
	origin        // of a line of a merged log
	text   *widget.Line
	breaks []int // cells at which its rows begin when wrapped
	width  int   // that breaks are for
	drawn  string
	key    drawKey
}

// NewLog returns the view of a log, at its end and following it.
func NewLog(id string, terminal bool) *Log {
	return &Log{ID: id, logView: logView{Terminal: terminal, follow: true, finding: finding{at: -1}}}
}

// SetState tells what state the process is in, and the last lines that are
// known without its log.
func (l *Log) SetState(s api.State, tail []string) {
	if s != l.state {
		l.idle = false
	}
	l.state, l.tail = s, tail
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
		t := widget.ReadLine(raw, l.Terminal || len(l.names) > 0 && l.names[line.name].terminal)
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

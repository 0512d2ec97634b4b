package processes

import (
	"regexp"
	"slices"

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
	ID       string
	Stream   string // "stdout" or "stderr", where they are kept apart
	Terminal bool   // its bytes are what a program wrote to a terminal
	Focused  bool

	lines   []logLine // without a gap
	start   int64     // offset of the first byte held
	end     int64     // offset behind the last one
	oldest  int64     // first byte that there is
	last    int64     // behind the last byte that there is, as far as is known
	known   bool      // an answer has arrived
	state   api.State
	err     error
	tail    []string // shown as long as nothing else is
	w, h    int
	top     logPlace
	follow  bool
	skipped int64 // bytes passed over because they came too fast to be read
	wrap    bool
	clock   bool // the time of each line is shown
	times   []api.LogTime
	left    int // columns scrolled sideways
	pattern string
	find    *regexp.Regexp
	finds   int   // counts patterns, for what is cached
	found   int64 // offset of the line that was found last, -1 for none
	serial  int
	asked   *LogRequest // under way
	jump    *LogRequest // to be made next
	idle    bool        // the last answer brought nothing
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
	text   *widget.Line
	breaks []int // cells at which its rows begin when wrapped
	width  int   // that breaks are for
	drawn  string
	key    drawKey
}

// NewLog returns the view of a log, at its end and following it.
func NewLog(id string, terminal bool) *Log {
	return &Log{ID: id, Terminal: terminal, follow: true, found: -1}
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
func (l *Log) Following() bool { return l.follow }

// Wrapping reports whether long lines are wrapped.
func (l *Log) Wrapping() bool { return l.wrap }

// Skipped is how many bytes were passed over while following.
func (l *Log) Skipped() int64 { return l.skipped }

// Err is why the log cannot be read, nil if it can.
func (l *Log) Err() error { return l.err }

// Size is how many bytes of the log there are, and how many were dropped from
// its beginning.
func (l *Log) Size() (kept, dropped int64) { return l.last - l.oldest, l.oldest }

// Held is how many bytes and lines are in memory.
func (l *Log) Held() (bytes int64, lines int) { return l.end - l.start, len(l.lines) }

// text is a line made fit to be drawn.
func (l *Log) text(i int) *widget.Line {
	line := &l.lines[i]
	if line.text == nil {
		t := widget.ReadLine(line.raw, l.Terminal)
		line.text = &t
	}
	return line.text
}

// rowsOf is how many rows a line takes, and at which cells they begin.
func (l *Log) rowsOf(i int) []int {
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

// index is the line that begins at an offset or, if none does, the one before.
func (l *Log) index(offset int64) int {
	i, ok := slices.BinarySearchFunc(l.lines, offset, func(line logLine, o int64) int {
		switch {
		case line.offset < o:
			return -1
		case line.offset > o:
			return 1
		}
		return 0
	})
	if !ok {
		i--
	}
	return max(i, 0)
}

// replace makes data all that is held. What is not a whole line at its beginning
// is left out, unless the log begins there.
func (l *Log) replace(out *api.ProcessLogOutput) {
	c := chunkOf(out, out.Start > out.Dropped)
	l.lines = c.split(nil)
	l.start, l.end = out.Start, out.NextCursor
	if len(l.lines) > 0 {
		l.start = l.lines[0].offset
	}
}

// append adds what follows on the last line held.
func (l *Log) append(out *api.ProcessLogOutput) {
	c := chunkOf(out, false)
	if n := len(l.lines) - 1; n >= 0 && l.lines[n].open && c.text != "" {
		last := &l.lines[n]
		more := c.cut(longLogLine - len(last.raw))
		*last = logLine{offset: last.offset, raw: last.raw + more.raw, open: more.open}
	}
	l.lines = c.split(l.lines)
	l.end = out.NextCursor
}

// prepend adds what comes before the first line held.
func (l *Log) prepend(out *api.ProcessLogOutput) {
	c := chunkOf(out, out.Start > out.Dropped)
	before := c.split(nil)
	if n := len(before); n > 0 {
		before[n-1].open = false
		l.start = before[0].offset
	} else {
		l.start = out.Start
	}
	l.lines = append(before, l.lines...)
}

// trim lets go of lines at the end that is farther from the view.
func (l *Log) trim(head bool) {
	if l.end-l.start <= logWindow && len(l.lines) <= logLines {
		return
	}
	if head {
		n := 0
		for n < len(l.lines)-1 && (l.end-l.lines[n].offset > logWindow*3/4 || len(l.lines)-n > logLines*3/4) {
			n++
		}
		l.lines = slices.Clone(l.lines[n:])
		l.start = l.lines[0].offset
		return
	}
	n := len(l.lines)
	for n > 1 && (l.lines[n-1].offset-l.start > logWindow*3/4 || n > logLines*3/4) {
		n--
	}
	if n < len(l.lines) {
		l.end = l.lines[n].offset
		l.lines = slices.Clone(l.lines[:n])
	}
}

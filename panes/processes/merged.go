package processes

import (
	"context"
	"slices"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
	"tandem/panes/widget"
)

// A Merged shows the logs of several processes as one, each line behind its
// process's name, in the order of time: through a window of lines that moves with
// the view, as a Log does. Its lines have offsets of their own, since those of
// several logs say nothing of each other.
type Merged struct {
	logView
	project string // whose processes join; "" if none do
	title   string
	spans   []logmerge.Span      // of the lines held; one of the same index as each name
	joined  map[string]api.State // of the sources, by id
	sources []*logmerge.Source
	forward *logmerge.Merge // reads on behind the lines held; nil until there is a need
	serial  int
	asked   *mergedRequest // under way
	jump    *mergedRequest // to be made next
	idle    bool           // all processes have ended and there is nothing more
	caught  bool           // what is held goes up to the end
	later   bool           // there was an error: to be asked again after a while
}

// origin is where a line of a merged log comes from.
type origin struct {
	name int // index
	at   time.Time
	from int64 // where it is in its own log
	next int64
}

// lineName is what stands before the lines of one log.
type lineName struct {
	label    string
	tint     int
	stderr   bool
	terminal bool
}

// mergedFrom is the offset that the first lines read get, so that there is room
// before them.
const mergedFrom = 1 << 40

// NewMerged shows the logs of processes or, if a project file is named, of all that
// belong to it now and later.
func NewMerged(title, project string, all []api.Process) *Merged {
	m := &Merged{title: title, project: project, joined: map[string]api.State{}}
	m.follow, m.finding.at = true, -1
	for _, p := range all {
		m.join(p)
	}
	return m
}

// join adds a process's log.
func (m *Merged) join(p api.Process) {
	m.joined[p.ID] = p.State
	source := logmerge.NewSource(p, m.sources, widget.Tints, widget.Clean)
	m.sources = append(m.sources, source)
	for _, span := range source.Spans("") {
		m.spans = append(m.spans, span)
		m.names = append(m.names, lineName{source.Label, source.Tint, span.Stream == "stderr", p.Kind == api.KindSession})
		m.naming = max(m.naming, widget.Width(source.Label))
	}
}

// News tells what processes there are: those of the project that are new join, and
// one that runs again is read on.
func (m *Merged) News(all []api.Process) {
	for _, p := range all {
		was, joined := m.joined[p.ID]
		switch {
		case joined:
			if m.joined[p.ID] = p.State; was.Ended() && !p.State.Ended() {
				m.goOn()
			}
		case m.project != "" && logmerge.Of(p, m.project, false):
			n := len(m.spans)
			m.join(p)
			if m.goOn(); m.known {
				for i := range m.spans[n:] {
					m.spans[n+i].From = 0
				}
			}
		}
	}
}

// goOn has the logs asked for more again.
func (m *Merged) goOn() {
	m.forward, m.idle = nil, false
	m.asked = nil // its answer would not know of what has joined
}

// mergedRequest is a part of the logs that a Merged needs.
type mergedRequest struct {
	kind    logRequestKind
	n       int
	delay   time.Duration
	most    int // bytes of each log at a time
	spans   []logmerge.Span
	forward *logmerge.Merge
}

// mergedAnswer is what came of it.
type mergedAnswer struct {
	before, after []logmerge.Line
	left          int64 // bytes that are there and still to be read
}

// Bounds of what is read at a time, of all logs together and of each.
const (
	mergedChunk = 512 << 10
	mergedLeast = 8 << 10
	mergedLines = 2000
)

// Next is what is needed now; ok is false if that is nothing or is under way.
func (m *Merged) Next() (r *mergedRequest, ok bool) {
	kind, ok := m.want()
	if !ok || m.asked != nil && m.jump == nil && (m.asked.kind != askMore || kind == askMore) {
		return nil, false
	}
	if r = m.jump; r == nil {
		r = &mergedRequest{kind: kind}
	}
	m.jump = nil
	if m.later {
		r.delay = logLater
	}
	m.serial++
	r.n, r.most = m.serial, m.most()
	r.spans = slices.Clone(m.spans)
	if r.kind == askMore {
		if m.forward == nil {
			m.forward = logmerge.Forward(r.spans, r.most)
		}
		r.forward, r.delay = m.forward, max(r.delay, logEvery)
	}
	m.asked, m.forward = r, nil
	return r, true
}

// most is how much is read of one log at a time.
func (m *Merged) most() int { return max(min(logChunk, mergedChunk/len(m.spans)), mergedLeast) }

func (m *Merged) want() (logRequestKind, bool) {
	switch {
	case len(m.spans) == 0, m.h <= 0:
		return 0, false
	case m.jump != nil:
		return m.jump.kind, true
	case !m.known:
		return askEnd, true
	case m.follow:
		return askMore, !m.idle
	}
	top := m.index(m.top.offset)
	switch margin := max(logMargin*m.h, logAhead); {
	case top < margin && logmerge.HasBefore(m.spans):
		return askBefore, true
	case len(m.lines)-top < margin+m.h:
		return askMore, !m.idle
	}
	return 0, false
}

// Run asks for what is needed. It takes nothing of the view's, which may be used
// meanwhile.
func (r *mergedRequest) Run(ctx context.Context, e api.Engine) (a mergedAnswer, err error) {
	switch r.kind {
	case askEnd:
		for i := range r.spans {
			r.spans[i].From = -1
		}
		a.before, err = logmerge.Before(ctx, e, r.spans, r.most)
	case askBefore:
		a.before, err = logmerge.Before(ctx, e, r.spans, r.most)
	case askStart:
		for i := range r.spans {
			r.spans[i].From, r.spans[i].To = 0, 0
		}
		a.after, err = r.read(ctx, e, logmerge.Forward(r.spans, r.most))
	case askAround:
		after := logmerge.Forward(r.spans, r.most)
		if a.before, err = logmerge.Before(ctx, e, r.spans, r.most); err == nil {
			a.after, err = r.read(ctx, e, after)
		}
	default:
		if a.after, err = r.read(ctx, e, r.forward); err == nil && len(a.after) == 0 {
			a.after, err = r.forward.Wait(ctx, e)
		}
		a.left = r.forward.Behind()
	}
	return a, err
}

// read reads lines that are there already.
func (r *mergedRequest) read(ctx context.Context, e api.Engine, from *logmerge.Merge) (lines []logmerge.Line, err error) {
	r.forward = from
	for size := 0; len(lines) < mergedLines && size < logFollow; {
		line, ok, err := from.Next(ctx, e)
		if err != nil || !ok {
			return lines, err
		}
		lines = append(lines, line)
		size += len(line.Text)
	}
	return lines, nil
}

// Take takes the answer to the request that was last.
func (m *Merged) Take(r *mergedRequest, a mergedAnswer, err error) {
	if m.asked != r {
		return
	}
	m.asked, m.err, m.later = nil, err, err != nil
	if err != nil {
		if r.kind != askMore && r.kind != askBefore && m.known {
			m.jump = r
		}
		return
	}
	switch r.kind {
	case askMore:
		if m.follow && a.left > logFarBehind {
			m.skipped += a.left
			m.jump = &mergedRequest{kind: askEnd, delay: logEvery}
			return
		}
		m.forward, m.idle, m.caught = r.forward, len(a.after) == 0 && r.forward.Ended(), a.left == 0
		m.behind(a.after)
		m.let(m.follow || m.index(m.top.offset) > len(m.lines)/2)
	case askBefore:
		m.spans = r.spans
		m.before(a.before)
		m.let(false)
	default:
		m.lines, m.start, m.end = nil, mergedFrom, mergedFrom
		m.spans, m.forward, m.idle, m.caught = r.spans, r.forward, false, r.kind == askEnd
		m.before(a.before)
		m.behind(a.after)
		m.top = logPlace{offset: m.start}
	}
	m.known = true
	m.bounds()
}

// bounds tells the view whether there is more on either side.
func (m *Merged) bounds() {
	m.oldest, m.last = m.start, m.end
	if logmerge.HasBefore(m.spans) {
		m.oldest--
	}
	if !m.caught {
		m.last++
	}
}

// behind adds lines behind those held.
func (m *Merged) behind(lines []logmerge.Line) {
	for _, line := range lines {
		i := logmerge.IndexOf(m.spans, line)
		if line.Note != "" || i < 0 {
			continue
		}
		m.lines = append(m.lines, m.held(line, i, m.end))
		m.end += line.Next - line.Offset
		m.spans[i].To = line.Next
	}
}

// before adds lines before those held.
func (m *Merged) before(lines []logmerge.Line) {
	added := make([]logLine, 0, len(lines)+len(m.lines))
	for _, line := range lines {
		m.start -= line.Next - line.Offset
	}
	at := m.start
	for _, line := range lines {
		added = append(added, m.held(line, logmerge.IndexOf(m.spans, line), at))
		at += line.Next - line.Offset
	}
	m.lines = append(added, m.lines...)
}

func (m *Merged) held(line logmerge.Line, i int, offset int64) logLine {
	text := line.Text[:min(len(line.Text), longLogLine)]
	return logLine{offset: offset, raw: strings.ToValidUTF8(string(text), "\uFFFD"), origin: origin{i, line.At, line.Offset, line.Next}}
}

// let lets go of lines that are far from the view, and notes what is held then.
func (m *Merged) let(head bool) {
	n := len(m.lines)
	if m.trim(head); len(m.lines) == n {
		return
	}
	for i := range m.spans {
		s := &m.spans[i]
		if head {
			s.From = s.To
		} else {
			s.To = s.From
		}
	}
	for k := range m.lines {
		line := &m.lines[k]
		if head {
			line = &m.lines[len(m.lines)-1-k]
			m.spans[line.name].From = line.from
		} else {
			m.spans[line.name].To = line.next
		}
	}
	if !head {
		m.forward, m.idle, m.caught = nil, false, false
	}
}

// Home goes to the oldest line there is.
func (m *Merged) Home() {
	m.fix()
	m.jump = &mergedRequest{kind: askStart}
}

// End goes to the end and follows it.
func (m *Merged) End() {
	m.follow, m.skipped, m.left = true, 0, 0
	if !m.caught {
		m.jump = &mergedRequest{kind: askEnd}
	}
}

// Follow begins or ends to follow.
func (m *Merged) Follow() {
	if m.follow {
		m.fix()
		return
	}
	m.End()
}

// Draw gives the visible part of the log: h rows of w cells. The slice is valid
// until the next call.
func (m *Merged) Draw(w, h int, look *widget.Look) []string {
	if m.SetSize(w, h); len(m.lines) == 0 && w > 0 {
		return m.drawNothing(m.idle, look)
	}
	return m.drawLines(look)
}

// Heading is the row above the log.
func (m *Merged) Heading(w int, look *widget.Look) string {
	return m.heading("logs", widget.Clip(m.title, max(w/2, 8)), look.Dim, m.status(), w, look)
}

func (m *Merged) status() string {
	var parts []string
	if m.err != nil {
		parts = append(parts, "cannot be read")
	}
	return strings.Join(append(parts, m.doing()), " · ")
}

// mostNaming is how many cells the names before lines take at most: a part of the
// width, so that the text has most of it.
func (l *logView) mostNaming() int { return min(max(l.w/5, 6), 24) }

// nameCells is the width of the names before lines, with the sign behind them.
func (l *logView) nameCells() int {
	if len(l.names) == 0 {
		return 0
	}
	return min(l.naming, l.mostNaming()) + 3
}

// nameMargin is whose line i is. What came by standard error has another sign, as
// where the command line prints merged logs.
func (l *logView) nameMargin(i, row int, look *widget.Look) string {
	if len(l.names) == 0 {
		return ""
	}
	name := l.names[l.lines[i].name]
	ink, label := look.Tint(name.tint), ""
	if row == 0 {
		label = widget.Clip(name.label, l.nameCells()-3)
	}
	rule := ink.Text(look.Glyphs.Separator)
	if name.stderr {
		rule = look.Bad.Text("!")
	}
	return ink.Text(widget.Pad(label, l.nameCells()-3)) + " " + rule + " "
}

// Pass has a process of the project not join: it was there before.
func (m *Merged) Pass(p api.Process) {
	if _, joined := m.joined[p.ID]; !joined {
		m.joined[p.ID] = p.State
	}
}

// Whole are the logs from their beginnings.
func (m *Merged) Whole() []logmerge.Span {
	spans := slices.Clone(m.spans)
	for i := range spans {
		spans[i].From, spans[i].To = 0, 0
	}
	return spans
}

package processes

import (
	"context"
	"regexp"
	"slices"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
)

// finding is what is searched for.
type finding struct {
	label  string // as it was typed; "" for nothing
	re     *regexp.Regexp
	serial int   // counts patterns, for what is cached
	at     int64 // offset of the line that was found last, -1 for none
	number int   // which match that is,
	total  int   // of how many; 0 if that is not known
}

// Search sets what is searched for; nil for nothing.
func (l *logView) Search(label string, re *regexp.Regexp) {
	l.finding = finding{label: label, re: re, serial: l.finding.serial + 1, at: -1}
}

// Searching is what is searched for, as it was typed.
func (l *logView) Searching() string { return l.finding.label }

// A logPosition is where a log is looked at.
type logPosition struct {
	top     logPlace
	follow  bool
	left    int
	finding finding
}

// Position is where the log is looked at now.
func (l *logView) Position() logPosition { return logPosition{l.top, l.follow, l.left, l.finding} }

// Return goes back to a position, as far as its lines are held; what is searched for
// then is that of the position too.
func (l *Log) Return(p logPosition) {
	l.restore(p)
	if !p.follow && (p.top.offset < l.start || p.top.offset >= l.end) {
		l.jump = l.around(p.top.offset)
		l.jump.Delay = 0
	} else if p.follow && l.end < l.last {
		l.End()
	}
}

func (l *logView) restore(p logPosition) {
	p.finding.serial = l.finding.serial + 1
	l.top, l.follow, l.left, l.finding = p.top, p.follow, p.left, p.finding
}

// Begun reports whether there is something to search in, or will never be.
func (l *Log) Begun() bool {
	return l.known && (l.last > 0 || l.state.Ended()) || l.err != nil && l.state.Ended()
}

// found is what a search has led to.
type found struct {
	ok      bool
	expr    string
	match   logmerge.Match
	ended   bool // nothing more will come
	request *mergedRequest
	answer  mergedAnswer // the lines around it, where they were not held
}

// A logSeek looks for a match, beside Update.
type logSeek func(context.Context, api.Engine) (found, error)

// from is where the search for another match begins: at the one found last, else at
// what is seen.
func (l *logView) from(above bool) int64 {
	switch {
	case l.finding.at >= 0 && above:
		return l.finding.at
	case l.finding.at >= 0:
		return l.behind(l.finding.at)
	case l.follow:
		return l.last
	}
	return l.top.offset
}

// behind is the offset of the line after the one at an offset.
func (l *logView) behind(offset int64) int64 {
	i := l.index(offset)
	if i+1 < len(l.lines) && l.lines[i].offset == offset {
		return l.lines[i+1].offset
	}
	return offset + 1
}

// Seek is the search for another match, and the other side when there is none; nil
// without anything to search for.
func (l *Log) Seek(above bool) logSeek {
	if l.finding.re == nil || !l.known {
		return nil
	}
	source := &logmerge.Source{Process: api.Process{ID: l.ID}}
	spans := []logmerge.Span{{Source: source, Stream: l.Stream}}
	place, expr, ended := []int64{l.from(above)}, l.finding.re.String(), l.state.Ended()
	return func(ctx context.Context, e api.Engine) (f found, err error) {
		f.expr, f.ended = expr, ended
		f.match, f.ok, err = logmerge.Find(ctx, e, spans, place, expr, above)
		return f, err
	}
}

// Found shows what a search has led to.
func (l *Log) Found(f found) {
	if l.finding.re == nil || f.expr != l.finding.re.String() {
		return
	}
	l.finding.number, l.finding.total = f.match.Number, f.match.Total
	if f.ok {
		l.goTo(f.match.Offset)
	}
}

// goTo shows the line at an offset.
func (l *Log) goTo(offset int64) {
	l.finding.at = offset
	if len(l.lines) > 0 && offset >= l.start && offset < l.end {
		l.fix()
		l.showLine(l.lines[l.index(offset)].offset)
		return
	}
	l.fix()
	l.jump = l.around(offset)
	l.jump.Delay = 0
}

// Return goes back to a position, if its lines are still held; else to the end.
func (m *Merged) Return(p logPosition) {
	held := p.top.offset >= m.start && p.top.offset < m.end
	m.restore(p)
	if p.follow && !m.caught || !p.follow && !held {
		m.End()
	}
}

// Begun reports whether there is something to search in.
func (m *Merged) Begun() bool { return m.known }

// Seek is the search for another match in all of the logs; nil without anything to
// search for. Where what it finds is not held, it reads what is around that.
func (m *Merged) Seek(above bool) logSeek {
	if m.finding.re == nil || !m.known {
		return nil
	}
	spans, place := slices.Clone(m.spans), make([]int64, len(m.spans))
	for i := range spans {
		place[i] = spans[i].From
	}
	for i, from := 0, m.from(above); i < len(m.lines) && m.lines[i].offset < from; i++ {
		place[m.lines[i].name] = m.lines[i].next
	}
	r := &mergedRequest{kind: askAround, most: m.most(), spans: spans}
	expr, ended := m.finding.re.String(), m.idle
	return func(ctx context.Context, e api.Engine) (f found, err error) {
		f.expr, f.ended = expr, ended
		f.match, f.ok, err = logmerge.Find(ctx, e, spans, place, expr, above)
		if s := &spans[f.match.Span]; err != nil || !f.ok || f.match.Offset >= s.From && f.match.Offset < s.To {
			return f, err
		}
		if err = logmerge.GoTo(ctx, e, r.spans, f.match); err != nil {
			return f, err
		}
		f.request = r
		f.answer, err = r.Run(ctx, e)
		return f, err
	}
}

// Found shows what a search has led to.
func (m *Merged) Found(f found) {
	if m.finding.re == nil || f.expr != m.finding.re.String() {
		return
	}
	m.finding.number, m.finding.total = f.match.Number, f.match.Total
	if !f.ok {
		return
	}
	m.fix()
	if f.request != nil {
		m.asked, m.jump = f.request, nil
		m.Take(f.request, f.answer, nil)
	}
	for i := range m.lines {
		if line := &m.lines[i]; line.name == f.match.Span && line.from == f.match.Offset {
			m.finding.at = line.offset
			m.showLine(line.offset)
			return
		}
	}
}

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
	spans   []logmerge.Span // which end there
}

// Position is where the log is looked at now.
func (l *Log) Position() logPosition {
	return logPosition{l.top, l.follow, l.left, l.finding, l.spansTo(l.top.offset)}
}

// spansTo returns spans which are empty and end at an offset.
func (l *Log) spansTo(offset int64) []logmerge.Span {
	spans := slices.Clone(l.spans)
	for i := range spans {
		spans[i].To = spans[i].From
	}
	for _, line := range l.lines {
		if line.offset < offset {
			spans[line.name].To = line.next
		}
	}
	for i := range spans {
		spans[i].From = spans[i].To
	}
	return spans
}

// Return goes back to a position, and to the pattern at the time.
func (l *Log) Return(p logPosition) {
	p.finding.serial = l.finding.serial + 1
	l.top, l.follow, l.left, l.finding = p.top, p.follow, p.left, p.finding
	switch held := p.top.offset >= l.start && p.top.offset < l.end; {
	case p.follow && !l.caught:
		l.End()
	case !p.follow && !held && len(p.spans) == len(l.spans):
		l.jump = &logRequest{kind: askAround, spans: p.spans}
	}
}

// Begun reports whether there is something to search in, or will never be.
func (l *Log) Begun() bool {
	return l.known && (len(l.lines) > 0 || l.idle) || l.err != nil && l.joined[l.ID].Ended()
}

// found is the result of a search.
type found struct {
	ok      bool
	expr    string
	match   logmerge.Match
	ended   bool // nothing more will come
	request *logRequest
	answer  logAnswer // the lines around it, where they were not held
}

// A logSeek looks for a match, beside Update.
type logSeek func(context.Context, api.Engine) (found, error)

// searchFrom is where the search for another match begins: at the one found last, else at
// what is seen.
func (l *logView) searchFrom(above bool) int64 {
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

// Seek returns the search for another match in all of the logs; nil without a pattern. It
// reads the lines around a match that is not held.
func (l *Log) Seek(above bool) logSeek {
	if l.finding.re == nil || !l.known {
		return nil
	}
	held, place := slices.Clone(l.spans), make([]int64, len(l.spans))
	for i, s := range l.spansTo(l.searchFrom(above)) {
		place[i] = s.To
	}
	r := &logRequest{kind: askAround, max: l.maxChunk(), spans: slices.Clone(l.spans)}
	expr, ended := l.finding.re.String(), l.idle
	return func(ctx context.Context, e api.Engine) (f found, err error) {
		f.expr, f.ended = expr, ended
		f.match, f.ok, err = logmerge.Find(ctx, e, held, place, expr, above)
		if s := &held[f.match.Span]; err != nil || !f.ok || f.match.Offset >= s.From && f.match.Offset < s.To {
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

// Found shows the result of a search.
func (l *Log) Found(f found) {
	if l.finding.re == nil || f.expr != l.finding.re.String() {
		return
	}
	l.finding.number, l.finding.total = f.match.Number, f.match.Total
	if !f.ok {
		return
	}
	l.fix()
	if f.request != nil {
		l.asked, l.jump = f.request, nil
		l.Take(f.request, f.answer, nil)
	}
	for i := range l.lines {
		if line := &l.lines[i]; line.name == f.match.Span && line.from == f.match.Offset {
			l.finding.at = line.offset
			l.showLine(line.offset)
			return
		}
	}
}

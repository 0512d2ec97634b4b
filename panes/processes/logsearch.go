package processes

import (
	"context"
	"regexp"
	"slices"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
)

// A logMatch is the pattern and the last match of a search.
type logMatch struct {
	label  string // the pattern as typed; "" for none
	re     *regexp.Regexp
	serial int   // counts patterns, to invalidate cached lines
	at     int64 // offset of the matching line, -1 for none
	number int   // number of that match,
	total  int   // and of all; 0 if unknown
}

// SetPattern sets the pattern; a nil one ends the search. label is the pattern as typed.
func (l *logView) SetPattern(label string, re *regexp.Regexp) {
	l.search = logMatch{label: label, re: re, serial: l.search.serial + 1, at: -1}
}

func (l *logView) SearchText() string { return l.search.label }

// A savedView is a position in a log to return to.
type savedView struct {
	top    logRow
	follow bool
	left   int
	search logMatch
	spans  []logmerge.Span // empty spans at the position in each log
}

// SaveView returns the current position.
func (l *Log) SaveView() savedView {
	return savedView{l.top, l.follow, l.left, l.search, l.spansTo(l.top.offset)}
}

// spansTo returns empty spans at an offset.
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

// RestoreView returns to a position, with its pattern.
func (l *Log) RestoreView(p savedView) {
	// Lines drawn with the other pattern must be drawn again.
	p.search.serial = l.search.serial + 1
	l.top, l.follow, l.left, l.search = p.top, p.follow, p.left, p.search
	switch held := p.top.offset >= l.start && p.top.offset < l.end; {
	// The lines at the position may have been dropped; then read them again.
	case p.follow && !l.atEnd:
		l.ScrollToEnd()
	case !p.follow && !held && len(p.spans) == len(l.spans):
		l.jump = &logRequest{kind: askAround, spans: p.spans}
	}
}

// Searchable reports whether the log has lines, or never will have any.
func (l *Log) Searchable() bool {
	return l.known && (len(l.lines) > 0 || l.idle) || l.err != nil && l.states[l.ID].Ended()
}

// A searchResult is the result of a search.
type searchResult struct {
	ok      bool
	expr    string
	match   logmerge.Match
	ended   bool // no more output will come
	request *logRequest
	answer  logAnswer // the lines around the match if they were not held
}

// A searchFunc searches for a match. It may run concurrently with the view.
type searchFunc func(context.Context, api.Engine) (searchResult, error)

// searchStart returns the offset to search from: the last match, or the visible part.
func (l *logView) searchStart(above bool) int64 {
	switch {
	case l.search.at >= 0 && above:
		return l.search.at
	case l.search.at >= 0:
		return l.offsetAfter(l.search.at)
	case l.follow:
		return l.last
	}
	return l.top.offset
}

// offsetAfter returns the offset of the line after the one at offset.
func (l *logView) offsetAfter(offset int64) int64 {
	i := l.index(offset)
	if i+1 < len(l.lines) && l.lines[i].offset == offset {
		return l.lines[i+1].offset
	}
	return offset + 1
}

// SearchFunc returns a function to search all of the logs for the next match above or below; nil
// without a pattern. If the line of the match is not loaded, the function reads the lines around
// it.
func (l *Log) SearchFunc(above bool) searchFunc {
	if l.search.re == nil || !l.known {
		return nil
	}
	// The search runs concurrently, so it gets copies.
	held, place := slices.Clone(l.spans), make([]int64, len(l.spans))
	for i, s := range l.spansTo(l.searchStart(above)) {
		place[i] = s.To
	}
	r := &logRequest{kind: askAround, max: l.maxChunk(), spans: slices.Clone(l.spans)}
	expr, ended := l.search.re.String(), l.idle
	return func(ctx context.Context, e api.Engine) (f searchResult, err error) {
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

// ShowMatch shows the result of a search, unless the pattern has changed.
func (l *Log) ShowMatch(f searchResult) {
	if l.search.re == nil || f.expr != l.search.re.String() {
		return
	}
	l.search.number, l.search.total = f.match.Number, f.match.Total
	if !f.ok {
		return
	}
	l.pauseFollowing()
	if f.request != nil {
		l.pending, l.jump = f.request, nil
		l.AcceptAnswer(f.request, f.answer, nil)
	}
	for i := range l.lines {
		if line := &l.lines[i]; line.name == f.match.Span && line.from == f.match.Offset {
			l.search.at = line.offset
			l.showLine(line.offset)
			return
		}
	}
}

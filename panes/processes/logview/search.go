package logview

import (
	"context"
	"regexp"
	"slices"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
)

// A match is the pattern of a search and the match found last.
type match struct {
	label  string // the pattern as typed; "" for none
	re     *regexp.Regexp
	serial int   // counts patterns, to invalidate cached lines
	at     int64 // offset of the matching line, -1 for none
	number int   // number of that match,
	total  int   // and of all; 0 if unknown
}

// SetPattern sets the pattern to search for; nil ends the search. label is the pattern as the user
// typed it.
func (l *Log) SetPattern(label string, re *regexp.Regexp) {
	l.match = match{label: label, re: re, serial: l.match.serial + 1, at: -1}
}

// SearchText returns the pattern as the user typed it; "" if there is none.
func (l *Log) SearchText() string { return l.match.label }

// GoTo shows the line at an offset in the only log, and marks the matches of a pattern as SetPattern
// does.
func (l *Log) GoTo(offset int64, label string, re *regexp.Regexp) {
	l.SetPattern(label, re)
	l.match.at = offset
	l.view.pauseFollowing()
	if l.window.findLine(0, offset) != nil {
		l.view.showLine(offset)
		return
	}
	spans := slices.Clone(l.window.spans)
	spans[0].to = offset
	l.reader.jump = &Request{kind: askAround, spans: spans, toMatch: true}
}

// A SavedView is a position in a log to return to.
type SavedView struct {
	Following bool

	top   rowPosition
	left  int
	match match
	spans []span // of the lines up to the position
}

// SaveView returns the current position.
func (l *Log) SaveView() SavedView {
	return SavedView{l.view.follow, l.view.top, l.format.left, l.match, l.window.spansTo(l.view.top.offset)}
}

// RestoreView returns to a saved position and its pattern.
func (l *Log) RestoreView(saved SavedView) {
	// Lines drawn with the present pattern must be drawn again.
	saved.match.serial = l.match.serial + 1
	l.view.follow, l.view.top, l.format.left, l.match = saved.Following, saved.top, saved.left, saved.match
	switch held := saved.top.offset >= l.window.start && saved.top.offset < l.window.end; {
	// If the lines at the position have been dropped, read them again.
	case saved.Following && !l.reader.atEnd:
		l.ScrollToEnd()
	case !saved.Following && !held && len(saved.spans) == len(l.window.spans):
		l.reader.jump = &Request{kind: askAround, spans: saved.spans}
	}
}

// Searchable reports whether a search can start: the log has lines, or will never have any.
func (l *Log) Searchable() bool {
	return (l.reader.known && (len(l.window.lines) > 0 || l.reader.idle)) || (l.reader.err != nil && l.states[l.ID].Ended())
}

// A Result is the result of a search.
type Result struct {
	OK    bool
	Match api.LogsMatch
	Ended bool // no more output will come

	expr    string
	request *Request
	answer  Answer // the lines around the match if they were not held
}

// A SearchFunc searches for a match. It may run concurrently with the log.
type SearchFunc func(context.Context, api.Engine) (Result, error)

// searchStart returns the offset at which a search starts: at the last match or, if there is none,
// in the visible part.
func (l *Log) searchStart(above bool) int64 {
	switch {
	case l.match.at >= 0 && above:
		return l.match.at
	case l.match.at >= 0:
		return l.window.offsetAfter(l.match.at)
	case l.view.follow:
		return l.window.last
	}
	return l.view.top.offset
}

// SearchFunc returns a function that searches all of the logs for the next match below, or above;
// nil if there is no pattern. If the line of the match is not held, the function also reads the
// lines around it.
func (l *Log) SearchFunc(above bool) SearchFunc {
	if l.match.re == nil || !l.reader.known {
		return nil
	}
	// The search runs concurrently, so it gets copies.
	held := slices.Clone(l.window.spans)
	in := api.ProcessLogsInput{Grep: l.match.re.String(), Backward: above}
	for _, s := range l.window.spansTo(l.searchStart(above)) {
		in.Cursor = append(in.Cursor, api.LogCursor{ID: s.source.Process.ID, Stream: s.stream, Offset: s.to})
	}
	ended, merged := l.reader.idle, l.window.merged
	return func(ctx context.Context, e api.Engine) (f Result, err error) {
		f.expr, f.Ended = in.Grep, ended
		out, err := logmerge.Call(ctx, e, in)
		if err != nil || out.Match == nil || len(out.Logs) != len(held) || out.Match.Log < 0 || out.Match.Log >= len(held) {
			return f, err
		}
		f.OK, f.Match = true, *out.Match
		if s := &held[f.Match.Log]; f.Match.Offset >= s.from && f.Match.Offset < s.to {
			return f, nil
		}
		f.request = &Request{kind: askAround, spans: held, merged: merged}
		for i, log := range out.Logs {
			held[i].to = log.Next
		}
		f.answer, err = f.request.Run(ctx, e)
		return f, err
	}
}

// ShowMatch shows the result of a search, unless the pattern has changed.
func (l *Log) ShowMatch(f Result) {
	if l.match.re == nil || f.expr != l.match.re.String() {
		return
	}
	l.match.number, l.match.total = f.Match.Number, f.Match.Total
	if !f.OK {
		return
	}
	l.view.pauseFollowing()
	if f.request != nil {
		l.reader.pending, l.reader.jump = f.request, nil
		l.AcceptAnswer(f.request, f.answer, nil)
	}
	if line := l.window.findLine(f.Match.Log, f.Match.Offset); line != nil {
		l.match.at = line.offset
		l.view.showLine(line.offset)
	}
}

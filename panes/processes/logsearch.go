package processes

import (
	"fmt"
	"regexp"
	"strings"

	"tandem/engine/api"
)

// finding is what is searched for.
type finding struct {
	pattern string // as the engine takes it; "" for nothing
	re      *regexp.Regexp
	serial  int   // counts patterns, for what is cached
	at      int64 // offset of the line that was found last, -1 for none
}

// Search sets what is searched for: a regular expression, of which small
// letters match capitals too if it has none. Nothing ends the search.
func (l *logView) Search(pattern string) error {
	none := finding{serial: l.finding.serial + 1, at: -1}
	l.finding.at = -1
	if pattern == "" {
		l.finding = none
		return nil
	}
	if pattern == strings.ToLower(pattern) {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return fmt.Errorf("search for %q: not a regular expression; put a backslash before special characters", strings.TrimPrefix(pattern, "(?i)"))
	}
	none.pattern, none.re = pattern, re
	l.finding = none
	return nil
}

// Pattern is what is searched for, as it was given.
func (l *logView) Pattern() string { return strings.TrimPrefix(l.finding.pattern, "(?i)") }

// Begun reports whether there is something to search in, or will never be.
func (l *Log) Begun() bool {
	return l.known && (l.last > 0 || l.state.Ended()) || l.err != nil && l.state.Ended()
}

// First is the search for the match nearest to what is seen: upward from the
// end while following, else downward from the first line.
func (l *Log) First() (api.ProcessLogInput, bool) {
	if l.finding.re == nil || !l.known {
		return api.ProcessLogInput{}, false
	}
	if l.follow {
		return l.search(l.last, true), true
	}
	return l.search(l.top.offset, false), true
}

// Another is the search for the next match below, or above, the one found last.
func (l *Log) Another(above bool) (api.ProcessLogInput, bool) {
	switch {
	case l.finding.re == nil || !l.known:
		return api.ProcessLogInput{}, false
	case above && l.finding.at >= 0:
		return l.search(l.finding.at, true), true
	case above && l.follow:
		return l.search(l.last, true), true
	case above:
		return l.search(l.top.offset, true), true
	case l.finding.at >= 0:
		return l.search(l.behind(l.finding.at), false), true
	}
	return l.search(l.top.offset, false), true
}

// behind is the offset of the line after the one at an offset.
func (l *logView) behind(offset int64) int64 {
	i := l.index(offset)
	if i+1 < len(l.lines) && l.lines[i].offset == offset {
		return l.lines[i+1].offset
	}
	return offset + 1
}

func (l *Log) search(since int64, above bool) api.ProcessLogInput {
	return api.ProcessLogInput{ID: l.ID, Stream: l.Stream, Since: &since, Grep: l.finding.pattern, Backward: above, Limit: 1}
}

// Found takes the answer of a search and shows the match. If a part of the log
// is still to be searched, it gives the search for that.
func (l *Log) Found(s api.ProcessLogInput, out api.ProcessLogOutput) (found bool, more *api.ProcessLogInput) {
	if s.Grep != l.finding.pattern {
		return true, nil
	}
	if len(out.Matches) > 0 {
		l.goTo(out.Matches[0].Offset)
		return true, nil
	}
	since := *s.Since
	on := out.NextCursor > since && out.NextCursor < out.End
	if s.Backward {
		on = out.NextCursor < since && out.NextCursor > out.Dropped
	}
	if !on {
		return false, nil
	}
	next := l.search(out.NextCursor, s.Backward)
	return false, &next
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

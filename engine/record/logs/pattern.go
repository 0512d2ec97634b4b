package logs

import (
	"bytes"
	"fmt"
	"sync"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/record/search"
	"tandem/engine/screen/rendered"
	"tandem/engine/screen/vt/scan"
	"tandem/persist/linelog"
)

// A Pattern finds the lines of a log that match a regular expression, as a terminal displays them.
// It is safe for concurrent use.
type Pattern struct {
	lines *search.Pattern
	pool  sync.Pool // of *shownLines
}

var _ linelog.Matcher = (*Pattern)(nil)

// CompilePattern compiles the regular expression of a search in a log. name is the process, for
// errors. The error is an *api.Error with CodeInvalid.
func CompilePattern(name, expr string) (*Pattern, error) {
	return compilePattern("search the log of "+name, expr, false)
}

// CompileSearch is CompilePattern for a search in many logs. With fold, case is ignored.
func CompileSearch(expr string, fold bool) (*Pattern, error) {
	return compilePattern("search", expr, fold)
}

func compilePattern(doing, expr string, fold bool) (*Pattern, error) {
	if err := names.CheckPattern(doing, expr); err != nil {
		return nil, api.Invalid(err)
	}
	lines, err := search.Compile(expr, fold)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "%s: %v", doing, err)
	}
	return &Pattern{lines: lines}, nil
}

// Each implements linelog.Matcher.
func (p *Pattern) Each(data []byte, yield func(lo, hi int) bool) {
	// Fast path: without escape sequences, a terminal displays the bytes as they are.
	if rendered.IsPlain(data) {
		p.lines.Each(data, yield)
		return
	}
	shown, ok := p.pool.Get().(*shownLines)
	if !ok {
		shown = new(shownLines)
	}
	defer p.pool.Put(shown)
	for at, more := 0, true; more && at < len(data); {
		at = shown.read(data, at)
		p.lines.Each(shown.text, func(lo, _ int) bool {
			more = yield(shown.boundsOf(lo))
			return more
		})
	}
}

// maxShown limits the text held at once, in bytes. The text may be a hundred times as long as its
// lines in the log.
const maxShown = 1 << 20

// shownLines holds the text of lines as a terminal displays them, and the offsets of the lines in
// the log.
type shownLines struct {
	text  []byte
	lines []shownLine
	next  int // index of the next line for boundsOf
}

type shownLine struct {
	at     int // offset in the text
	lo, hi int // bounds in the log
}

// read reads lines of data from offset lo until there is enough text. It returns the start of the
// next line.
func (s *shownLines) read(data []byte, lo int) (next int) {
	s.text, s.lines, s.next = s.text[:0], s.lines[:0], 0
	for lo < len(data) && len(s.text) < maxShown {
		hi := len(data)
		if i := bytes.IndexByte(data[lo:], '\n'); i >= 0 {
			hi = lo + i
		}
		s.lines = append(s.lines, shownLine{len(s.text), lo, hi})
		s.text = append(rendered.AppendText(s.text, data[lo:hi]), '\n')
		lo = hi + 1
	}
	return lo
}

// boundsOf returns the bounds in the log of the line that contains an offset of the text. Offsets
// must increase from call to call.
func (s *shownLines) boundsOf(at int) (lo, hi int) {
	for s.lines[s.next].at != at {
		s.next++
	}
	return s.lines[s.next].lo, s.lines[s.next].hi
}

// excerpt returns the text of a matching line. If the line is longer than maxText bytes, it returns
// the part around the first match, with the number of bytes left out.
func (p *Pattern) excerpt(line []byte, maxText int) api.LogMatch {
	if len(line) <= maxText {
		return api.LogMatch{Text: lineText(line, maxText)}
	}
	text := rendered.AppendText(nil, line)
	from := max(min(p.lines.Index(text)-maxText/4, len(text)-maxText), 0)
	for from < len(text) && text[from]&0xC0 == 0x80 {
		from++
	}
	part := text[from:]
	if len(part) > maxText {
		part = part[:maxText]
		part = part[:scan.CompleteLen(part)]
	}
	m := api.LogMatch{CutBefore: from, CutAfter: len(text) - from - len(part)}
	m.Text = cutMark(m.CutBefore, "", " ") + lineText(part, maxText) + cutMark(m.CutAfter, " ", "")
	return m
}

// cutMark returns a note that n bytes of a line are left out.
func cutMark(n int, before, after string) string {
	if n == 0 {
		return ""
	}
	unit := "bytes"
	if n == 1 {
		unit = "byte"
	}
	return fmt.Sprintf("%s[%d %s left out]%s", before, n, unit, after)
}

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
}

// shownTexts are of type *[]byte. Each search needs some megabytes for a short time.
var shownTexts sync.Pool

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

// maxShown is about how much text is made at once, in bytes. The text may be a hundred times as long as
// its lines in the log.
const maxShown = 1 << 20

// Each implements linelog.Matcher.
func (p *Pattern) Each(data []byte, yield func(lo, hi int) bool) {
	// Fast path: without escape sequences, a terminal displays the bytes as they are.
	if rendered.IsPlain(data) {
		p.lines.Each(data, yield)
		return
	}
	shown, ok := shownTexts.Get().(*[]byte)
	if !ok {
		shown = new([]byte)
	}
	defer shownTexts.Put(shown)
	base, more := 0, true // of data in the whole
	for more && len(data) > 0 {
		text, n := rendered.AppendLines((*shown)[:0], data, maxShown)
		*shown = text
		at, lo := 0, 0 // the same line in text and data
		p.lines.Each(text, func(found, _ int) bool {
			for range bytes.Count(text[at:found], []byte{'\n'}) {
				lo += bytes.IndexByte(data[lo:], '\n') + 1
			}
			at = found
			line, _, _ := bytes.Cut(data[lo:n], []byte{'\n'})
			more = yield(base+lo, base+lo+len(line))
			return more
		})
		base, data = base+n, data[n:]
	}
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

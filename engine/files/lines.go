package files

import (
	"bytes"
	"strings"
)

// A lineScan picks a range of whole lines out of a stream and counts the rest,
// in memory bounded by what it picks.
type lineScan struct {
	first, limit int64 // wanted; limit 0 is all
	bound        int   // bytes of what is picked
	boundLines   int64 // 0: no bound

	newlines int64 // of all the stream
	open     bool  // its last line has no ending so far

	line   int64 // number of the line that is being read
	begun  bool  // there was something of it
	picked []byte
	whole  int   // bytes of whole lines in picked
	count  int64 // whole lines in picked
	cut    Cut
	long   int64 // length of the first line, when it alone is over the bound
	done   bool  // nothing more is wanted
}

func newLineScan(r ReadRequest) *lineScan {
	s := &lineScan{first: max(r.Offset, 1), limit: r.Limit, bound: mostTextBytes, boundLines: mostLines, line: 1}
	if r.Unbounded {
		s.bound, s.boundLines = mostBytes, 0
	}
	return s
}

// add takes the next bytes of the stream.
func (s *lineScan) add(b []byte) {
	if len(b) == 0 {
		return
	}
	newlines := int64(bytes.Count(b, []byte{'\n'}))
	s.newlines += newlines
	s.open = b[len(b)-1] != '\n'
	if s.line+newlines < s.first { // all of it is before what is wanted
		s.line += newlines
		return
	}
	for len(b) > 0 && !s.done {
		part := b
		end := bytes.IndexByte(b, '\n') + 1
		if end > 0 {
			part = b[:end]
		}
		if s.line >= s.first {
			s.pick(part)
		}
		s.begun = end == 0
		if end > 0 {
			s.endLine()
		}
		b = b[len(part):]
	}
}

// pick takes a piece of a line that is wanted.
func (s *lineScan) pick(part []byte) {
	switch {
	case s.cut == CutLine:
		s.long += int64(len(part))
	case !s.begun && s.limit > 0 && s.count == s.limit:
		s.cut, s.done = CutLimit, true
	case !s.begun && s.boundLines > 0 && s.count == s.boundLines:
		s.cut, s.done = CutLines, true
	case len(s.picked)+len(part) <= s.bound:
		s.picked = append(s.picked, part...)
	case s.count > 0:
		s.cut, s.done = CutBytes, true
	default:
		s.cut = CutLine
		s.long = int64(len(s.picked) + len(part))
	}
}

func (s *lineScan) endLine() {
	switch {
	case s.cut == CutLine:
		s.long--
		s.done = true
	case !s.done && s.line >= s.first:
		s.whole = len(s.picked)
		s.count++
	}
	s.line++
}

// end takes a last line without an ending as one.
func (s *lineScan) end() {
	if !s.done && s.begun && s.line >= s.first && s.cut == "" {
		s.whole = len(s.picked)
		s.count++
	}
}

func (s *lineScan) report(out *ReadResult) {
	out.TotalLines = s.newlines
	if s.open {
		out.TotalLines++
	}
	out.ReadBytes = int64(s.whole)
	out.Text = strings.ToValidUTF8(string(s.picked[:s.whole]), "\uFFFD")
	out.Cut, out.LineBytes = s.cut, s.long
	if s.count > 0 {
		out.FirstLine, out.LastLine = s.first, s.first+s.count-1
	}
	if s.cut == CutLine {
		out.FirstLine, out.LastLine = s.first, s.first
	}
}

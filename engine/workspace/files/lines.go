package files

import (
	"bytes"
	"strings"
)

// A lineScan picks a range of whole lines from a stream and counts the rest. Its memory is bounded
// by the lines picked.
type lineScan struct {
	first, limit int64 // requested range; limit 0 is no limit
	maxBytes     int   // maximum bytes to pick
	maxLines     int64 // maximum lines to pick; 0 is no limit

	newlines int64 // of the whole stream
	open     bool  // the last line has no newline so far

	line     int64 // number of the current line
	begun    bool  // part of the current line has been read
	picked   []byte
	whole    int   // bytes of whole lines in picked
	count    int64 // whole lines in picked
	cut      Cut
	longLine int64 // length of the first line if it alone exceeds bound
	done     bool  // nothing more to pick
}

func newLineScan(r ReadRequest) *lineScan {
	s := &lineScan{first: max(r.Offset, 1), limit: r.Limit, maxBytes: maxTextBytes, maxLines: maxLines, line: 1}
	if r.Unbounded {
		s.maxBytes, s.maxLines = maxBytes, 0
	}
	return s
}

// addChunk processes the next bytes of the stream.
func (s *lineScan) addChunk(b []byte) {
	if len(b) == 0 {
		return
	}
	newlines := int64(bytes.Count(b, []byte{'\n'}))
	s.newlines += newlines
	s.open = b[len(b)-1] != '\n'
	// Fast path: the chunk lies entirely before the range.
	if s.line+newlines < s.first {
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
			s.pickPart(part)
		}
		s.begun = end == 0
		if end > 0 {
			s.endLine()
		}
		b = b[len(part):]
	}
}

// pickPart adds a part of a requested line.
func (s *lineScan) pickPart(part []byte) {
	switch {
	case s.cut == CutLine:
		s.longLine += int64(len(part))
	case !s.begun && s.limit > 0 && s.count == s.limit:
		s.cut, s.done = CutLimit, true
	case !s.begun && s.maxLines > 0 && s.count == s.maxLines:
		s.cut, s.done = CutLines, true
	case len(s.picked)+len(part) <= s.maxBytes:
		s.picked = append(s.picked, part...)
	case s.count > 0:
		s.cut, s.done = CutBytes, true
	default:
		s.cut = CutLine
		s.longLine = int64(len(s.picked) + len(part))
	}
}

func (s *lineScan) endLine() {
	switch {
	case s.cut == CutLine:
		s.longLine--
		s.done = true
	case !s.done && s.line >= s.first:
		s.whole = len(s.picked)
		s.count++
	}
	s.line++
}

// finishLine accepts a last line without a newline.
func (s *lineScan) finishLine() {
	if !s.done && s.begun && s.line >= s.first && s.cut == "" {
		s.whole = len(s.picked)
		s.count++
	}
}

func (s *lineScan) fillResult(out *ReadResult) {
	out.TotalLines = s.newlines
	if s.open {
		out.TotalLines++
	}
	out.ReadBytes = int64(s.whole)
	out.Text = strings.ToValidUTF8(string(s.picked[:s.whole]), "\uFFFD")
	out.Cut, out.LineBytes = s.cut, s.longLine
	if s.count > 0 {
		out.FirstLine, out.LastLine = s.first, s.first+s.count-1
	}
	if s.cut == CutLine {
		out.FirstLine, out.LastLine = s.first, s.first
	}
}

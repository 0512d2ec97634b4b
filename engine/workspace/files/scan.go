package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"tandem/engine/record/search"
	"tandem/engine/screen/vt/scan"
)

const (
	searchWindow = 256 << 10 // bytes of a file searched at once
	maxLine      = 16 << 20  // a longer line counts as several
	maxLineText  = 64 << 10  // limit of a line's text in the result
	binarySample = 64 << 10  // a NUL byte within it makes a file binary, as for ripgrep
	lineSize     = 48        // of a Line without its strings, in bytes
)

// A Line is a matching line or one near a match.
type Line struct {
	Path  string // relative to the folder searched
	Line  int64  // from 1
	Text  string // without its line ending, at most 64 KiB
	Match bool
}

// size returns the memory that the line takes, in bytes: an empty line counts too.
func (l Line) size() int { return lineSize + len(l.Path) + len(l.Text) }

// A fileSearch searches one file after the other, reusing its buffer.
type fileSearch struct {
	pattern  *search.Pattern
	context  int
	limit    int           // matches per file; the search stops after one more
	maxBytes int64         // size limit of a file; 0 is no limit
	skipped  *atomic.Int64 // counts files over the limit
	binaries *atomic.Int64 // counts binary files without matches; nil to search them too

	buf []byte
}

// A searchState is the progress of the search in one file.
type searchState struct {
	path    string
	lines   []Line
	binary  bool // matches are counted without their lines
	matches int
	size    int // of lines, in bytes

	done    int   // offset in buf: lines before it were returned or skipped
	counted int   // offset in buf: newlines before it were counted
	line    int64 // number of the line at counted
	trail   int   // lines of context still to return after the last match
}

// searchFile searches a reader's lines. A file with a NUL byte near its beginning is binary: it is
// skipped or, if it is to be searched too, only its first match counts. A later NUL byte ends the
// search. A byte order mark is no part of the first line, and UTF-16 is decoded.
func (s *fileSearch) searchFile(ctx context.Context, path string, from io.Reader) (*searchState, error) {
	st := &searchState{path: path, line: 1}
	// kept counts the bytes of earlier lines at the beginning of the buffer, there as context only.
	filled, kept := 0, 0
	for first := true; ; first = false {
		s.growBuffer(filled)
		n, err := readFull(from, s.buf[filled:])
		filled += n
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return nil, err
		}
		if first && isUTF16(s.buf[:filled]) {
			raw := io.MultiReader(bytes.NewReader(bytes.Clone(s.buf[:filled])), from)
			from = transform.NewReader(raw, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder())
			if filled, err = readFull(from, s.buf); err != nil && !errors.Is(err, io.EOF) {
				return nil, err
			}
			n, last = filled, err != nil
		}
		if mark := []byte("\ufeff"); first && bytes.HasPrefix(s.buf[:filled], mark) {
			filled = copy(s.buf, s.buf[len(mark):filled])
			n = filled
		}
		if nul := bytes.IndexByte(s.buf[filled-n:filled], 0); nul >= 0 && !st.binary {
			switch {
			case !first || nul >= binarySample:
				filled, last = bytes.LastIndexByte(s.buf[:filled-n+nul], '\n')+1, true
			case s.binaries != nil:
				s.binaries.Add(1)
				return st, nil
			default:
				st.binary = true
			}
		}
		// Only the last read may leave a line without its newline.
		end := filled
		if !last {
			end = s.wholeLines(filled)
		}
		s.searchBuffer(st, kept, max(kept, end))
		if last || s.hasEnough(st) {
			return st, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		filled, kept = s.slideBuffer(st, end, filled)
	}
}

// isUTF16 reports whether a file begins with a byte order mark of UTF-16.
func isUTF16(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))
}

// hasEnough reports whether more was found than an answer can hold.
func (s *fileSearch) hasEnough(st *searchState) bool {
	return st.matches > s.limit || st.size > maxBytes || st.binary && st.matches > 0
}

// readFull fills b; io.EOF is returned together with the last bytes.
func readFull(from io.Reader, b []byte) (int, error) {
	n, err := io.ReadFull(from, b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// growBuffer makes room after the bytes in the buffer.
func (s *fileSearch) growBuffer(filled int) {
	if s.buf == nil {
		s.buf = make([]byte, searchWindow)
	}
	if len(s.buf)-filled < searchWindow/2 {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
}

// wholeLines returns how many bytes of the buffer are whole lines; an overlong line is cut.
func (s *fileSearch) wholeLines(filled int) int {
	end := bytes.LastIndexByte(s.buf[:filled], '\n') + 1
	if end == 0 && filled > maxLine {
		return filled
	}
	return end
}

// slideBuffer makes room for more. It keeps the last lines, as context for a later match, and
// everything after end.
func (s *fileSearch) slideBuffer(st *searchState, end, filled int) (int, int) {
	st.countTo(s.buf, end)
	from := linesBefore(s.buf[:end], s.context, 0)
	st.line -= int64(bytes.Count(s.buf[from:end], []byte{'\n'}))
	st.counted = 0
	st.done = max(st.done-from, 0)
	copy(s.buf, s.buf[from:filled])
	return filled - from, end - from
}

// linesBefore returns the offset at which the last n lines of text start, or minOffset if that is
// larger.
func linesBefore(text []byte, n, minOffset int) int {
	at := len(text)
	for ; n > 0 && at > minOffset; n-- {
		at = bytes.LastIndexByte(text[:at-1], '\n') + 1
	}
	return max(at, minOffset)
}

// searchBuffer searches the lines between two offsets of the buffer.
func (s *fileSearch) searchBuffer(st *searchState, start, end int) {
	text := s.buf[:end]
	s.pattern.Each(text[start:], func(lo, hi int) bool {
		if st.binary {
			st.matches++
			return false
		}
		from, to := start+lo, start+hi
		st.addTrailing(text[:from])
		before := max(linesBefore(text[:from], s.context, 0), st.done)
		st.addLines(text, before, from, false)
		st.addLines(text, from, min(to+1, end), true)
		st.matches++
		st.trail = s.context
		return !s.hasEnough(st)
	})
	st.addTrailing(text)
}

// addTrailing adds the context still due after the last match.
func (st *searchState) addTrailing(text []byte) {
	for st.trail > 0 && st.done < len(text) {
		end := lineEnd(text, st.done)
		st.addLines(text, st.done, min(end+1, len(text)), false)
		st.trail--
	}
}

// addLines adds the lines between two offsets.
func (st *searchState) addLines(text []byte, start, end int, match bool) {
	for start < end {
		stop := lineEnd(text[:end], start)
		st.countTo(text, start)
		line := Line{Path: st.path, Line: st.line, Text: lineText(text[start:stop]), Match: match}
		st.lines, st.size = append(st.lines, line), st.size+line.size()
		start = min(stop+1, end)
		st.done = start
	}
}

// lineEnd returns the end of the line around an offset, without its newline.
func lineEnd(text []byte, at int) int {
	if end := bytes.IndexByte(text[at:], '\n'); end >= 0 {
		return at + end
	}
	return len(text)
}

// countTo advances the line number to the line at an offset in text.
func (st *searchState) countTo(text []byte, at int) {
	if at > st.counted {
		st.line += int64(bytes.Count(text[st.counted:at], []byte{'\n'}))
		st.counted = at
	}
}

// lineText returns a line's text for the result.
func lineText(line []byte) string {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(line) > maxLineText {
		line = line[:maxLineText]
		line = line[:scan.CompleteLen(line)]
	}
	return strings.ToValidUTF8(string(line), "\uFFFD")
}

package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"

	"tandem/engine/search"
	"tandem/engine/vt/scan"
)

const (
	window       = 256 << 10 // of a file searched at a time
	mostLine     = 16 << 20  // a longer line counts as several
	mostLineText = 64 << 10  // of a line that is given
)

// A Line is a line that matches, or stands near one.
type Line struct {
	Path  string // relative to the folder searched
	Line  int64  // from 1
	Text  string // without its ending, at most 64 KiB of it
	Match bool
}

// A searching goes through one file after the other. Its buffers are used again.
type searching struct {
	pattern *search.Pattern
	context int
	limit   int           // matches of a file; it stops behind that many
	most    int64         // bytes of a file that is searched; 0 for any
	passed  *atomic.Int64 // counts those that are larger

	buf []byte
}

// A state is how far the search of one file is.
type state struct {
	path    string
	lines   []Line
	matches int
	size    int // bytes of text in lines

	done    int   // in the buffer: up to where lines were given or passed over
	counted int   // up to where they were counted
	line    int64 // number of the line that begins there
	trail   int   // lines behind the last match that are to be given
}

// file searches what it reads. A file with a NUL byte near its beginning is
// binary and holds nothing.
func (s *searching) file(ctx context.Context, path string, from io.Reader) ([]Line, int, error) {
	st := state{path: path, line: 1}
	filled, kept := 0, 0 // kept: lines before, for context only
	for first := true; ; first = false {
		s.grow(filled)
		n, err := readFull(from, s.buf[filled:])
		filled += n
		if first && bytes.IndexByte(s.buf[:filled], 0) >= 0 {
			return nil, 0, nil
		}
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return nil, 0, err
		}
		end := filled
		if !last {
			end = s.wholeLines(filled)
		}
		s.search(&st, kept, end)
		if last || s.enough(&st) {
			return st.lines, st.matches, nil
		}
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		filled, kept = s.slide(&st, end, filled)
	}
}

// enough reports whether more than an answer can hold was found.
func (s *searching) enough(st *state) bool { return st.matches > s.limit || st.size > mostBytes }

// readFull fills b; io.EOF comes with the last of it.
func readFull(from io.Reader, b []byte) (int, error) {
	n, err := io.ReadFull(from, b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// grow makes room behind what is in the buffer.
func (s *searching) grow(filled int) {
	if s.buf == nil {
		s.buf = make([]byte, window)
	}
	if len(s.buf)-filled < window/2 {
		s.buf = append(s.buf, make([]byte, len(s.buf))...)
	}
}

// wholeLines is how much of the buffer is whole lines; a line that is too long
// is cut.
func (s *searching) wholeLines(filled int) int {
	end := bytes.LastIndexByte(s.buf[:filled], '\n') + 1
	if end == 0 && filled > mostLine {
		return filled
	}
	return end
}

// slide makes room for more and keeps the lines that may be context of a match
// to come, and what follows end.
func (s *searching) slide(st *state, end, filled int) (int, int) {
	st.count(s.buf, end)
	from := linesBack(s.buf[:end], s.context, 0)
	st.line -= int64(bytes.Count(s.buf[from:end], []byte{'\n'}))
	st.counted = 0
	st.done = max(st.done-from, 0)
	copy(s.buf, s.buf[from:filled])
	return filled - from, end - from
}

// linesBack is where the last n lines of whole lines begin, but not before least.
func linesBack(text []byte, n, least int) int {
	at := len(text)
	for ; n > 0 && at > least; n-- {
		at = bytes.LastIndexByte(text[:at-1], '\n') + 1
	}
	return max(at, least)
}

// search looks at the lines of the buffer from start to end.
func (s *searching) search(st *state, start, end int) {
	text := s.buf[:end]
	s.pattern.Each(text[start:], func(lo, hi int) bool {
		from, to := start+lo, start+hi
		st.after(text[:from])
		before := max(linesBack(text[:from], s.context, 0), st.done)
		st.give(text, before, from, false)
		st.give(text, from, min(to+1, end), true)
		st.matches++
		st.trail = s.context
		return !s.enough(st)
	})
	st.after(text)
}

// after gives the lines behind the last match that are still to be given.
func (st *state) after(text []byte) {
	for st.trail > 0 && st.done < len(text) {
		end := lineEnd(text, st.done)
		st.give(text, st.done, min(end+1, len(text)), false)
		st.trail--
	}
}

// give adds the lines from start to end.
func (st *state) give(text []byte, start, end int, match bool) {
	for start < end {
		stop := lineEnd(text[:end], start)
		st.count(text, start)
		line := Line{Path: st.path, Line: st.line, Text: lineText(text[start:stop]), Match: match}
		st.lines, st.size = append(st.lines, line), st.size+len(line.Text)
		start = min(stop+1, end)
		st.done = start
	}
}

// lineEnd is where the line that goes on at a place ends, without its newline.
func lineEnd(text []byte, at int) int {
	if end := bytes.IndexByte(text[at:], '\n'); end >= 0 {
		return at + end
	}
	return len(text)
}

// count brings the line number up to what begins at a place in text.
func (st *state) count(text []byte, at int) {
	if at > st.counted {
		st.line += int64(bytes.Count(text[st.counted:at], []byte{'\n'}))
		st.counted = at
	}
}

// lineText is what is given of a line.
func lineText(line []byte) string {
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if len(line) > mostLineText {
		line = line[:mostLineText]
		line = line[:scan.CompleteLen(line)]
	}
	return strings.ToValidUTF8(string(line), "\uFFFD")
}

package prompt

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
)

const (
	// maxTyped is how many bytes of output are searched for the line that was typed.
	maxTyped = 16 << 10
	// maxScratchLines is the maximum number of lines of a scratch terminal.
	maxScratchLines = 1 << 20
	// scratchBatch is how many lines of a scratch terminal are copied at once.
	scratchBatch = 5000
)

// cleanOutput returns the plain text that a terminal of the given size shows after the output p.
// Overwritten text is gone, and wrapped lines are joined.
func cleanOutput(p []byte, cols, rows int) string {
	// Fast path: most output needs no terminal.
	if text, ok := plainOutput(p); ok {
		return text
	}
	t := vt.New(vt.Options{Cols: cols, Rows: rows, ScrollbackLines: maxScratchLines, ScrollbackBytes: 256 << 20})
	t.Write(p)
	if t.Modes().Alt {
		t.Write([]byte("\x1b[?1049l"))
	}
	return terminalText(t)
}

// terminalText returns all text of a terminal, including its scrollback, up to the cursor or the
// last row with text.
func terminalText(t *vt.Terminal) string {
	var text strings.Builder
	oldest, first, end := t.Bounds()
	cols, _ := t.Size()
	cursor := t.Cursor()
	// Empty lines, written only if text follows.
	blank := 0
	for from := oldest; from < end; from += scratchBatch {
		for _, l := range t.Lines(from, int(min(end-from, scratchBatch))) {
			line := l.Line.Text()
			if line == "" && l.N > first+int64(cursor.Y) {
				blank++
				continue
			}
			text.WriteString(strings.Repeat("\n", blank))
			blank = 0
			switch {
			case l.Line.Wrapped: // trailing blanks of a row are not stored, but this row continues
				line += strings.Repeat(" ", max(0, cols-countCells(l.Line)))
			case l.N == first+int64(cursor.Y):
				line = strings.TrimRight(line, " ")
			default:
				line = strings.TrimRight(line, " ") + "\n"
			}
			text.WriteString(line)
		}
	}
	return text.String()
}

// plainOutput returns p as text if p contains only text, tabs and line ends. Otherwise ok is false,
// and a terminal must interpret p.
func plainOutput(p []byte) (text string, ok bool) {
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\r':
			if i+1 == len(p) || p[i+1] != '\n' && p[i+1] != '\r' {
				return "", false
			}
		case c < ' ' && c != '\n' && c != '\t', c == 0x7f:
			return "", false
		}
	}
	p = bytes.ReplaceAll(p, []byte{'\r'}, nil)
	if !utf8.Valid(p) {
		return strings.ToValidUTF8(string(p), "\uFFFD"), true
	}
	return string(p), true
}

// readRange reads the last limit bytes of the log between two offsets. start is the offset of p.
func readRange(log Log, from, to int64, limit int) (p []byte, start int64, err error) {
	from = max(from, log.Start())
	if to-from > int64(limit) {
		from = to - int64(limit)
	}
	if to <= from {
		return nil, to, nil
	}
	p = make([]byte, to-from)
	n, err := log.ReadAt(p, from)
	if err == io.EOF || n == len(p) {
		err = nil
	}
	return p[:n], from, err
}

// PlainSince returns the output since an offset as plain text, at most its last limit bytes. It
// leaves out a prompt at which nothing was typed. A negative offset counts from the end. dropped is
// the number of bytes left out before text.
func (s *Shell) PlainSince(offset int64, limit int) (text string, next, dropped int64, err error) {
	next = s.t.Shown()
	if offset < 0 {
		offset = max(0, next+offset)
	}
	cols, rows := s.t.Size()
	lead, _, err := readRange(s.t.Log(), max(0, offset-maxTyped), offset, maxTyped)
	if err != nil {
		return "", next, 0, err
	}
	// Begin where the line begins, because columns count from there.
	lead = lead[bytes.LastIndexByte(lead, '\n')+1:]
	lead = lead[fullScreenEnd(lead):]
	p, start, err := readRange(s.t.Log(), offset, next, max(minRawOutput, outputPerResult*limit))
	if err != nil {
		return "", next, 0, err
	}
	if start > offset {
		lead = nil
	}
	if n := fullScreenEnd(p); n > 0 {
		lead, p = nil, p[n:]
	}
	if at := s.marks.snapshot(); at.atPrompt() && !at.touched && offset < at.prompt && at.prompt <= next {
		if i := bytes.LastIndex(p, []byte("\x1b]133;A")); i >= 0 {
			p = p[:i]
		}
	}
	text = cleanOutput(append(lead[:len(lead):len(lead)], p...), cols, rows)
	if before := strings.TrimRight(cleanOutput(lead, cols, rows), " "); before != "" {
		text = strings.TrimLeft(strings.TrimPrefix(text, before), " ")
	}
	if dropped = start - offset; len(text) > limit {
		dropped += int64(len(text) - limit)
		text = strings.ToValidUTF8(text[len(text)-limit:], "")
	}
	return text, next, max(0, dropped), nil
}

// fullScreenEnd returns the offset at which p leaves the alternate screen, if a full-screen program
// was already running when p begins. Otherwise it returns 0.
func fullScreenEnd(p []byte) int {
	switched := screenSwitch().FindIndex(p)
	if switched == nil || p[switched[1]-1] == 'h' {
		return 0
	}
	return switched[1]
}

// screenSwitch matches the sequences that switch to the alternate screen or back.
var screenSwitch = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[\\?(1049|1047|47)[hl]") })

// typedLineReader returns a function to read the line typed at a prompt, from its echo in the log.
// The function also returns the offset of the output after the line, and whether the line was sent.
// redraws is set if the line editor may have redrawn a prompt of several lines.
func (s *Shell) typedLineReader(cols, rows int, redraws bool) func(from inputStart, to int64) (line string, output int64, sent bool) {
	return func(from inputStart, to int64) (line string, output int64, sent bool) {
		p, start, err := readRange(s.t.Log(), from.at, min(to, from.at+maxTyped), maxTyped)
		if err != nil || start != from.at {
			return "", from.at, false
		}
		n := lineEnd(p)
		line, ok := plainOutput(p[:n])
		// The line editor moved the cursor within the row.
		if !ok {
			lead := fmt.Appendf(nil, "\x1b[%dG", from.column+1)
			text := []rune(cleanOutput(append(lead, p[:n]...), cols, rows))
			line = string(text[min(from.column, len(text)):])
		}
		sent = n > 0 && p[n-1] == '\n'
		// The line editor switches bracketed paste off when the line is sent.
		if redraws && s.t.Modes().BracketedPaste {
			sent = sent && bytes.Contains(p, []byte("\x1b[?2004l"))
		}
		return strings.ReplaceAll(line, "\n", ""), from.at + int64(n), sent
	}
}

// lineEnd returns the length of the first line of p, including its newline.
func lineEnd(p []byte) int {
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		return i + 1
	}
	return len(p)
}

// countCells returns the number of cells of a line without the blank ones at its end.
func countCells(l styled.Line) (cells int) {
	for _, r := range l.Runs {
		cells += r.Cells
	}
	return cells
}

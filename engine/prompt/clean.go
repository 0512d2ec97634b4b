package prompt

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"tandem/engine/styled"
	"tandem/engine/vt"
)

const (
	// typedMost is how much output is looked at for the line that was typed.
	typedMost = 16 << 10
	// scratchLines bounds the lines of a scratch terminal.
	scratchLines = 1 << 20
	// linesAtOnce is how many lines of it are copied in one go.
	linesAtOnce = 5000
)

// cleanOutput gives what a terminal of some width shows of output, as plain
// text: overwritten text is gone, lines that were only wrapped are whole.
func cleanOutput(p []byte, cols, rows int) string {
	if text, ok := plainOutput(p); ok {
		return text
	}
	t := vt.New(vt.Options{Cols: cols, Rows: rows, ScrollbackLines: scratchLines, ScrollbackBytes: 256 << 20})
	t.Write(p)
	if t.Modes().Alt {
		t.Write([]byte("\x1b[?1049l"))
	}
	return terminalText(t)
}

// terminalText is all that a terminal holds, up to its cursor or to what it
// shows below.
func terminalText(t *vt.Terminal) string {
	var text strings.Builder
	oldest, first, end := t.Bounds()
	cols, _ := t.Size()
	cursor := t.Cursor()
	blank := 0 // lines that come only if something follows
	for from := oldest; from < end; from += linesAtOnce {
		for _, l := range t.Lines(from, int(min(end-from, linesAtOnce))) {
			line := l.Line.Text()
			if line == "" && l.N > first+int64(cursor.Y) {
				blank++
				continue
			}
			text.WriteString(strings.Repeat("\n", blank))
			blank = 0
			switch {
			case l.Line.Wrapped: // blanks at the end of a row are not kept, and belong here
				line += strings.Repeat(" ", max(0, cols-cellsOf(l.Line)))
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

// plainOutput is output that needs no terminal to be read: text, tabs and ends
// of lines. ok is false when there is more to it.
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

// readRange reads log bytes from an offset to another, those at the end if
// they are more than most.
func readRange(log Log, from, to int64, most int) (p []byte, start int64, err error) {
	from = max(from, log.Start())
	if to-from > int64(most) {
		from = to - int64(most)
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

// PlainSince is the end of what was printed from an offset on, as plain text of most
// bytes at most, without a prompt at which nothing is typed yet; dropped is how many are
// before it.
func (s *Shell) PlainSince(since int64, most int) (text string, next, dropped int64, err error) {
	next = s.t.Shown()
	if since < 0 {
		since = max(0, next+since)
	}
	cols, rows := s.t.Size()
	lead, _, err := readRange(s.t.Log(), max(0, since-typedMost), since, typedMost)
	if err != nil {
		return "", next, 0, err
	}
	lead = lead[bytes.LastIndexByte(lead, '\n')+1:] // of the line in which it begins: columns count from there
	p, start, err := readRange(s.t.Log(), since, next, max(shellRawLeast, outputPerResult*most))
	if err != nil {
		return "", next, 0, err
	}
	if start > since {
		lead = nil
	}
	if n := fullScreenEnd(p); n > 0 {
		lead, p = nil, p[n:]
	}
	if at := s.marks.state(); at.atPrompt() && !at.touched && since < at.prompt && at.prompt <= next {
		if i := bytes.LastIndex(p, []byte("\x1b]133;A")); i >= 0 {
			p = p[:i]
		}
	}
	text = cleanOutput(append(lead[:len(lead):len(lead)], p...), cols, rows)
	if before := strings.TrimRight(cleanOutput(lead, cols, rows), " "); before != "" {
		text = strings.TrimLeft(strings.TrimPrefix(text, before), " ")
	}
	if dropped = start - since; len(text) > most {
		dropped += int64(len(text) - most)
		text = strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return text, next, max(0, dropped), nil
}

// fullScreenEnd is where the output of a program that had the whole screen before it ends;
// 0 if none had.
func fullScreenEnd(p []byte) int {
	leave := []byte("\x1b[?1049l")
	i := bytes.Index(p, leave)
	if i < 0 || bytes.Contains(p[:i], []byte("\x1b[?1049h")) {
		return 0
	}
	return i + len(leave)
}

// lineTyped returns a function that reads from the log the line typed at a prompt, as echoed, the
// offset of the output after it, and whether the line was sent. redraws says that the line editor
// may have redrawn a prompt of several lines.
func (s *Shell) lineTyped(cols, rows int, redraws bool) func(from inputStart, to int64) (line string, output int64, sent bool) {
	return func(from inputStart, to int64) (line string, output int64, sent bool) {
		p, start, err := readRange(s.t.Log(), from.at, min(to, from.at+typedMost), typedMost)
		if err != nil || start != from.at {
			return "", from.at, false
		}
		n := lineEnd(p)
		line, ok := plainOutput(p[:n])
		if !ok { // the line editor moved the cursor within the row
			lead := fmt.Appendf(nil, "\x1b[%dG", from.column+1)
			text := []rune(cleanOutput(append(lead, p[:n]...), cols, rows))
			line = string(text[min(from.column, len(text)):])
		}
		sent = n > 0 && p[n-1] == '\n'
		if redraws && s.t.Modes().BracketedPaste { // the line editor switches it off when the line is sent
			sent = sent && bytes.Contains(p, []byte("\x1b[?2004l"))
		}
		return strings.ReplaceAll(line, "\n", ""), from.at + int64(n), sent
	}
}

// lineEnd is the length of the first line of p with what ends it.
func lineEnd(p []byte) int {
	if i := bytes.IndexByte(p, '\n'); i >= 0 {
		return i + 1
	}
	return len(p)
}

// cellsOf is the number of cells up to the last of a line that is not blank.
func cellsOf(l styled.Line) (cells int) {
	for _, r := range l.Runs {
		cells += r.Cells
	}
	return cells
}

package histdb

import (
	"bytes"
	"errors"
	"strings"
	"time"
	"unicode/utf8"
)

// A TextCommand is a command of a text file.
type TextCommand struct {
	Line     string
	At       time.Time     // when it began; zero if the file does not tell
	Duration time.Duration // negative if the file does not tell
	CWD      string        // folder it ran in; "" if the file does not tell
	ExitCode *int          // nil if the file does not tell
}

// EncodeCommands gives the text of a file with commands, one a line, and how many they are. A line break within a command has
// a backslash before it; backslashes at the end of one of its lines are doubled,
// so that they are not taken for that. A blank command is left out.
func EncodeCommands(commands []string) (text []byte, n int) {
	var b bytes.Buffer
	for _, c := range commands {
		if strings.TrimSpace(c) == "" {
			continue
		}
		n++
		for more := true; more; {
			var line string
			line, c, more = strings.Cut(c, "\n")
			b.WriteString(line)
			b.WriteString(line[len(strings.TrimRight(line, `\`)):])
			if more {
				b.WriteByte('\\')
			}
			b.WriteByte('\n')
		}
	}
	return b.Bytes(), n
}

// DecodeCommands reads the output of EncodeCommands, or any text with one command per
// line; it skips blank lines. With shells set, it recognizes the entries of bash, zsh
// and fish histories, and reads entries without a header in format. It replaces invalid
// UTF-8. It returns ErrNoText if text contains a NUL byte.
func DecodeCommands(text []byte, shells bool, format Format) ([]TextCommand, error) {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, ErrNoText
	}
	lines := splitLines(text)
	if !shells {
		return decodeLines(lines), nil
	}
	return decodeShells(lines, format), nil
}

// ErrNoText is the error of what is not text.
var ErrNoText = errors.New("it is not a text file")

// splitLines takes a text apart. A carriage return before every line break is
// part of that.
func splitLines(text []byte) []string {
	s := strings.TrimPrefix(string(text), "\ufeff")
	if n := strings.Count(s, "\n"); n > 0 && strings.Count(s, "\r\n") == n {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	if s = strings.TrimSuffix(s, "\n"); s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// trailing is the number of backslashes at the end of a line.
func trailing(line string) int { return len(line) - len(strings.TrimRight(line, `\`)) }

// decodeLines is the inverse of EncodeCommands.
func decodeLines(lines []string) (all []TextCommand) {
	for len(lines) > 0 {
		line, n := decodeLine(lines)
		all = appendCommand(all, TextCommand{Line: line, Duration: -1})
		lines = lines[n:]
	}
	return all
}

// decodeLine reads the first command in the format of EncodeCommands and returns its
// number of lines.
func decodeLine(lines []string) (command string, n int) {
	var b strings.Builder
	for n < len(lines) {
		slashes := trailing(lines[n])
		b.WriteString(lines[n][:len(lines[n])-slashes])
		b.WriteString(strings.Repeat(`\`, slashes/2))
		n++
		if slashes%2 == 0 {
			break
		}
		if n == len(lines) {
			b.WriteByte('\\') // nothing follows, so it is not a line break
			break
		}
		b.WriteByte('\n')
	}
	return b.String(), n
}

// appendCommand adds a command unless it is blank.
func appendCommand(all []TextCommand, c TextCommand) []TextCommand {
	if strings.TrimSpace(c.Line) == "" {
		return all
	}
	if !utf8.ValidString(c.Line) {
		c.Line = strings.ToValidUTF8(c.Line, "\ufffd")
	}
	return append(all, c)
}

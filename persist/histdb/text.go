package histdb

import (
	"bytes"
	"errors"
	"strings"
	"time"
	"unicode/utf8"
)

// A TextCommand is a command read from a file.
type TextCommand struct {
	Line     string
	At       time.Time     // when it began; zero if unknown
	Duration time.Duration // negative if unknown
	CWD      string        // directory it ran in; "" if unknown
	ExitCode *int          // nil if unknown
}

// EncodeCommands returns a text with one command per line, and the number of commands. It puts a
// backslash before a line break within a command, doubles backslashes at the end of a line to keep
// the two apart, and omits blank commands.
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

// ErrNoText is returned for input with a NUL byte.
var ErrNoText = errors.New("it is not a text file")

// splitLines splits a text into lines. It removes carriage returns only if every line ends with
// one.
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

func countBackslashes(line string) int { return len(line) - len(strings.TrimRight(line, `\`)) }

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
		slashes := countBackslashes(lines[n])
		b.WriteString(lines[n][:len(lines[n])-slashes])
		b.WriteString(strings.Repeat(`\`, slashes/2))
		n++
		if slashes%2 == 0 {
			break
		}
		// Nothing follows, so this backslash does not escape a line break.
		if n == len(lines) {
			b.WriteByte('\\')
			break
		}
		b.WriteByte('\n')
	}
	return b.String(), n
}

// appendCommand appends c unless it is blank. It replaces invalid UTF-8.
func appendCommand(all []TextCommand, c TextCommand) []TextCommand {
	if strings.TrimSpace(c.Line) == "" {
		return all
	}
	if !utf8.ValidString(c.Line) {
		c.Line = strings.ToValidUTF8(c.Line, "\ufffd")
	}
	return append(all, c)
}

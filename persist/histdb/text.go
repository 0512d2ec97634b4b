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

// DecodeCommands reads the text of a file that EncodeCommands wrote, or any text
// with a command a line; blank lines are skipped. With shells set, the history
// files of bash, zsh and fish are told from that and read as what they are. What
// is not UTF-8 is replaced. What holds a NUL byte is ErrNoText.
func DecodeCommands(text []byte, shells bool) ([]TextCommand, error) {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, ErrNoText
	}
	lines := splitLines(text)
	if !shells {
		return decodeLines(lines), nil
	}
	first := ""
	for _, l := range lines {
		if first = l; strings.TrimSpace(l) != "" {
			break
		}
	}
	_, isZsh := zshEntry(first)
	_, isBash := bashTime(first)
	switch {
	case strings.HasPrefix(first, fishCommand):
		return decodeFish(lines), nil
	case isZsh:
		return decodeZsh(lines), nil
	case isBash:
		return decodeBash(lines), nil
	}
	return decodeLines(lines), nil
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
func decodeLines(lines []string) []TextCommand {
	var all []TextCommand
	for i := 0; i < len(lines); i++ {
		var b strings.Builder
		for ; i < len(lines); i++ {
			n := trailing(lines[i])
			b.WriteString(lines[i][:len(lines[i])-n])
			b.WriteString(strings.Repeat(`\`, n/2))
			if n%2 == 0 {
				break
			}
			if i == len(lines)-1 {
				b.WriteByte('\\') // nothing follows, so it is not a line break
				break
			}
			b.WriteByte('\n')
		}
		all = appendCommand(all, TextCommand{Line: b.String(), Duration: -1})
	}
	return all
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

package histdb

import (
	"bytes"
	"errors"
	"slices"
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

// EncodeCommands returns a text with one command in each line, and the number of commands. It
// leaves out blank commands. A command with a line break is written as $'…', as shells quote it.
func EncodeCommands(commands []string) (text []byte, n int) {
	var b bytes.Buffer
	for _, c := range commands {
		if strings.TrimSpace(c) == "" {
			continue
		}
		n++
		if needsQuotes(c) {
			c = quoteLine(c)
		}
		b.WriteString(c + "\n")
	}
	return b.Bytes(), n
}

// needsQuotes reports whether a command, written as it is, would be read as a different one.
func needsQuotes(command string) bool {
	return strings.ContainsAny(command, "\n\r") || decodeLine(command) != command
}

var lineQuotes = strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`)

func quoteLine(command string) string { return "$'" + lineQuotes.Replace(command) + "'" }

// DecodeCommands reads the output of EncodeCommands, or any text with one command in each line. It
// skips blank lines and replaces invalid UTF-8. If shells is set, it recognises the entries of
// bash, zsh and fish histories, and reads entries without a header in format.
//
// A loss of power may leave blocks of NUL bytes in a history. DecodeCommands skips lines with such
// bytes; damaged is their number. It returns ErrNoText if half of the lines have them or, without
// shells, if any line does.
func DecodeCommands(text []byte, shells bool, format Format) (all []TextCommand, damaged int, err error) {
	lines := splitLines(text)
	total := len(lines)
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.IndexByte(line, 0) >= 0 })
	if damaged = total - len(lines); damaged > 0 && (!shells || damaged >= len(lines)) {
		return nil, 0, ErrNoText
	}
	if !shells {
		return decodeLines(lines), damaged, nil
	}
	return decodeShells(lines, format), damaged, nil
}

// ErrNoText is returned for a file that is not text.
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
	for _, line := range lines {
		all = appendCommand(all, TextCommand{Line: decodeLine(line), Duration: -1})
	}
	return all
}

var lineEscapes = strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\n`, "\n", `\r`, "\r")

// decodeLine returns the command for a line written by EncodeCommands. Any other line, with each
// backslash in it, is a command as it is.
func decodeLine(line string) string {
	inner, quoted := strings.CutPrefix(line, "$'")
	inner, ended := strings.CutSuffix(inner, "'")
	if !quoted || !ended {
		return line
	}
	if command := lineEscapes.Replace(inner); needsQuotes(command) && quoteLine(command) == line {
		return command
	}
	return line
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

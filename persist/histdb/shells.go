package histdb

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// bashTime reads a line of a bash history that HISTTIMEFORMAT makes: "#" and
// the seconds since 1970 at which the command behind it began.
func bashTime(line string) (time.Time, bool) {
	digits, ok := strings.CutPrefix(line, "#")
	if !ok || len(digits) < 9 || len(digits) > 11 {
		return time.Time{}, false
	}
	return seconds(digits)
}

func seconds(digits string) (time.Time, bool) {
	n, err := strconv.ParseUint(digits, 10, 40)
	if err != nil {
		return time.Time{}, false
	}
	return time.Unix(int64(n), 0), true
}

// A Format is the file format of a shell's history.
type Format string

const (
	FormatAny  Format = "" // detect from the file's contents
	FormatBash Format = "bash"
	FormatZsh  Format = "zsh"
	FormatFish Format = "fish"
	// formatPlain is the format that EncodeCommands writes.
	formatPlain Format = "plain"
)

// isHeader reports whether line is the first line of an entry in a shell's history.
func isHeader(line string) bool {
	_, isBash := bashTime(line)
	_, isZsh := zshEntry(line)
	return isBash || isZsh || strings.HasPrefix(line, fishCommand)
}

// formatOf returns the format of the first entry with a header, which is used for lines
// without one.
func formatOf(lines []string) Format {
	for _, l := range lines {
		_, isBash := bashTime(l)
		_, isZsh := zshEntry(l)
		switch {
		case isBash:
			return FormatBash
		case isZsh:
			return FormatZsh
		case strings.HasPrefix(l, fishCommand):
			return FormatFish
		}
	}
	return formatPlain
}

// decodeShells reads shell histories entry by entry: a file may mix several shells, and a
// shell writes times only while configured to. format applies to entries without a header.
func decodeShells(lines []string, format Format) (all []TextCommand) {
	if format == FormatAny {
		format = formatOf(lines)
	}
	lines = trimHalfLine(lines, format)
	for len(lines) > 0 {
		var entry []TextCommand
		var n int
		at, isBash := bashTime(lines[0])
		c, isZsh := zshEntry(lines[0])
		switch {
		case isBash:
			entry, n = decodeBash(lines[1:], at)
			n++
		case isZsh:
			n = decodeZsh(&c, lines[1:]) + 1
			entry = []TextCommand{c}
		case strings.HasPrefix(lines[0], fishCommand):
			c, n = decodeFish(lines)
			entry = []TextCommand{c}
		default:
			c, n = decodePlain(lines, format)
			entry = []TextCommand{c}
		}
		for _, c := range entry {
			all = appendCommand(all, c)
		}
		lines = lines[n:]
	}
	return all
}

const digits = "0123456789"

// trimHalfHeader returns line without a truncated zsh header at its start, if there is one.
func trimHalfHeader(line string) string {
	head, command, ok := strings.Cut(line, ";")
	began, took, both := strings.Cut(strings.TrimPrefix(head, " "), ":")
	if !both {
		began, took = "", head
	}
	if ok && strings.Trim(began, digits) == "" && strings.Trim(took, digits) == "" {
		return command
	}
	return line
}

// trimHalfLine removes a truncated header from the start of a file.
func trimHalfLine(lines []string, format Format) []string {
	switch {
	case len(lines) == 0 || isHeader(lines[0]):
	case format == FormatBash && lines[0] != "" && strings.Trim(lines[0], digits) == "" && slices.ContainsFunc(lines, isHeader):
		return lines[1:]
	case format == FormatZsh:
		lines[0] = trimHalfHeader(lines[0])
	case format == FormatFish && !strings.HasPrefix(lines[0], " "): // more of the entry follows
		return lines[1:]
	}
	return lines
}

// decodePlain reads an entry without a header and returns its number of lines.
func decodePlain(lines []string, format Format) (c TextCommand, n int) {
	c.Duration = -1
	switch c.Line = lines[0]; format {
	case FormatZsh:
		return c, decodeZsh(&c, lines[1:]) + 1
	case FormatFish:
		if strings.HasPrefix(c.Line, "  ") {
			c.Line = ""
		}
		return c, 1
	case formatPlain:
		c.Line, n = decodeLine(lines)
		return c, n
	}
	for n = 1; trailing(lines[n-1])%2 == 1 && n < len(lines) && !isHeader(lines[n]); n++ {
	}
	c.Line = strings.Join(lines[:n], "\n")
	return c, n
}

// decodeBash reads the lines after a time in a bash history, up to the next header, and
// returns how many they are. Lines that form a complete command become one command; the
// lines after them, as in a joined file, become commands without times.
func decodeBash(lines []string, at time.Time) (all []TextCommand, n int) {
	for n < len(lines) && !isHeader(lines[n]) {
		begin := n
		for n++; n < len(lines) && !isHeader(lines[n]) && isIncomplete(lines[begin:n]); n++ {
		}
		c := TextCommand{Line: strings.TrimRight(strings.Join(lines[begin:n], "\n"), "\n"), Duration: -1}
		if len(all) == 0 {
			c.At = at
		}
		all = appendCommand(all, c)
	}
	return all, n
}

// isIncomplete reports whether bash would prompt for more input after the lines.
func isIncomplete(lines []string) bool {
	if trailing(lines[len(lines)-1])%2 == 1 {
		return true
	}
	_, err := syntax.NewParser().Parse(strings.NewReader(strings.Join(lines, "\n")+"\n"), "")
	return syntax.IsIncomplete(err)
}

// zshEntry reads a line of a zsh history with EXTENDED_HISTORY set: ": ", when
// it began, ":", how many seconds it took, ";" and the command.
func zshEntry(line string) (TextCommand, bool) {
	rest, ok := strings.CutPrefix(line, ": ")
	if !ok {
		return TextCommand{}, false
	}
	head, command, ok := strings.Cut(rest, ";")
	began, took, both := strings.Cut(head, ":")
	if !ok || !both {
		return TextCommand{}, false
	}
	at, ok := seconds(strings.TrimSpace(began))
	n, err := strconv.ParseUint(took, 10, 31)
	if !ok || err != nil {
		return TextCommand{}, false
	}
	return TextCommand{Line: command, At: at, Duration: time.Duration(n) * time.Second}, true
}

// decodeZsh appends to a zsh command its continuation lines and returns their number. A
// line break within a command has a backslash before it. zsh writes a space after a
// command that ends with a backslash.
func decodeZsh(c *TextCommand, lines []string) (n int) {
	for trailing(c.Line) > 0 && n < len(lines) && !isHeader(lines[n]) {
		c.Line = c.Line[:len(c.Line)-1] + "\n" + lines[n]
		n++
	}
	if ended, ok := strings.CutSuffix(c.Line, `\ `); ok {
		c.Line = ended + `\`
	}
	c.Line = unmetafy(c.Line)
	return n
}

// unmetafy undoes how zsh writes bytes that mean something to itself: 0x83 and
// the byte with its bit 5 turned over.
func unmetafy(s string) string {
	const meta = 0x83
	if strings.IndexByte(s, meta) < 0 {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == meta && i+1 < len(s) {
			i++
			b = append(b, s[i]^0x20)
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}

const fishCommand = "- cmd: "

var fishEscapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n")

// decodeFish reads the first entry of a fish history, a subset of YAML with the command,
// its time and other fields, and returns its number of lines.
func decodeFish(lines []string) (c TextCommand, n int) {
	c = TextCommand{Line: fishEscapes.Replace(lines[0][len(fishCommand):]), Duration: -1}
	for n = 1; n < len(lines) && strings.HasPrefix(lines[n], "  "); n++ {
		if when, ok := strings.CutPrefix(lines[n], "  when: "); ok {
			c.At, _ = seconds(strings.TrimSpace(when))
		}
	}
	return c, n
}

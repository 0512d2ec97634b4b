package histdb

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// bashTime parses a timestamp line of a bash history written with HISTTIMEFORMAT. The line is "#"
// and the start of the next command in seconds since 1970.
func bashTime(line string) (time.Time, bool) {
	digits, ok := strings.CutPrefix(line, "#")
	if !ok || len(digits) < 9 || len(digits) > 11 {
		return time.Time{}, false
	}
	return parseSeconds(digits)
}

func parseSeconds(digits string) (time.Time, bool) {
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
	// formatPlain is the format written by EncodeCommands.
	formatPlain Format = "plain"
)

// isHeader reports whether line is the first line of an entry in a shell's history.
func isHeader(line string) bool {
	_, isBash := bashTime(line)
	_, isZsh := zshEntry(line)
	return isBash || isZsh || strings.HasPrefix(line, fishCommand)
}

// formatOf returns the format of the first entry with a header. Lines without a header are read in
// this format.
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

// decodeShells reads shell histories entry by entry. A file may mix several shells, and a shell
// writes times only while it is configured to. format applies to entries without a header.
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

// trimHalfHeader returns line without the truncated zsh header at its start, if there is one.
func trimHalfHeader(line string) string {
	head, command, ok := strings.Cut(line, ";")
	start, seconds, both := strings.Cut(strings.TrimPrefix(head, " "), ":")
	if !both {
		start, seconds = "", head
	}
	if ok && strings.Trim(start, digits) == "" && strings.Trim(seconds, digits) == "" {
		return command
	}
	return line
}

// trimHalfLine removes a truncated header from the first line of a file.
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

// decodePlain reads an entry without a header. n is its length in lines.
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
		c.Line = decodeLine(c.Line)
		return c, 1
	}
	for n = 1; countBackslashes(lines[n-1])%2 == 1 && n < len(lines) && !isHeader(lines[n]); n++ {
	}
	c.Line = strings.Join(lines[:n], "\n")
	return c, n
}

// decodeBash reads the lines of a bash history after a timestamp, up to the next header. n is their
// number. Lines that form a complete command become one command. Further lines, as in concatenated
// files, become commands without times.
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

// isIncomplete reports whether bash would prompt for more input after these lines.
func isIncomplete(lines []string) bool {
	if countBackslashes(lines[len(lines)-1])%2 == 1 {
		return true
	}
	_, err := syntax.NewParser().Parse(strings.NewReader(strings.Join(lines, "\n")+"\n"), "")
	return syntax.IsIncomplete(err)
}

// zshEntry parses the first line of a zsh entry written with EXTENDED_HISTORY: ":
// START:SECONDS;COMMAND".
func zshEntry(line string) (TextCommand, bool) {
	rest, ok := strings.CutPrefix(line, ": ")
	if !ok {
		return TextCommand{}, false
	}
	head, command, ok := strings.Cut(rest, ";")
	start, seconds, both := strings.Cut(head, ":")
	if !ok || !both {
		return TextCommand{}, false
	}
	at, ok := parseSeconds(strings.TrimSpace(start))
	n, err := strconv.ParseUint(seconds, 10, 31)
	if !ok || err != nil {
		return TextCommand{}, false
	}
	return TextCommand{Line: command, At: at, Duration: time.Duration(n) * time.Second}, true
}

// decodeZsh appends the continuation lines to a zsh command. n is their number. zsh writes a
// backslash before a line break within a command, and a space after a command that ends with a
// backslash.
func decodeZsh(c *TextCommand, lines []string) (n int) {
	for countBackslashes(c.Line) > 0 && n < len(lines) && !isHeader(lines[n]) {
		c.Line = c.Line[:len(c.Line)-1] + "\n" + lines[n]
		n++
	}
	if ended, ok := strings.CutSuffix(c.Line, `\ `); ok {
		c.Line = ended + `\`
	}
	c.Line = unmetafy(c.Line)
	return n
}

// unmetafy decodes zsh's encoding of special bytes: 0x83, and then the byte with bit 5 inverted.
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

// decodeFish reads the first entry of a fish history, a subset of YAML. n is its length in lines.
func decodeFish(lines []string) (c TextCommand, n int) {
	c = TextCommand{Line: fishEscapes.Replace(lines[0][len(fishCommand):]), Duration: -1}
	for n = 1; n < len(lines) && strings.HasPrefix(lines[n], "  "); n++ {
		if when, ok := strings.CutPrefix(lines[n], "  when: "); ok {
			c.At, _ = parseSeconds(strings.TrimSpace(when))
		}
	}
	return c, n
}

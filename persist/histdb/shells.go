package histdb

import (
	"strconv"
	"strings"
	"time"
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

// decodeBash reads a bash history with times. As in bash, all lines between two
// times are one command.
func decodeBash(lines []string) []TextCommand {
	var all []TextCommand
	for i := 0; i < len(lines); {
		at, isTime := bashTime(lines[i])
		if isTime {
			i++
		}
		begin := i
		for i < len(lines) {
			if _, isTime := bashTime(lines[i]); isTime {
				break
			}
			i++
		}
		line := strings.TrimRight(strings.Join(lines[begin:i], "\n"), "\n")
		all = appendCommand(all, TextCommand{Line: line, At: at, Duration: -1})
	}
	return all
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

// decodeZsh reads a zsh history. A line break within a command has a backslash
// before it; zsh writes a space behind a command that ends with one.
func decodeZsh(lines []string) []TextCommand {
	var all []TextCommand
	for i := 0; i < len(lines); i++ {
		c, ok := zshEntry(lines[i])
		if !ok {
			c = TextCommand{Line: lines[i], Duration: -1}
		}
		for trailing(c.Line) > 0 && i+1 < len(lines) {
			i++
			c.Line = c.Line[:len(c.Line)-1] + "\n" + lines[i]
		}
		if ended, ok := strings.CutSuffix(c.Line, `\ `); ok {
			c.Line = ended + `\`
		}
		c.Line = unmetafy(c.Line)
		all = appendCommand(all, c)
	}
	return all
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

// decodeFish reads a fish history: a subset of YAML with a command, its time
// and more for each entry.
func decodeFish(lines []string) []TextCommand {
	unescape := strings.NewReplacer(`\\`, `\`, `\n`, "\n")
	var all []TextCommand
	var c TextCommand
	for _, l := range lines {
		if command, ok := strings.CutPrefix(l, fishCommand); ok {
			all = appendCommand(all, c)
			c = TextCommand{Line: unescape.Replace(command), Duration: -1}
		}
		if when, ok := strings.CutPrefix(l, "  when: "); ok {
			c.At, _ = seconds(strings.TrimSpace(when))
		}
	}
	return appendCommand(all, c)
}

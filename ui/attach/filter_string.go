package attach

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// deviceControl looks at the head of a device control string. Pictures (sixel)
// pass. What else there is asks (DECRQSS, XTGETTCAP), programs keys, or is meant for a
// multiplexer, which would hand on anything.
func (f *filter) deviceControl(p []byte) (n int, v verdict) {
	end, _ := scan(p)
	f.command = false
	switch {
	case end >= sequenceLimit:
		f.inside = insideDropped
		return 2, verdict{}
	case end == len(p):
		return 0, verdict{}
	case p[end] == can || p[end] == sub:
		return end + 1, verdict{}
	case p[end] < 0x40 || p[end] >= 0x7f:
		return end, verdict{}
	}
	_, inner := controls(p[2:end])
	s, ok := parse(inner, p[end])
	if !ok || s.prefix != 0 || s.inter != 0 || s.final != 'q' {
		f.inside = insideDropped
		return end + 1, verdict{}
	}
	f.inside = insidePassed
	return end + 1, verdict{text: "\x1bP" + s.params + "q"}
}

// application looks at the head of an application program command. Pictures in
// kitty's graphics protocol pass, told not to be answered; questions whether there
// are any do not.
func (f *filter) application(p []byte) (n int, v verdict) {
	f.command = false
	if len(p) == 2 {
		return 0, verdict{}
	}
	if p[2] != 'G' {
		f.inside = insideDropped
		return 2, verdict{}
	}
	end := 3
	for end < len(p) && p[end] != ';' && p[end] >= 0x20 && p[end] < 0x7f {
		end++
	}
	switch {
	case end == len(p) && end < sequenceLimit:
		return 0, verdict{}
	case end >= sequenceLimit || p[end] != ';' && p[end] != esc:
		f.inside = insideDropped
		return 3, verdict{}
	}
	keys := strings.Split(string(p[3:end]), ",")
	if slices.Contains(keys, "a=q") {
		f.inside = insideDropped
		return end, verdict{}
	}
	keys = slices.DeleteFunc(keys, func(key string) bool { return key == "" || strings.HasPrefix(key, "q=") })
	f.inside = insidePassed
	return end, verdict{text: "\x1b_G" + strings.Join(append(keys, "q=2"), ",")}
}

// operatingSystem looks at an operating system command. What may be long passes
// as it comes, as soon as it is clear what it is.
func (f *filter) operatingSystem(p []byte) (n int, v verdict) {
	f.command = true
	end := 2
	for end < len(p) && p[end] != esc && p[end] != bel && p[end] != can && p[end] != sub {
		end++
	}
	if passesAsItComes(p[2:min(end, sequenceLimit)]) {
		f.inside = insidePassed
		return 2, verdict{text: "\x1b]"}
	}
	last := p[min(end, len(p)-1)]
	switch {
	case end >= commandLimit:
		f.inside = insideDropped
		return 2, verdict{}
	case end == len(p) || last == esc && end+1 == len(p):
		return 0, verdict{}
	case last == can || last == sub:
		return end + 1, verdict{}
	case last == esc && p[end+1] != '\\':
		return end, verdict{}
	}
	n = end + 1
	if last == esc {
		n++
	}
	text := plainText(p[2:end])
	out := f.commands(text)
	if out == text && p[0] == esc && len(text) == end-2 {
		return n, verdict{keep: true}
	}
	if out != "" {
		v.text = "\x1b]" + out + string(p[end:n])
	}
	return n, v
}

// plainText is p without control characters.
func plainText(p []byte) string {
	var text []byte
	for i := 0; i < len(p); i++ {
		switch {
		case p[i] < 0x20:
		case p[i] == c1 && (i+1 == len(p) || p[i+1] < 0xa0 || p[i+1] > 0xbf):
			if i+1 < len(p) && p[i+1] >= 0x80 && p[i+1] <= 0x9f {
				i++
			}
		default:
			text = append(text, p[i])
		}
	}
	return string(text)
}

// passesAsItComes says that a command that begins so may be long and asks
// nothing: text for the clipboard (OSC 52) and files shown in iTerm2's way.
func passesAsItComes(p []byte) bool {
	if rest, ok := bytes.CutPrefix(p, []byte("52;")); ok {
		_, data, found := bytes.Cut(rest, []byte(";"))
		return found && len(data) > 0 && data[0] > 0x20 && data[0] != '?' && data[0] < 0x7f
	}
	for _, prefix := range [...]string{"1337;File=", "1337;MultipartFile=", "1337;FilePart="} {
		if bytes.HasPrefix(p, []byte(prefix)) {
			return true
		}
	}
	return false
}

// commands says what is written in place of a command that is text, "" for
// nothing.
func (f *filter) commands(text string) string {
	code, rest, _ := strings.Cut(text, ";")
	switch n := number(code); n {
	case 0, 1, 2, 7, 8, 9, 133, 633, 777:
		return text
	case 4, 5:
		return f.palette(code, rest)
	case 10, 11, 12:
		return f.dynamic(n, rest)
	case 104, 105, 110, 111, 112:
		return text
	case 52:
		if _, data, found := strings.Cut(rest, ";"); found && data == "" {
			return text
		}
	case 99:
		return notification(rest)
	case 1337:
		for _, prefix := range [...]string{"CurrentDir=", "RemoteHost=", "ShellIntegrationVersion=", "SetMark", "FileEnd"} {
			if strings.HasPrefix(rest, prefix) {
				return text
			}
		}
	}
	return ""
}

// palette takes the questions out of pairs of a colour's number and what it is
// to be.
func (f *filter) palette(code, pairs string) string {
	fields := strings.Split(pairs, ";")
	kept := code
	for i := 0; i+1 < len(fields); i += 2 {
		if !strings.Contains(fields[i+1], "?") {
			kept += ";" + fields[i] + ";" + fields[i+1]
		}
	}
	if kept == code {
		return ""
	}
	f.colored = true
	return kept
}

// dynamic takes the questions out of a list of what the colours from number n on
// are to be. Behind one, a command of its own begins.
func (f *filter) dynamic(n int, list string) string {
	var commands []string
	goesOn := false
	for i, color := range strings.Split(list, ";") {
		switch {
		case color == "" || strings.Contains(color, "?") || n+i > 12:
			goesOn = false
		case goesOn:
			commands[len(commands)-1] += ";" + color
		default:
			commands = append(commands, strconv.Itoa(n+i)+";"+color)
			goesOn = true
		}
	}
	f.colored = f.colored || len(commands) > 0
	return strings.Join(commands, stringEnd+"\x1b]")
}

// notification takes out of one of kitty's what makes the terminal tell what
// becomes of it.
func notification(text string) string {
	metadata, payload, _ := strings.Cut(text, ";")
	keys := strings.Split(metadata, ":")
	if slices.Contains(keys, "p=?") || slices.Contains(keys, "p=alive") {
		return ""
	}
	keys = slices.DeleteFunc(keys, func(key string) bool {
		return strings.HasPrefix(key, "a=") || strings.HasPrefix(key, "c=")
	})
	return "99;" + strings.Join(keys, ":") + ";" + payload
}

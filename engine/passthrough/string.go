package passthrough

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"tandem/engine/api"
)

// deviceControl looks at the head of a device control string. Pictures (sixel)
// pass. What else there is asks (DECRQSS, XTGETTCAP), programs keys, or is meant for a
// multiplexer, which would hand on anything.
func (f *Filter) deviceControl(p []byte) (n int, v verdict) {
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
	f.Sixel = true
	return end + 1, f.picture("\x1bP" + s.params + "q")
}

// picture lets the string that begins so through, if pictures pass.
func (f *Filter) picture(head string) verdict {
	if f.redrawn {
		f.inside = insideDropped
		return verdict{}
	}
	f.inside, f.room = insidePassed, pictureLimit
	return verdict{text: head}
}

// application looks at the head of an application program command. Pictures in
// kitty's graphics protocol pass if they are all there, told not to be answered.
// Questions whether there are any do not, and neither do names of files and of
// shared memory, which the terminal would read and delete.
func (f *Filter) application(p []byte) (n int, v verdict) {
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
	keys := slices.DeleteFunc(strings.Split(string(p[3:end]), ","), func(key string) bool { return key == "" || strings.HasPrefix(key, "q=") })
	if slices.ContainsFunc(keys, func(key string) bool { return !drawsOnly(key) }) {
		f.inside = insideDropped
		return end, verdict{}
	}
	f.Kitty = f.Kitty || !slices.Contains(keys, "a=d")
	if f.played {
		f.inside = insideDropped
		return end, verdict{}
	}
	return end, f.picture("\x1b_G" + strings.Join(append(keys, "q=2"), ","))
}

// drawsOnly says that a key of kitty's graphics protocol is well formed, and no
// question and no name of something to read.
func drawsOnly(key string) bool {
	if len(key) < 3 || key[0]|0x20 < 'a' || key[0]|0x20 > 'z' || key[1] != '=' || strings.Trim(key[2:], "-0123456789") != "" && len(key) > 3 {
		return false
	}
	return key != "a=q" && (key[0] != 't' || key == "t=d")
}

// operatingSystem looks at an operating system command. What may be long passes
// as it comes, as soon as it is clear what it is.
func (f *Filter) operatingSystem(p []byte) (n int, v verdict) {
	f.command = true
	end := 2
	for end < len(p) && p[end] != esc && p[end] != bel && p[end] != can && p[end] != sub {
		end++
	}
	if f.mayCopy() && copies(p[2:min(end, sequenceLimit)]) {
		f.inside, f.room = insidePassed, clipLimit
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
	if out != "" && p[0] == esc && out == string(p[2:end]) {
		return n, verdict{keep: true}
	}
	if out != "" {
		v.text = "\x1b]" + out + string(p[end:n])
	}
	return n, v
}

// plainText is p without characters that do not show, or that run text
// backwards.
func plainText(p []byte) string {
	return strings.Map(func(r rune) rune {
		const joiner = '\u200d' // of emoji
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != joiner {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(p), "\uFFFD"))
}

// clipLimit bounds a command that puts text on the clipboard.
const clipLimit = api.MaxClip*4/3 + 64

// mayCopy says whether the program may put text on the clipboard. One that is
// long gone may not.
func (f *Filter) mayCopy() bool { return !f.played && !f.NoClipboard }

// copies says that a command that begins so has text for the clipboard (OSC 52)
// and asks nothing. It passes as it comes.
func copies(p []byte) bool {
	text, found := clipboardText(string(p))
	return found && text != "" && text[0] > 0x20 && text[0] != '?' && text[0] < del
}

// clipboardText is what follows the names of clipboards in OSC 52.
func clipboardText(command string) (text string, found bool) {
	rest, found := strings.CutPrefix(command, "52;")
	if !found {
		return "", false
	}
	names, text, found := strings.Cut(rest, ";")
	return text, found && strings.Trim(names, "cpqs01234567") == ""
}

// commands says what is written in place of a command that is text, "" for
// nothing. iTerm2's files and marks (1337), the working directory (7) and shell marks
// (133, 633) are dropped: they are meant for the engine.
func (f *Filter) commands(text string) string {
	code, rest, _ := strings.Cut(text, ";")
	n := number(code)
	if strconv.Itoa(n) != code {
		return "" // as nobody writes it
	}
	switch n {
	case 0, 1, 2:
		return code + ";" + title(rest)
	case 4:
		return f.palette(code, rest)
	case 8:
		return hyperlink(rest)
	case 10, 11, 12:
		return f.dynamic(n, rest)
	case 104, 110, 111, 112:
		return text
	case 9, 99, 777:
		return f.notification(n, rest)
	case 52:
		if clip, found := clipboardText(text); found && clip == "" && f.mayCopy() {
			return text
		}
	}
	return ""
}

// titleLimit bounds a title, in bytes.
const titleLimit = 1024

func title(text string) string {
	if len(text) <= titleLimit {
		return text
	}
	return strings.ToValidUTF8(text[:titleLimit], "") // the last character may be cut
}

// hyperlink leaves out targets that a click would not take to the web or to a
// mail, and those that have to be written otherwise. The text of the link stays.
func hyperlink(link string) string {
	const none = "8;;"
	_, target, _ := strings.Cut(link, ";")
	scheme, _, _ := strings.Cut(target, ":")
	switch strings.ToLower(scheme) {
	case "http", "https", "mailto":
	default:
		return none
	}
	if strings.IndexFunc(link, func(r rune) bool { return r <= ' ' || r >= del }) >= 0 {
		return none
	}
	return "8;" + link
}

// palette takes the questions out of pairs of a colour's number and what it is
// to be.
func (f *Filter) palette(code, pairs string) string {
	fields := strings.Split(pairs, ";")
	kept := code
	for i := 0; i+1 < len(fields); i += 2 {
		if n := number(fields[i]); n >= 0 && n < 256 && !strings.Contains(fields[i+1], "?") {
			kept += ";" + fields[i] + ";" + fields[i+1]
		}
	}
	if kept == code {
		return ""
	}
	f.Colored = true
	return kept
}

// dynamic takes the questions out of a list of what the colours from number n on
// are to be. Behind one, a command of its own begins.
func (f *Filter) dynamic(n int, list string) string {
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
	f.Colored = f.Colored || len(commands) > 0
	return strings.Join(commands, stringEnd+"\x1b]")
}

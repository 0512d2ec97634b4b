package passthrough

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// filterDCS filters the head of a device control string. Sixel pictures pass. All other strings are
// dropped: they query the terminal (DECRQSS, XTGETTCAP), redefine keys, or address a multiplexer,
// which would pass on anything.
func (f *Filter) filterDCS(p []byte) (n int, v verdict) {
	end, _ := findFinal(p)
	f.command = false
	switch {
	case end >= maxSequence:
		f.inside = insideDropped
		return 2, verdict{}
	case end == len(p):
		return 0, verdict{}
	case p[end] == can || p[end] == sub:
		return end + 1, verdict{}
	case p[end] < 0x40 || p[end] >= 0x7f:
		return end, verdict{}
	}
	_, inner := splitControls(p[2:end])
	s, ok := parseControl(inner, p[end])
	if !ok || s.prefix != 0 || s.inter != 0 || s.final != 'q' {
		f.inside = insideDropped
		return end + 1, verdict{}
	}
	f.Sixel = true
	return end + 1, f.startPicture("\x1bP" + s.params + "q")
}

// startPicture passes the string with this head, if pictures pass.
func (f *Filter) startPicture(head string) verdict {
	if f.redrawn {
		f.inside = insideDropped
		return verdict{}
	}
	f.inside, f.room, f.Payload = insidePassed, maxPicture, true
	return verdict{text: head}
}

// filterAPC filters the head of an application program command. Pictures in the kitty graphics
// protocol pass if their data is included, with replies disabled. Queries for support do not pass,
// nor do names of files and shared memory, which the terminal would read and delete.
func (f *Filter) filterAPC(p []byte) (n int, v verdict) {
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
	case end == len(p) && end < maxSequence:
		return 0, verdict{}
	case end >= maxSequence || p[end] != ';' && p[end] != esc:
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
	return end, f.startPicture("\x1b_G" + strings.Join(append(keys, "q=2"), ","))
}

// drawsOnly reports whether a key of the kitty graphics protocol is well formed, and neither a
// query nor the name of something to read.
func drawsOnly(key string) bool {
	if len(key) < 3 || key[0]|0x20 < 'a' || key[0]|0x20 > 'z' || key[1] != '=' || strings.Trim(key[2:], "-0123456789") != "" && len(key) > 3 {
		return false
	}
	return key != "a=q" && (key[0] != 't' || key == "t=d")
}

// filterOSC filters an operating system command. Long ones pass in pieces, as soon as their kind is
// known.
func (f *Filter) filterOSC(p []byte) (n int, v verdict) {
	f.command = true
	end := 2
	for end < len(p) && p[end] != esc && p[end] != bel && p[end] != can && p[end] != sub {
		end++
	}
	// Checked before the length, because clipboard text may be longer than maxCommand.
	if f.mayCopy() && isCopy(p[2:min(end, maxSequence)]) {
		f.inside, f.room, f.Payload = insidePassed, f.maxCopy(), true
		return 2, verdict{text: "\x1b]"}
	}
	last := p[min(end, len(p)-1)]
	switch {
	case end >= maxCommand:
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
	out := f.filterCommand(text)
	// Pass the original bytes, so that no copy is made.
	if out != "" && p[0] == esc && out == string(p[2:end]) {
		return n, verdict{keep: true}
	}
	if out != "" {
		v.text = "\x1b]" + out + string(p[end:n])
	}
	return n, v
}

// plainText returns p without invisible characters and those that reverse the text direction.
func plainText(p []byte) string {
	return strings.Map(func(r rune) rune {
		const joiner = '\u200d' // joins emoji
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != joiner {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(p), "\uFFFD"))
}

// maxCopy bounds a command that writes to the clipboard: its text is in base64.
func (f *Filter) maxCopy() int { return f.MaxClip*4/3 + 64 }

// mayCopy reports whether the program may write to the clipboard. A recorded one may not.
func (f *Filter) mayCopy() bool { return !f.played && f.MaxClip > 0 }

// isCopy reports whether a command that starts with p writes to the clipboard (OSC 52) rather than
// querying it. It passes in pieces.
func isCopy(p []byte) bool {
	text, found := clipboardText(string(p))
	return found && text != "" && text[0] > 0x20 && text[0] != '?' && text[0] < del
}

// clipboardText returns the text after the clipboard names in OSC 52.
func clipboardText(command string) (text string, found bool) {
	rest, found := strings.CutPrefix(command, "52;")
	if !found {
		return "", false
	}
	names, text, found := strings.Cut(rest, ";")
	return text, found && strings.Trim(names, "cpqs01234567") == ""
}

// filterCommand returns the replacement of a text command, or "" to drop it. iTerm2's files and
// marks (1337), the working directory (7) and shell marks (133, 633) are dropped, because they are
// meant for the engine.
func (f *Filter) filterCommand(text string) string {
	code, rest, _ := strings.Cut(text, ";")
	n := parseNumber(code)
	if strconv.Itoa(n) != code {
		// No program writes it this way.
		return ""
	}
	switch n {
	case 0, 1, 2:
		return code + ";" + truncateTitle(rest)
	case 4:
		return f.filterPalette(code, rest)
	case 8:
		return filterHyperlink(rest)
	case 10, 11, 12:
		return f.filterColors(n, rest)
	case 104, 110, 111, 112:
		return text
	case 9, 99, 777:
		return f.filterNotification(n, rest)
	case 52:
		if clip, found := clipboardText(text); found && clip == "" && f.mayCopy() {
			return text
		}
	}
	return ""
}

// maxTitle bounds a title, in bytes.
const maxTitle = 1024

func truncateTitle(text string) string {
	if len(text) <= maxTitle {
		return text
	}
	// The last character may be cut.
	return strings.ToValidUTF8(text[:maxTitle], "")
}

// filterHyperlink drops targets other than web and mail links, and targets with characters that
// need escaping. The link's text stays.
func filterHyperlink(link string) string {
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

// filterPalette drops the queries from pairs of a colour number and its value.
func (f *Filter) filterPalette(code, pairs string) string {
	fields := strings.Split(pairs, ";")
	kept := code
	for i := 0; i+1 < len(fields); i += 2 {
		if n := parseNumber(fields[i]); n >= 0 && n < 256 && !strings.Contains(fields[i+1], "?") {
			kept += ";" + fields[i] + ";" + fields[i+1]
		}
	}
	if kept == code {
		return ""
	}
	f.Colored = true
	return kept
}

// filterColors drops the queries from a list of values for the colours from number n on. After a
// query, a new command starts.
func (f *Filter) filterColors(n int, list string) string {
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

package api

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The name of a file can be any bytes but "/" and NUL. Where one is written to
// be read, and edited or handed back, escapes stand for what cannot be seen:
// \n, \r and \t, \xff for any other control and for a byte that is not UTF-8,
// \u202e and \U000e0001 for characters, and \\ for a backslash. Go, C and Python
// read them in the same way.
//
// A person gets a name with escapes in a field of its own, without quotes, and
// only if it has to be edited; what else needs escapes there is what a terminal
// cannot draw (panes.EscapeName). Agents get names in lines among other text:
// one with escapes stands in double quotes (strconv.Quote), and is taken so. Both are
// read by ParseName. Between programs, where all names look alike, paths are
// written by EscapePath, which every JSON parser leaves alone.

// AppendEscaped appends the escapes of the characters of a name. Of ASCII what
// can be seen stands for itself.
func AppendEscaped(dst []byte, name string) []byte {
	for name != "" {
		r, n := utf8.DecodeRuneInString(name)
		letter := strings.IndexRune("\\\n\r\t", r)
		switch {
		case r == utf8.RuneError && n == 1:
			dst = fmt.Appendf(dst, `\x%02x`, name[0])
		case letter >= 0:
			dst = append(dst, '\\', `\nrt`[letter])
		case r > ' ' && r < 0x7f:
			dst = append(dst, name[0])
		case r < utf8.RuneSelf:
			dst = fmt.Appendf(dst, `\x%02x`, r)
		case r > 0xffff:
			dst = fmt.Appendf(dst, `\U%08x`, r)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
		name = name[n:]
	}
	return dst
}

// UnquoteName is the name that strconv.Quote wrote; ok is false for anything else.
func UnquoteName(text string) (name string, ok bool) {
	inside, begins := strings.CutPrefix(text, `"`)
	inside, ends := strings.CutSuffix(inside, `"`)
	if !begins || !ends {
		return "", false
	}
	for rest := inside; ; { // a quote inside has a backslash before it
		at := strings.IndexAny(rest, `"\`)
		if at < 0 {
			break
		}
		if rest[at] == '"' || at+1 == len(rest) {
			return "", false
		}
		rest = rest[at+2:]
	}
	name, err := ParseName(inside)
	return name, err == nil
}

// ParseName reads a name that has escapes. It takes all those that Go has, and
// \e. Its error is one for the person, on one line.
func ParseName(text string) (string, error) {
	var out strings.Builder
	for {
		plain, rest, found := strings.Cut(text, `\`)
		out.WriteString(plain)
		if !found {
			return out.String(), nil
		}
		n, err := parseEscape(&out, rest)
		if err != nil {
			return "", err
		}
		text = rest[n:]
	}
}

// parseEscape reads what stands behind a backslash and returns its length.
func parseEscape(out *strings.Builder, s string) (int, error) {
	if s == "" {
		return 0, fmt.Errorf(`\ stands alone; \\ is a backslash`)
	}
	if letter := strings.IndexByte(`\"'nrteabfv`, s[0]); letter >= 0 {
		out.WriteByte("\\\"'\n\r\t\x1b\a\b\f\v"[letter])
		return 1, nil
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	if digits == 0 {
		_, n := utf8.DecodeRuneInString(s)
		return 0, fmt.Errorf(`\%s stands for nothing; \\ is a backslash`, s[:n])
	}
	value, err := strconv.ParseUint(s[1:min(1+digits, len(s))], 16, 32)
	if err != nil || len(s) < 1+digits || digits > 2 && !utf8.ValidRune(rune(value)) || value == 0 {
		return 0, fmt.Errorf(`\%c wants %d hexadecimal digits of a character`, s[0], digits)
	}
	if digits == 2 {
		out.WriteByte(byte(value))
	} else {
		out.WriteRune(rune(value))
	}
	return 1 + digits, nil
}

// TildePath returns a path with the home directory as "~".
func TildePath(path, home string) string {
	if home == "" || home == "/" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(home, "/")); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}

// NewID makes an id like those of sessions, processes and clients: 12 lower-case hex
// digits that no other has.
func NewID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

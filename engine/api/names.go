package api

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A file name can contain any bytes except "/" and NUL, but users and agents must be able to read
// it, edit it and send it back. Invisible characters are therefore escaped: \n, \r and \t; \xff for
// other controls and for bytes of invalid UTF-8; \u202e and \U000e0001 for other characters; \\ for
// a backslash. Go, C and Python parse these escapes alike.
//
// Users see escapes without quotes, in an input field for one name, and only while editing it.
// Elsewhere only characters that cannot be drawn are escaped (panes.EscapeName). Agents see names
// within other text, so an escaped name is in double quotes (strconv.Quote), in input too.
// ParseName reads both forms. Programs exchange paths in the form of EscapePath, because JSON
// parsers leave percent signs unchanged.

// UnquoteName undoes strconv.Quote. ok is false if text was not quoted by it.
func UnquoteName(text string) (name string, ok bool) {
	inside, begins := strings.CutPrefix(text, `"`)
	inside, ends := strings.CutSuffix(inside, `"`)
	if !begins || !ends {
		return "", false
	}
	for rest := inside; ; { // reject a quote without a backslash before it
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

// ParseName decodes the escapes in a name: those of Go, and \e. The error is one line that can be
// shown to the user.
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

// parseEscape decodes the escape at the start of s, after its backslash, and appends the result to
// out. It returns the length of the escape.
func parseEscape(out *strings.Builder, s string) (int, error) {
	if s == "" {
		return 0, fmt.Errorf(`a lone \; write \\ for a backslash`)
	}
	if letter := strings.IndexByte(`\"'nrteabfv`, s[0]); letter >= 0 {
		out.WriteByte("\\\"'\n\r\t\x1b\a\b\f\v"[letter])
		return 1, nil
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	if digits == 0 {
		_, n := utf8.DecodeRuneInString(s)
		return 0, fmt.Errorf(`unknown escape \%s; write \\ for a backslash`, s[:n])
	}
	value, err := strconv.ParseUint(s[1:min(1+digits, len(s))], 16, 32)
	if err != nil || len(s) < 1+digits || digits > 2 && !utf8.ValidRune(rune(value)) || value == 0 {
		return 0, fmt.Errorf(`\%c needs %d hexadecimal digits of a character`, s[0], digits)
	}
	if digits == 2 {
		out.WriteByte(byte(value))
	} else {
		out.WriteRune(rune(value))
	}
	return 1 + digits, nil
}

// TildePath abbreviates the home directory at the start of path to "~".
func TildePath(path, home string) string {
	if home == "" || home == "/" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, strings.TrimSuffix(home, "/")); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}

// NewID returns a random id for a session, process or client: 12 lower-case hex digits.
func NewID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

package panes

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"tandem/cellwidth"
)

// EscapesNote tells a person how EscapeName writes.
const EscapesNote = `\n \e \xFF \u202E are what cannot be shown, \\ is a backslash`

// NeedsEscapes reports whether a name, or a path, holds something that cannot
// be edited as it is: bytes that are not UTF-8, controls, what is invisible or
// turns text around, and spaces at its ends.
func NeedsEscapes(name string) bool {
	return FileName(name) != name || strings.Trim(name, " ") != name
}

// EscapeName writes a name so that all of it can be seen and edited; ParseName
// reads it again.
func EscapeName(name string) string {
	var out strings.Builder
	last := "" // that was written: what comes next must not become a part of it
	for at := 0; at < len(name); {
		cluster := nextCluster(name[at:])
		atEnd := at == 0 || at+len(cluster) == len(name)
		at += len(cluster)
		switch {
		case cluster[0] == '\\':
			out.WriteString(`\\`)
			escapeInto(&out, cluster[1:])
			cluster = "0" // as any end of an escape
		case FileName(last+cluster) != last+cluster || cluster[0] == ' ' && atEnd:
			escapeInto(&out, cluster)
			cluster = "0"
		default:
			out.WriteString(cluster)
		}
		last = cluster
	}
	return out.String()
}

// nextCluster is what s begins with that is one character to a person.
func nextCluster(s string) string {
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return s[:1]
	}
	return cellwidth.Cluster(s)
}

func escapeInto(out *strings.Builder, s string) {
	short := map[rune]byte{'\n': 'n', '\r': 'r', '\t': 't', '\x1b': 'e'}
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		letter, known := short[r]
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(out, `\x%02X`, s[0])
		case known:
			out.WriteString(`\` + string(rune(letter)))
		case r > ' ' && r < 0x7f && r != '\\': // it is what follows that cannot be shown
			out.WriteRune(r)
		case r < utf8.RuneSelf:
			fmt.Fprintf(out, `\x%02X`, r)
		case r > 0xffff:
			fmt.Fprintf(out, `\U%08X`, r)
		default:
			fmt.Fprintf(out, `\u%04X`, r)
		}
		s = s[n:]
	}
}

// ParseName is the name that EscapeName wrote. Its error is one for the person,
// on one line.
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
	if letter := strings.IndexByte(`\nrte`, s[0]); letter >= 0 {
		out.WriteByte("\\\n\r\t\x1b"[letter])
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

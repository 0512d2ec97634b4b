package keys

import (
	"strings"
	"unicode"
)

// The marks around a bracketed paste (mode 2004).
const (
	PasteStart = "\x1b[200~"
	PasteEnd   = "\x1b[201~"
)

const (
	// pasteEndC1 is the end mark with the 8-bit CSI, which a terminal in UTF-8 mode may accept too.
	pasteEndC1 = "\u009b201~"
)

// EncodePaste appends text as a paste. In bracketed mode, end marks inside text are removed, so
// that a paste cannot leave its brackets; otherwise line ends become carriage returns, as if typed.
func EncodePaste(dst []byte, text string, m Modes) []byte {
	if !m.BracketedPaste {
		return appendAsTyped(dst, text)
	}
	dst = append(dst, PasteStart...)
	dst = appendWithoutEnd(dst, text)
	return append(dst, PasteEnd...)
}

func appendAsTyped(dst []byte, text string) []byte {
	for i := range len(text) {
		switch {
		case text[i] != '\n':
			dst = append(dst, text[i])
		case i == 0 || text[i-1] != '\r':
			dst = append(dst, '\r')
		}
	}
	return dst
}

// appendWithoutEnd appends text without the sequence that ends a paste. Removing one may form
// another, which is removed as well.
func appendWithoutEnd(dst []byte, text string) []byte {
	if !strings.Contains(text, "201~") {
		return append(dst, text...)
	}
	start := len(dst)
	for i := range len(text) {
		dst = append(dst, text[i])
		if text[i] != '~' {
			continue
		}
		// Checking only at a ~, and against the output, also finds marks that earlier removals put
		// together.
		tail := dst[start:]
		for _, end := range [...]string{PasteEnd, pasteEndC1} {
			if strings.HasSuffix(string(tail[max(0, len(tail)-len(end)):]), end) {
				dst = dst[:len(dst)-len(end)]
				break
			}
		}
	}
	return dst
}

// InsertionText returns text that is safe to type at a prompt: without control characters except
// tabs and line breaks between its lines.
func InsertionText(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	return strings.TrimRight(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text), "\n")
}

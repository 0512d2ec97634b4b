package project

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName is the longest name of an entry, in characters.
const maxName = 56

// goodName reports whether the engine takes a name, with room for a number
// behind it.
func goodName(s string) bool {
	return strings.TrimSpace(s) == s && s != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxName &&
		strings.IndexFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }) < 0 && !likeID(s)
}

// badName says why a name is no good one.
func badName(s string) string {
	switch {
	case s == "":
		return "its name is empty"
	case likeID(s):
		return "its name looks like an id"
	case utf8.RuneCountInString(s) > maxName:
		return fmt.Sprintf("its name has more than %d characters", maxName)
	case strings.TrimSpace(s) != s:
		return "its name begins or ends with a blank"
	}
	return "its name has characters that cannot be shown"
}

// likeID reports whether a name could be taken for an id.
func likeID(s string) bool { return len(s) == 12 && strings.Trim(s, "0123456789abcdef") == "" }

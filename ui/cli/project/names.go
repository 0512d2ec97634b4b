package project

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxName      = 56 // characters of an entry's name
	maxShownName = 40 // characters of a bad name in a message
)

// goodName reports whether the engine takes a name, with room for a number
// behind it.
func goodName(s string) bool {
	return strings.TrimSpace(s) == s && s != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= maxName &&
		strings.IndexFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }) < 0 && !likeID(s)
}

// badName says which rule a name breaks.
func badName(s string) string {
	switch {
	case s == "":
		return "a name must not be empty"
	case likeID(s):
		return "a name must not look like an id"
	case utf8.RuneCountInString(s) > maxName:
		return fmt.Sprintf("a name must have at most %d characters", maxName)
	case strings.TrimSpace(s) != s:
		return "a name must not begin or end with a blank"
	}
	return "a name must consist of characters that can be shown"
}

// shownName quotes a name; of a long one the beginning.
func shownName(s string) string {
	if runes := []rune(s); len(runes) > maxShownName {
		s = string(runes[:maxShownName]) + "…"
	}
	return strconv.Quote(s)
}

// likeID reports whether a name could be taken for an id.
func likeID(s string) bool { return len(s) == 12 && strings.Trim(s, "0123456789abcdef") == "" }

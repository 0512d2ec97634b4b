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
func goodName(s string) bool { return badName(s) == "" }

// badName returns the rule that a name breaks; "" for a good one.
func badName(s string) string {
	switch {
	case s == "":
		return "a name must not be empty"
	case len(s) == 12 && strings.Trim(s, "0123456789abcdef") == "":
		return "a name must not look like an id"
	case utf8.RuneCountInString(s) > maxName:
		return fmt.Sprintf("a name must have at most %d characters", maxName)
	case strings.TrimSpace(s) != s:
		return "a name must not begin or end with a blank"
	case !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }):
		return "a name must consist of characters that can be shown"
	}
	return ""
}

// shownName quotes a name; of a long one the beginning.
func shownName(s string) string {
	if runes := []rune(s); len(runes) > maxShownName {
		s = string(runes[:maxShownName]) + "…"
	}
	return strconv.Quote(s)
}

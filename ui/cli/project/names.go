package project

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxName       = 56 // characters of an entry's name
	maxQuotedName = 40 // characters of an invalid name in a message
)

// isValidName reports whether the engine accepts a name, with a number appended if necessary.
func isValidName(s string) bool { return nameError(s) == "" }

// nameError returns the rule broken by a name, or "" for a valid one.
func nameError(s string) string {
	switch {
	case s == "":
		return "a name must not be empty"
	// The engine could not tell such a name from an id.
	case len(s) == 12 && strings.Trim(s, "0123456789abcdef") == "":
		return "a name must not look like an id"
	case utf8.RuneCountInString(s) > maxName:
		return fmt.Sprintf("a name must have at most %d characters", maxName)
	case strings.TrimSpace(s) != s:
		return "a name must not begin or end with a blank"
	case !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }):
		return "a name must consist of printable characters"
	}
	return ""
}

// quoteName quotes a name for a message and shortens a long one.
func quoteName(s string) string {
	if runes := []rune(s); len(runes) > maxQuotedName {
		s = string(runes[:maxQuotedName]) + "…"
	}
	return strconv.Quote(s)
}

// Package format expands tmux's formats: #{…} with variables, conditions, comparisons and times, and
// short forms such as #S. The caller supplies the variables through a Scope.
package format

import (
	"strconv"
	"strings"
	"time"
)

// maxDepth is how deep formats may nest.
const maxDepth = 100

// A Scope supplies the variables of a format. Only Lookup is required.
type Scope struct {
	Lookup      func(name string) (value string, ok bool)
	Unsupported func(feature string) // called for each unsupported feature of a format; may be nil

	depth int
}

func (s Scope) reportUnsupported(feature string) string {
	if s.Unsupported != nil {
		s.Unsupported(feature)
	}
	return ""
}

// alias returns the variable of a short form such as #S, or "".
func alias(letter byte) string {
	return map[byte]string{
		'D': "pane_id", 'F': "window_flags", 'H': "host", 'h': "host_short", 'I': "window_index",
		'P': "pane_index", 'S': "session_name", 'T': "pane_title", 'W': "window_name",
	}[letter]
}

// Expand returns text with its formats expanded. Unknown variables are empty, and so is everything
// nested deeper than maxDepth.
func (s Scope) Expand(text string) string {
	if s.depth > maxDepth {
		return ""
	}
	s.depth++
	var b strings.Builder
	for {
		plain, rest, found := strings.Cut(text, "#")
		b.WriteString(plain)
		if !found || rest == "" {
			if found {
				b.WriteByte('#')
			}
			return b.String()
		}
		text = s.expandSpecial(&b, rest)
	}
}

// expandSpecial expands the form following a # into b and returns the unread text.
func (s Scope) expandSpecial(b *strings.Builder, rest string) string {
	switch c := rest[0]; {
	case c == '{':
		end := indexOutside(rest[1:], "}")
		if end < 0 {
			return ""
		}
		b.WriteString(s.expandBraces(rest[1 : 1+end]))
		return rest[end+2:]
	case c == '(':
		return s.reportUnsupported("#(…)")
	case c == '#' || c == '}' || c == ',':
		b.WriteByte(c)
	case alias(c) != "":
		value, _ := s.Lookup(alias(c))
		b.WriteString(value)
	default:
		b.WriteString("#")
		b.WriteByte(c)
	}
	return rest[1:]
}

// expandBraces expands key, the inside of #{…}.
func (s Scope) expandBraces(key string) string {
	if condition, ok := strings.CutPrefix(key, "?"); ok {
		return s.expandCondition(condition)
	}
	modifier, rest, modified := strings.Cut(key, ":")
	switch {
	case !modified:
		value, _ := s.Lookup(key)
		return value
	case modifier == "==":
		left, right := cutOutside(rest)
		if s.Expand(left) == s.Expand(right) {
			return "1"
		}
		return "0"
	case modifier == "t":
		value, _ := s.Lookup(rest)
		return formatTime(value)
	}
	return s.reportUnsupported("modifier " + modifier)
}

// expandCondition expands the inside of #{?condition,yes,no}.
func (s Scope) expandCondition(text string) string {
	condition, rest := cutOutside(text)
	yes, no := cutOutside(rest)
	value, found := s.Lookup(condition)
	if !found {
		// Not a variable, so a format. Plain text without one is an unknown variable: false.
		if value = s.Expand(condition); value == condition {
			value = ""
		}
	}
	if IsTrue(value) {
		return s.Expand(yes)
	}
	return s.Expand(no)
}

// cutOutside splits text at its first comma outside of #{…}.
func cutOutside(text string) (before, after string) {
	if i := indexOutside(text, ","); i >= 0 {
		return text[:i], text[i+1:]
	}
	return text, ""
}

// indexOutside returns the index of the first of the bytes in ends outside of #{…}, or -1.
func indexOutside(text, ends string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "#{"):
			depth++
			i++
		case text[i] == '#' && i+1 < len(text) && strings.IndexByte(",#}:", text[i+1]) >= 0:
			i++
		case depth <= 0 && strings.IndexByte(ends, text[i]) >= 0:
			return i
		case text[i] == '}':
			depth--
		}
	}
	return -1
}

// IsTrue reports whether value counts as true in a condition: it is neither empty nor 0.
func IsTrue(value string) bool { return value != "" && value != "0" }

// formatTime formats seconds since 1970 in local time; 0 and invalid numbers give "".
func formatTime(value string) string {
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil || seconds == 0 {
		return ""
	}
	return time.Unix(seconds, 0).Format(time.ANSIC)
}

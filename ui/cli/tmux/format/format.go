// Package format expands tmux's formats: #{…} with variables, conditions, comparisons and
// modifiers, and short forms such as #S. The caller supplies the variables through a Scope.
package format

import (
	"strings"
	"sync"
	"time"
)

// maxDepth is how deep formats may nest.
const maxDepth = 100

// A Scope supplies the variables of a format. Only Lookup is required.
type Scope struct {
	Lookup      func(name string) (value string, ok bool)
	Unsupported func(feature string) // called for each unsupported feature of a format; may be nil
	Now         time.Time            // time to expand in ExpandTime

	depth int
}

func (s Scope) reportUnsupported(feature string) {
	if s.Unsupported != nil {
		s.Unsupported(feature)
	}
}

// aliases maps the letters of short forms to variables.
var aliases = sync.OnceValue(func() map[byte]string {
	return map[byte]string{
		'D': "pane_id", 'F': "window_flags", 'H': "host", 'h': "host_short", 'I': "window_index",
		'P': "pane_index", 'S': "session_name", 'T': "pane_title", 'W': "window_name",
	}
})

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
		s.reportUnsupported("#(…)")
		return ""
	case c == '#':
		n := 1 + len(rest) - len(strings.TrimLeft(rest, "#")) // including the one before rest
		after := rest[n-1:]
		b.WriteString(strings.Repeat("#", n/2))
		if n%2 == 1 {
			return "#" + after
		}
		return after
	case c == '}' || c == ',':
		b.WriteByte(c)
	case aliases()[c] != "":
		value, _ := s.Lookup(aliases()[c])
		b.WriteString(value)
	default:
		b.WriteString("#")
		b.WriteByte(c)
	}
	return rest[1:]
}

// ExpandTime expands the conversions of strftime, such as %H, for s.Now. Unknown ones are kept. Call
// it before Expand, as tmux does, so that values of variables are left alone.
func (s Scope) ExpandTime(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	now := s.Now
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		layout := ""
		if text[i] == '%' && i+1 < len(text) {
			layout = timeLayouts()[text[i+1]]
		}
		if layout == "" {
			b.WriteByte(text[i])
			continue
		}
		i++
		b.WriteString(now.Format(layout))
	}
	return b.String()
}

var timeLayouts = sync.OnceValue(func() map[byte]string {
	return map[byte]string{
		'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'd': "02", 'e': "_2", 'H': "15", 'I': "03", 'j': "002",
		'm': "01", 'M': "04", 'p': "PM", 'S': "05", 'y': "06", 'Y': "2006", 'Z': "MST", 'z': "-0700",
		'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06", 'c': time.ANSIC, 'x': "01/02/06", 'X': "15:04:05",
		'h': "Jan", '%': "%",
	}
})

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

// expandOperands splits text at its comma and expands both sides.
func (s Scope) expandOperands(text string) (left, right string) {
	l, r := text, ""
	if i := indexOutside(text, ","); i >= 0 {
		l, r = text[:i], text[i+1:]
	}
	return s.Expand(l), s.Expand(r)
}

// IsTrue reports whether value counts as true in a condition: it is neither empty nor 0.
func IsTrue(value string) bool { return value != "" && value != "0" }

func formatBool(ok bool) string {
	if ok {
		return "1"
	}
	return "0"
}

// expandCondition expands the inside of #{?condition,yes,no}.
func (s Scope) expandCondition(text string) string {
	i := indexOutside(text, ",")
	if i < 0 {
		return ""
	}
	condition, rest := text[:i], text[i+1:]
	value, found := s.Lookup(condition)
	if !found {
		// Not a variable, so a format. Plain text without one is an unknown variable: false.
		if value = s.Expand(condition); value == condition {
			value = ""
		}
	}
	yes, no := rest, ""
	if j := indexOutside(rest, ","); j >= 0 {
		yes, no = rest[:j], rest[j+1:]
	}
	if IsTrue(value) {
		return s.Expand(yes)
	}
	return s.Expand(no)
}

// Package format expands tmux's formats: #{…} with variables, conditions, comparisons and
// modifiers, and the short forms such as #S. What a variable is worth is asked of a Scope.
package format

import (
	"strings"
	"sync"
	"time"
)

// deepest bounds formats within formats.
const deepest = 100

// A Scope is what a format is expanded for. Only Lookup is needed.
type Scope struct {
	Lookup func(name string) (value string, ok bool)
	// Refuse is told what of a format is not supported; it may be nil.
	Refuse func(what string)
	Now    time.Time

	depth int
}

func (s Scope) refuse(what string) {
	if s.Refuse != nil {
		s.Refuse(what)
	}
}

// aliases are the short forms.
var aliases = sync.OnceValue(func() map[byte]string {
	return map[byte]string{
		'D': "pane_id", 'F': "window_flags", 'H': "host", 'h': "host_short", 'I': "window_index",
		'P': "pane_index", 'S': "session_name", 'T': "pane_title", 'W': "window_name",
	}
})

// Expand is the format with everything in it replaced.
func (s Scope) Expand(text string) string {
	if s.depth > deepest {
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
		text = s.special(&b, rest)
	}
}

// special expands what follows a #, and gives what comes after it.
func (s Scope) special(b *strings.Builder, rest string) string {
	switch c := rest[0]; {
	case c == '{':
		end := skip(rest[1:], "}")
		if end < 0 {
			return ""
		}
		b.WriteString(s.replace(rest[1 : 1+end]))
		return rest[end+2:]
	case c == '(':
		s.refuse("#(…)")
		return ""
	case c == '#':
		n := 1 + len(rest) - len(strings.TrimLeft(rest, "#")) // with the one before
		after := rest[n-1:]
		if strings.HasPrefix(after, "[") { // a style keeps what escapes it
			if n%2 == 0 {
				b.WriteString(strings.Repeat("#", n/2*2) + "[")
				return after[1:]
			}
			b.WriteString(strings.Repeat("#", n-1))
			return "#" + after
		}
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

// Time expands what strftime knows, as tmux does before the rest of a message.
func (s Scope) Time(text string) string {
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

// skip returns where the first of some bytes stands outside of #{…}; -1 if nowhere.
func skip(text, ends string) int {
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

// halves are the two expanded sides of what has a comma between.
func (s Scope) halves(text string) (left, right string) {
	l, r := text, ""
	if i := skip(text, ","); i >= 0 {
		l, r = text[:i], text[i+1:]
	}
	return s.Expand(l), s.Expand(r)
}

// Truth reports what a format counts as in a condition.
func Truth(value string) bool { return value != "" && value != "0" }

func truth(ok bool) string {
	if ok {
		return "1"
	}
	return "0"
}

// condition is #{?…,…,…}.
func (s Scope) condition(text string) string {
	i := skip(text, ",")
	if i < 0 {
		return ""
	}
	what, rest := text[:i], text[i+1:]
	value, found := s.Lookup(what)
	if !found {
		if value = s.Expand(what); value == what {
			value = ""
		}
	}
	yes, no := rest, ""
	if j := skip(rest, ","); j >= 0 {
		yes, no = rest[:j], rest[j+1:]
	}
	if Truth(value) {
		return s.Expand(yes)
	}
	return s.Expand(no)
}

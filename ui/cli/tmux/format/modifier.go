package format

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// A modifier is one of the operators before the colon of #{…:…}.
type modifier struct {
	name string
	args []string
}

func (m modifier) arg(i int) string {
	if i < len(m.args) {
		return m.args[i]
	}
	return ""
}

// parseModifiers splits key, the inside of #{…}, into modifiers and the rest after the colon. Without
// valid modifiers, rest is key.
func parseModifiers(key string) (mods []modifier, rest string) {
	i := 0
	for i < len(key) && key[i] != ':' {
		if key[i] == ';' {
			i++
			continue
		}
		m, n := parseModifier(key[i:])
		if n == 0 {
			return nil, key
		}
		mods = append(mods, m)
		i += n
	}
	if i >= len(key) {
		return nil, key
	}
	return mods, key[i+1:]
}

func endsModifier(text string, i int) bool {
	return i < len(text) && (text[i] == ';' || text[i] == ':')
}

// parseModifier parses the modifier at the start of text and returns its length; 0 if there is none.
func parseModifier(text string) (m modifier, n int) {
	if strings.IndexByte("labcdnwETSWP<>", text[0]) >= 0 && endsModifier(text, 1) {
		return modifier{name: text[:1]}, 1
	}
	for _, two := range []string{"||", "&&", "!=", "==", "<=", ">="} {
		if strings.HasPrefix(text, two) && endsModifier(text, 2) {
			return modifier{name: two}, 2
		}
	}
	if strings.IndexByte("mCNst=peq", text[0]) < 0 {
		return m, 0
	}
	m.name = text[:1]
	switch {
	case endsModifier(text, 1):
		return m, 1
	case len(text) < 2:
		return m, 0
	// A letter, digit or minus is a single argument (=10, p-6); punctuation is a delimiter (s/a/b/).
	case !unicode.IsPunct(rune(text[1])) && !unicode.IsSymbol(rune(text[1])) || text[1] == '-':
		end := indexOutside(text[1:], ":;")
		if end < 0 {
			return m, 0
		}
		m.args = []string{text[1 : 1+end]}
		return m, 1 + end
	}
	return parseDelimited(m, text)
}

// parseDelimited parses the arguments of m in text, as in s/a/b/. Their delimiter is the byte after
// the modifier's letter.
func parseDelimited(m modifier, text string) (modifier, int) {
	delimiter := text[1:2]
	i := 2
	for {
		end := indexOutside(text[i:], delimiter+":;")
		if end < 0 {
			return m, 0
		}
		m.args = append(m.args, text[i:i+end])
		i += end
		if text[i] != delimiter[0] {
			return m, i
		}
		i++
		if endsModifier(text, i) {
			return m, i
		}
	}
}

// isUnsupported reports whether m is one of tmux's modifiers missing here: arithmetic, loops,
// characters, colours, searches and the forms of t and q with arguments.
func (m modifier) isUnsupported() bool {
	return strings.Contains("acCeNPSW", m.name) || strings.Contains("qt", m.name) && m.args != nil
}

// expandBraces expands key, the inside of #{…}.
func (s Scope) expandBraces(key string) string {
	mods, rest := parseModifiers(key)
	for _, m := range mods {
		if m.isUnsupported() {
			s.reportUnsupported("modifier " + m.name)
			return ""
		}
	}
	value := s.resolveValue(mods, rest)
	for _, m := range mods {
		// tmux applies these four to variables only, not to expanded formats.
		if !strings.Contains(rest, "#{") || !strings.Contains("bdqt", m.name) {
			value = s.applyModifier(m, value)
		}
	}
	for _, m := range mods { // last, so that the final text has the width
		value = fitWidth(m, value)
	}
	return value
}

// resolveValue returns the value of rest before the modifiers change it: a literal, the result of a
// comparison or condition, a nested format or a variable.
func (s Scope) resolveValue(mods []modifier, rest string) string {
	for _, m := range mods {
		switch m.name {
		case "l":
			return unescape(rest)
		case "m", "==", "!=", "<", ">", "<=", ">=", "||", "&&":
			left, right := s.expandOperands(rest)
			return formatBool(compare(m, left, right))
		}
	}
	if cond, ok := strings.CutPrefix(rest, "?"); ok {
		return s.expandCondition(cond)
	}
	if strings.Contains(rest, "#{") {
		return s.Expand(rest)
	}
	value, _ := s.Lookup(rest)
	return value
}

// unescape removes the # before each character it escapes.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '#' && i+1 < len(text) && strings.IndexByte(",#{}:", text[i+1]) >= 0 {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func compare(m modifier, left, right string) bool {
	switch m.name {
	case "m":
		flags := m.arg(0)
		if !strings.Contains(flags, "r") {
			return MatchGlob(left, right, strings.Contains(flags, "i"))
		}
		if strings.Contains(flags, "i") {
			left = "(?i)" + left
		}
		re, err := regexp.Compile(left)
		return err == nil && re.MatchString(right)
	case "==":
		return left == right
	case "!=":
		return left != right
	case "<":
		return left < right
	case ">":
		return left > right
	case "<=":
		return left <= right
	case ">=":
		return left >= right
	case "||":
		return IsTrue(left) || IsTrue(right)
	}
	return IsTrue(left) && IsTrue(right)
}

// MatchGlob reports whether text matches a shell pattern in which * also matches slashes. With fold,
// case is ignored. An invalid pattern matches nothing.
func MatchGlob(pattern, text string, fold bool) bool {
	if fold {
		pattern, text = strings.ToLower(pattern), strings.ToLower(text)
	}
	// path.Match stops * at a slash, so slashes become another byte on both sides.
	plain := strings.NewReplacer("/", "\x00", "[!", "[^")
	ok, err := path.Match(plain.Replace(pattern), strings.ReplaceAll(text, "/", "\x00"))
	return ok && err == nil
}

// applyModifier returns value changed by m. Modifiers handled elsewhere leave it as it is.
func (s Scope) applyModifier(m modifier, value string) string {
	switch m.name {
	case "E":
		return s.Expand(value)
	case "T":
		return s.Expand(s.ExpandTime(value))
	case "b":
		if value == "" {
			return "."
		}
		return path.Base(value)
	case "d":
		return path.Dir(value)
	case "q":
		return quoteShell(value)
	case "n":
		return strconv.Itoa(len(value))
	case "w":
		return strconv.Itoa(ansi.StringWidth(value))
	case "t":
		return formatTime(value)
	case "s":
		return substitutePattern(s, m, value)
	}
	return value
}

// quoteShell puts a backslash before each byte special to a shell.
func quoteShell(value string) string {
	var b strings.Builder
	for i := range len(value) {
		if strings.IndexByte("|&;<>()$`\\\"'*?[# =%", value[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(value[i])
	}
	return b.String()
}

// formatTime formats seconds since 1970 in local time; 0 and invalid numbers give "".
func formatTime(value string) string {
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil || seconds == 0 {
		return ""
	}
	return time.Unix(seconds, 0).Format(time.ANSIC)
}

var backReference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\([0-9])`) })

// substitutePattern implements #{s/pattern/replacement/flags:…}. Pattern is a regular expression;
// value is returned unchanged if it is invalid.
func substitutePattern(s Scope, m modifier, value string) string {
	pattern, replacement := s.Expand(m.arg(0)), s.Expand(m.arg(1))
	if strings.Contains(m.arg(2), "i") {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return value
	}
	// Go's references are $1, tmux's \1: escape the former before translating the latter.
	replacement = strings.ReplaceAll(replacement, "$", "$$")
	return re.ReplaceAllString(value, backReference().ReplaceAllString(replacement, "$${$1}"))
}

// fitWidth truncates (=) or pads (p) value to the width in m, in cells.
func fitWidth(m modifier, value string) string {
	n, err := strconv.Atoi(m.arg(0))
	if err != nil {
		return value
	}
	switch m.name {
	case "=":
		return truncateCells(value, n, m.arg(1))
	case "p":
		padding := strings.Repeat(" ", max(abs(n)-ansi.StringWidth(value), 0))
		if n > 0 {
			return value + padding
		}
		return padding + value
	}
	return value
}

func abs(n int) int { return max(n, -n) }

// truncateCells keeps the first n cells of value, or the last -n if n is negative, and adds mark
// where it cuts. n of 0 keeps everything.
func truncateCells(value string, n int, mark string) string {
	width := ansi.StringWidth(value)
	switch {
	case n == 0 || width <= abs(n):
		return value
	case n > 0:
		return ansi.Truncate(value, n, "") + mark
	}
	return mark + ansi.TruncateLeft(value, width+n, "")
}

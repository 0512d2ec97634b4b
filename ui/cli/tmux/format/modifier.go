package format

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// A modifier is one of the operators before the colon of #{…:…}.
type modifier struct {
	name  string
	width int // of = and p
}

// modifierPattern matches a supported modifier with the mark that ends it.
var modifierPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\|\||&&|==|!=|[mbdqt]|[=p](-?[0-9]+))[:;]`)
})

// otherPattern matches tmux's other modifiers, and those above with arguments.
var otherPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([<>]=?|[acCeElmnNpPqsSTtwW=])([:;]|[[:punct:]].*:)`)
})

// parseModifiers splits key, the inside of #{…}, into modifiers and the rest after the colon. Without
// modifiers, rest is key. unsupported is the name of a modifier missing here, or "".
func parseModifiers(key string) (mods []modifier, rest, unsupported string) {
	if !strings.Contains(key, ":") {
		return nil, key, ""
	}
	for rest = key; ; {
		found := modifierPattern().FindStringSubmatch(rest)
		if found == nil {
			if other := otherPattern().FindStringSubmatch(rest); other != nil {
				return nil, "", other[1]
			}
			return nil, key, ""
		}
		m := modifier{name: found[1]}
		if found[2] != "" {
			m.name = found[1][:1]
			m.width, _ = strconv.Atoi(found[2])
		}
		mods, rest = append(mods, m), rest[len(found[0]):]
		if strings.HasSuffix(found[0], ":") {
			return mods, rest, ""
		}
	}
}

// expandBraces expands key, the inside of #{…}.
func (s Scope) expandBraces(key string) string {
	mods, rest, unsupported := parseModifiers(key)
	if unsupported != "" {
		s.reportUnsupported("modifier " + unsupported)
		return ""
	}
	value := s.resolveValue(mods, rest)
	for _, m := range mods {
		// tmux applies these modifiers to variables only, not to expanded formats.
		if !strings.Contains(rest, "#{") {
			value = applyModifier(m, value)
		}
	}
	for _, m := range mods { // last, so that the final text has the width
		value = fitWidth(m, value)
	}
	return value
}

// resolveValue returns the value of rest before the modifiers change it: the result of a comparison
// or condition, a nested format or a variable.
func (s Scope) resolveValue(mods []modifier, rest string) string {
	for _, m := range mods {
		if compare := comparisons()[m.name]; compare != nil {
			left, right := s.expandOperands(rest)
			return formatBool(compare(left, right))
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

// comparisons returns the modifiers with two operands.
func comparisons() map[string]func(left, right string) bool {
	return map[string]func(left, right string) bool{
		"m":  MatchGlob,
		"==": func(left, right string) bool { return left == right },
		"!=": func(left, right string) bool { return left != right },
		"||": func(left, right string) bool { return IsTrue(left) || IsTrue(right) },
		"&&": func(left, right string) bool { return IsTrue(left) && IsTrue(right) },
	}
}

// MatchGlob reports whether text matches a shell pattern in which * also matches slashes. An invalid
// pattern matches nothing.
func MatchGlob(pattern, text string) bool {
	// path.Match stops * at a slash, so slashes become another byte on both sides.
	plain := strings.NewReplacer("/", "\x00", "[!", "[^")
	ok, err := path.Match(plain.Replace(pattern), strings.ReplaceAll(text, "/", "\x00"))
	return ok && err == nil
}

// applyModifier returns value changed by b, d, q or t; others leave it as it is.
func applyModifier(m modifier, value string) string {
	switch m.name {
	case "b":
		return path.Base(value)
	case "d":
		return path.Dir(value)
	case "q":
		return quoteShell(value)
	case "t":
		return formatTime(value)
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

// fitWidth truncates (=) or pads (p) value to the width in m, in cells. A negative width keeps the
// end of value.
func fitWidth(m modifier, value string) string {
	width := ansi.StringWidth(value)
	missing := max(m.width, -m.width) - width
	switch {
	case m.name == "p" && missing > 0 && m.width > 0:
		return value + strings.Repeat(" ", missing)
	case m.name == "p" && missing > 0:
		return strings.Repeat(" ", missing) + value
	case m.name != "=" || m.width == 0 || missing >= 0:
		return value
	case m.width > 0:
		return ansi.Truncate(value, m.width, "")
	}
	return ansi.TruncateLeft(value, width+m.width, "")
}

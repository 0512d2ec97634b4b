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

// A modifier stands before the colon of #{…:…}.
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

// modifiers reads those at the beginning of key; without any the rest is key.
func modifiers(key string) (mods []modifier, rest string) {
	i := 0
	for i < len(key) && key[i] != ':' {
		if key[i] == ';' {
			i++
			continue
		}
		m, n := oneModifier(key[i:])
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

func ends(text string, i int) bool { return i < len(text) && (text[i] == ';' || text[i] == ':') }

// oneModifier reads one modifier and returns its length, which is 0 if there is none.
func oneModifier(text string) (m modifier, n int) {
	if strings.IndexByte("labcdnwETSWP<>", text[0]) >= 0 && ends(text, 1) {
		return modifier{name: text[:1]}, 1
	}
	for _, two := range []string{"||", "&&", "!=", "==", "<=", ">="} {
		if strings.HasPrefix(text, two) && ends(text, 2) {
			return modifier{name: two}, 2
		}
	}
	if strings.IndexByte("mCNst=peq", text[0]) < 0 {
		return m, 0
	}
	m.name = text[:1]
	switch {
	case ends(text, 1):
		return m, 1
	case len(text) < 2:
		return m, 0
	case !unicode.IsPunct(rune(text[1])) && !unicode.IsSymbol(rune(text[1])) || text[1] == '-':
		end := skip(text[1:], ":;")
		if end < 0 {
			return m, 0
		}
		m.args = []string{text[1 : 1+end]}
		return m, 1 + end
	}
	return delimited(m, text)
}

// delimited reads arguments between a delimiter of the format's choice, as in s/a/b/.
func delimited(m modifier, text string) (modifier, int) {
	delimiter := text[1:2]
	i := 2
	for {
		end := skip(text[i:], delimiter+":;")
		if end < 0 {
			return m, 0
		}
		m.args = append(m.args, text[i:i+end])
		i += end
		if text[i] != delimiter[0] {
			return m, i
		}
		i++
		if ends(text, i) {
			return m, i
		}
	}
}

// unsupported reports whether tmux has a modifier that is not implemented here: arithmetic, loops,
// characters, colours, searches and the other forms of times and quotes.
func (m modifier) unsupported() bool {
	return strings.Contains("acCeNPSW", m.name) || strings.Contains("qt", m.name) && m.args != nil
}

// replace returns what stands for the inside of #{…}.
func (s Scope) replace(key string) string {
	mods, rest := modifiers(key)
	for _, m := range mods {
		if m.unsupported() {
			s.refuse("modifier " + m.name)
			return ""
		}
	}
	value := s.value(mods, rest)
	for _, m := range mods {
		if !strings.Contains(rest, "#{") || !strings.Contains("bdqt", m.name) { // these are for variables alone
			value = s.modify(m, value)
		}
	}
	for _, m := range mods { // lengths are cut last
		value = fit(m, value)
	}
	return value
}

// value returns what the modifiers then change.
func (s Scope) value(mods []modifier, rest string) string {
	for _, m := range mods {
		switch m.name {
		case "l":
			return unescape(rest)
		case "m", "==", "!=", "<", ">", "<=", ">=", "||", "&&":
			left, right := s.halves(rest)
			return truth(compare(m, left, right))
		}
	}
	if cond, ok := strings.CutPrefix(rest, "?"); ok {
		return s.condition(cond)
	}
	if strings.Contains(rest, "#{") {
		return s.Expand(rest)
	}
	value, _ := s.Lookup(rest)
	return value
}

// unescape takes the # away from before what it protects.
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
			return Match(left, right, strings.Contains(flags, "i"))
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
		return Truth(left) || Truth(right)
	}
	return Truth(left) && Truth(right)
}

// Match reports whether a text matches a shell's pattern, in which * matches a slash, too.
func Match(pattern, text string, fold bool) bool {
	if fold {
		pattern, text = strings.ToLower(pattern), strings.ToLower(text)
	}
	plain := strings.NewReplacer("/", "\x00", "[!", "[^")
	ok, err := path.Match(plain.Replace(pattern), strings.ReplaceAll(text, "/", "\x00"))
	return ok && err == nil
}

// modify applies a modifier that changes a value.
func (s Scope) modify(m modifier, value string) string {
	switch m.name {
	case "E":
		return s.Expand(value)
	case "T":
		return s.Expand(s.Time(value))
	case "b":
		if value == "" {
			return "."
		}
		return path.Base(value)
	case "d":
		return path.Dir(value)
	case "q":
		return quote(value)
	case "n":
		return strconv.Itoa(len(value))
	case "w":
		return strconv.Itoa(ansi.StringWidth(value))
	case "t":
		return moment(value)
	case "s":
		return substitute(s, m, value)
	}
	return value
}

// quote puts a backslash before what means something to a shell.
func quote(value string) string {
	var b strings.Builder
	for i := range len(value) {
		if strings.IndexByte("|&;<>()$`\\\"'*?[# =%", value[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(value[i])
	}
	return b.String()
}

// moment writes seconds since 1970 as a time.
func moment(value string) string {
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil || seconds == 0 {
		return ""
	}
	return time.Unix(seconds, 0).Format(time.ANSIC)
}

var backReference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\([0-9])`) })

// substitute is #{s/pattern/replacement/flags:…}; the pattern is an extended expression.
func substitute(s Scope, m modifier, value string) string {
	pattern, with := s.Expand(m.arg(0)), s.Expand(m.arg(1))
	if strings.Contains(m.arg(2), "i") {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return value
	}
	with = strings.ReplaceAll(with, "$", "$$")
	return re.ReplaceAllString(value, backReference().ReplaceAllString(with, "$${$1}"))
}

// fit cuts or pads a value to a width.
func fit(m modifier, value string) string {
	n, err := strconv.Atoi(m.arg(0))
	if err != nil {
		return value
	}
	switch m.name {
	case "=":
		return cut(value, n, m.arg(1))
	case "p":
		missing := strings.Repeat(" ", max(abs(n)-ansi.StringWidth(value), 0))
		if n > 0 {
			return value + missing
		}
		return missing + value
	}
	return value
}

func abs(n int) int { return max(n, -n) }

// cut keeps n cells of the beginning, or of the end if n is below 0.
func cut(value string, n int, mark string) string {
	width := ansi.StringWidth(value)
	switch {
	case n == 0 || width <= abs(n):
		return value
	case n > 0:
		return ansi.Truncate(value, n, "") + mark
	}
	return mark + ansi.TruncateLeft(value, width+n, "")
}

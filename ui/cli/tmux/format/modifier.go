package format

import (
	"fmt"
	"math"
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

// oneModifier reads one modifier and tells its length; 0 if there is none.
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

// replace is what stands for the inside of #{…}.
func (s Scope) replace(key string) string {
	mods, rest := modifiers(key)
	value := s.value(mods, rest)
	for _, m := range mods {
		if !strings.Contains(rest, "#{") || strings.IndexByte("bdqt", m.name[0]) < 0 { // these are for variables alone
			value = s.modify(m, value)
		}
	}
	for _, m := range mods { // lengths are cut last
		value = fit(m, value)
	}
	return value
}

// value is what the modifiers then change.
func (s Scope) value(mods []modifier, rest string) string {
	for _, m := range mods {
		switch m.name {
		case "l":
			return unescape(rest)
		case "a":
			n, err := strconv.Atoi(s.Expand(rest))
			if err != nil || n < 32 || n > 126 {
				return ""
			}
			return string(rune(n))
		case "c":
			return ""
		case "S", "W", "P":
			return s.loop(m.name[0], rest)
		case "N":
			kind := m.arg(0)
			if kind == "" {
				kind = "w"
			}
			return truth(s.Named != nil && s.Named(kind, s.Expand(rest)))
		case "C":
			return "0"
		case "e":
			return calculate(m, s, rest)
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

func (s Scope) loop(over byte, text string) string {
	if s.Loop == nil {
		return ""
	}
	all, active := text, text
	if i := skip(text, ","); i >= 0 {
		all, active = text[:i], text[i+1:]
	}
	var b strings.Builder
	scopes, current := s.Loop(over)
	for i, one := range scopes {
		one.depth = s.depth
		if i == current {
			b.WriteString(one.Expand(active))
		} else {
			b.WriteString(one.Expand(all))
		}
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

// Match reports whether a text matches a shell's pattern, as fnmatch(3) has it.
func Match(pattern, text string, fold bool) bool {
	var b strings.Builder
	b.WriteString("(?s)^")
	if fold {
		b.WriteString("(?i)")
	}
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteString(".")
		case '[':
			end := strings.IndexByte(pattern[min(i+2, len(pattern)):], ']')
			if end < 0 {
				b.WriteString(`\[`)
				continue
			}
			class := pattern[i+1 : i+2+end]
			if strings.HasPrefix(class, "!") {
				class = "^" + class[1:]
			}
			b.WriteString("[" + class + "]")
			i += 2 + end
		case '\\':
			if i+1 < len(pattern) {
				i++
			}
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	re, err := regexp.Compile(b.String() + "$")
	return err == nil && re.MatchString(text)
}

// calculate is #{e|+|f|2:a,b}.
func calculate(m modifier, s Scope, rest string) string {
	left, right := s.halves(rest)
	float := strings.Contains(m.arg(1), "f")
	places := 0
	if float {
		places = 2
	}
	if m.arg(2) != "" {
		places, _ = strconv.Atoi(m.arg(2))
	}
	x, errX := strconv.ParseFloat(left, 64)
	y, errY := strconv.ParseFloat(right, 64)
	if errX != nil || errY != nil {
		return ""
	}
	if !float {
		x, y = math.Trunc(x), math.Trunc(y)
	}
	z, ok := operate(m.arg(0), x, y)
	if !ok {
		return ""
	}
	if !float {
		z = math.Trunc(z)
	}
	return strconv.FormatFloat(z, 'f', max(places, 0), 64)
}

func operate(operator string, x, y float64) (z float64, ok bool) {
	is := func(b bool) (float64, bool) {
		if b {
			return 1, true
		}
		return 0, true
	}
	switch operator {
	case "+":
		return x + y, true
	case "-":
		return x - y, true
	case "*":
		return x * y, true
	case "/":
		return x / y, y != 0
	case "m", "%", "%%":
		return math.Mod(x, y), y != 0
	case "==":
		return is(math.Abs(x-y) < 1e-9)
	case "!=":
		return is(math.Abs(x-y) > 1e-9)
	case "<":
		return is(x < y)
	case ">":
		return is(x > y)
	case "<=":
		return is(x <= y)
	case ">=":
		return is(x >= y)
	}
	return 0, false
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
		if strings.ContainsAny(m.arg(0), "eh") {
			return strings.ReplaceAll(value, "#", "##")
		}
		return quote(value)
	case "n":
		return strconv.Itoa(len(value))
	case "w":
		return strconv.Itoa(ansi.StringWidth(value))
	case "t":
		return s.moment(m, value)
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
func (s Scope) moment(m modifier, value string) string {
	seconds, err := strconv.ParseInt(value, 10, 64)
	if err != nil || seconds == 0 {
		return ""
	}
	at := time.Unix(seconds, 0)
	switch age := s.Now.Sub(at); {
	case strings.Contains(m.arg(0), "f"):
		return Scope{Now: at}.Time(m.arg(1))
	case !strings.Contains(m.arg(0), "p"):
		return at.Format(time.ANSIC)
	case age < 24*time.Hour:
		return at.Format("15:04")
	case age < 28*24*time.Hour:
		return at.Format("Mon02")
	default:
		return at.Format("02Jan")
	}
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
		return fmt.Sprint(ansi.Truncate(value, n, ""), mark)
	}
	return mark + ansi.TruncateLeft(value, width+n, "")
}

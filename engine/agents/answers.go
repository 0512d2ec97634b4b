package agents

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Expressions for the options of a question: a row with one, and texts that agree or refuse.
var (
	option = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^\pL\d]*([1-9])\. +(\S.*)`) })
	agrees = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(yes|allow|trust|approve|accept|proceed|continue|run)\b`)
	})
	denies = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(no|don't|do not|deny|reject|cancel|exit)\b`)
	})
)

// answers are the names of the keys that say yes and no to the question on a screen: those
// of its rule, or the numbers of the options, or else the letters. Where no option says no,
// escape does.
func (r Rule) answers(rows []string) (yes, no string) {
	for _, b := range r.blocked {
		if _, ok := b.find(b.looked(rows)); ok && b.yes != "" {
			return b.yes, b.no
		}
	}
	for _, row := range slices.Backward(rows) {
		m := option().FindStringSubmatch(row)
		switch {
		case m == nil:
		case agrees().MatchString(m[2]):
			yes = m[1]
		case denies().MatchString(m[2]):
			no = m[1]
		}
		if m != nil && m[1] == "1" {
			break
		}
	}
	if yes == "" {
		return "y", "n"
	}
	if no == "" {
		no = "esc"
	}
	return yes, no
}

// looked are the rows in which a question is looked for.
func (b blockedRule) looked(rows []string) []string {
	for len(rows) > 0 && strings.TrimSpace(rows[len(rows)-1]) == "" {
		rows = rows[:len(rows)-1]
	}
	return rows[max(0, len(rows)-b.rows):]
}

package coding

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Expressions for a question's options: a row with an option, and the texts of options that agree or
// refuse.
var (
	optionRow = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^\pL\d]*([1-9])\. +(\S.*)`) })
	agreeText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(yes|allow|trust|approve|accept|proceed|continue|run)\b`)
	})
	denyText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(no|don't|do not|deny|reject|cancel|exit)\b`)
	})
)

// answerKeys returns the names of the keys answering yes and no to the question on a screen: the
// rule's own, the numbers of the options, or the letters y and n. If the question has no option for
// no, its key is escape.
func (r Rule) answerKeys(rows []string) (yes, no string) {
	for _, b := range r.blocked {
		if _, ok := b.findQuestion(b.bottomRows(rows)); ok && b.yes != "" {
			return b.yes, b.no
		}
	}
	// Search from the bottom, because an earlier question may be shown above.
	for _, row := range slices.Backward(rows) {
		m := optionRow().FindStringSubmatch(row)
		switch {
		case m == nil:
		case agreeText().MatchString(m[2]):
			yes = m[1]
		case denyText().MatchString(m[2]):
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

// bottomRows returns the rows to search for a question, without blank ones at the end.
func (b blockedRule) bottomRows(rows []string) []string {
	for len(rows) > 0 && strings.TrimSpace(rows[len(rows)-1]) == "" {
		rows = rows[:len(rows)-1]
	}
	return rows[max(0, len(rows)-b.rows):]
}

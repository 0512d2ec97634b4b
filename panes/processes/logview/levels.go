package logview

import (
	"strings"

	"tandem/panes/kit/look"
	"tandem/panes/logtext"
)

// maxLevelScan is how many bytes of a line are searched for levels.
const maxLevelScan = 200

// findLevels finds the words for the severity of a line.
func findLevels(s string, look *look.Look) []logtext.TextMark {
	var marks []logtext.TextMark
	s = s[:min(len(s), maxLevelScan)]
	for i := 0; i < len(s); {
		if !isLetter(s[i]) {
			i++
			continue
		}
		j := i
		for j < len(s) && isLetter(s[j]) {
			j++
		}
		if ink, ok := levelInk(s[i:j], look); ok {
			marks = append(marks, logtext.TextMark{From: i, To: j, Ink: ink})
		}
		i = j
	}
	return marks
}

func isLetter(c byte) bool { c |= 0x20; return c >= 'a' && c <= 'z' }

func levelInk(word string, look *look.Look) (look.Ink, bool) {
	if len(word) < 3 || len(word) > 9 {
		return "", false
	}
	switch strings.ToLower(word) {
	case "error", "errors", "err", "fatal", "panic", "critical", "crit", "emerg", "alert", "exception", "failed", "failure":
		return look.Bad, true
	case "warn", "warning", "warnings":
		return look.Warn, true
	case "info", "notice":
		return look.Good, true
	case "debug", "trace", "verbose":
		return look.Faint, true
	}
	return "", false
}

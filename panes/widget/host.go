package widget

import (
	"fmt"
	"strings"
)

// CutHost takes host:NAME out of what rows are chosen by. Without it host is "".
func CutHost(filter string) (host, rest string) { return cutWord(filter, "host:") }

// CutFrom takes from:NAME out of it: a machine that something was run from.
func CutFrom(filter string) (from, rest string) { return cutWord(filter, "from:") }

// cutWord takes the words that begin with a prefix out of a filter, and gives what is
// behind it in the last of them.
func cutWord(filter, prefix string) (value, rest string) {
	var words []string
	found := false
	for _, word := range strings.Fields(filter) {
		if name, ok := strings.CutPrefix(word, prefix); ok {
			value, found = name, true
			continue
		}
		words = append(words, word)
	}
	if !found {
		return "", filter
	}
	return value, strings.Join(words, " ")
}

// OnHost reports whether host: leaves what is on a machine, which is "" for the own
// one. The own one is called here.
func OnHost(host, machine string) bool {
	if machine == "" {
		machine = "here"
	}
	return strings.HasPrefix(strings.ToLower(machine), strings.ToLower(host))
}

// RoundTrip is how long a machine takes to answer; "" if that is not known.
func RoundTrip(ms float64) string {
	switch {
	case ms <= 0:
		return ""
	case ms < 1:
		return "<1 ms"
	}
	return fmt.Sprintf("%.0f ms", ms)
}

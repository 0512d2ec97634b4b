package list

import "strings"

// CutHost removes host:NAME from a filter. Without it host is "".
func CutHost(filter string) (host, rest string) { return cutPrefixed(filter, "host:") }

// CutFrom removes from:NAME, the machine a command came from, from a filter.
func CutFrom(filter string) (from, rest string) { return cutPrefixed(filter, "from:") }

// cutPrefixed removes the words with a prefix from a filter, and returns the value of the last one.
func cutPrefixed(filter, prefix string) (value, rest string) {
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

// OnHost reports whether a machine matches the value of host:. machine is "" for this machine,
// called "here".
func OnHost(host, machine string) bool {
	if machine == "" {
		machine = "here"
	}
	return strings.HasPrefix(strings.ToLower(machine), strings.ToLower(host))
}

package list

import "strings"

// CutHost removes host:NAME from a filter and returns NAME; "" if the filter has no such word.
func CutHost(filter string) (host, rest string) { return CutWord(filter, "host:") }

// CutFrom removes the word from:NAME from a filter and returns NAME, the machine from which a
// command came.
func CutFrom(filter string) (from, rest string) { return CutWord(filter, "from:") }

// CutWord removes the words with a prefix from a filter, and returns the value of the last one; ""
// if there is none.
func CutWord(filter, prefix string) (value, rest string) {
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

// OnHost reports whether a machine matches host, the value of the word host: in a filter. machine
// is "" for this machine, whose name in filters is "here".
func OnHost(host, machine string) bool {
	if machine == "" {
		machine = "here"
	}
	return strings.HasPrefix(strings.ToLower(machine), strings.ToLower(host))
}

package setup

import (
	"slices"
	"strings"
)

const (
	// context is how many lines are shown around a change.
	context = 2
	// widest is the length of a line, in bytes, from which it is not shown whole:
	// some programs write all their settings on one.
	widest = 200
)

// Diff shows the change line by line: each line with "+ ", "- " or two spaces
// before it.
func (p *Plan) Diff() []string {
	before, after := lines(p.before), lines(p.after)
	head, tail := common(before, after)
	gone, come := before[head:len(before)-tail], after[head:len(after)-tail]
	if slices.ContainsFunc(slices.Concat(gone, come), func(line string) bool { return len(line) > widest }) {
		return p.longDiff()
	}
	return slices.Concat(
		marked("  ", before[max(head-context, 0):head]),
		marked("- ", gone), marked("+ ", come),
		marked("  ", after[len(after)-tail:len(after)-max(tail-context, 0)]))
}

// longDiff shows the change alone, without the rest of its lines.
func (p *Plan) longDiff() []string {
	head, tail := common(p.before, p.after)
	return slices.Concat(marked("- ", lines(p.before[head:len(p.before)-tail])), marked("+ ", lines(p.after[head:len(p.after)-tail])))
}

func marked(mark string, list []string) []string {
	all := make([]string, len(list))
	for i, line := range list {
		all[i] = mark + line
	}
	return all
}

func lines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"), "\n")
}

// common is how many elements two lists begin with in common, and end with.
func common[T comparable](a, b []T) (head, tail int) {
	n := min(len(a), len(b))
	for head < n && a[head] == b[head] {
		head++
	}
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

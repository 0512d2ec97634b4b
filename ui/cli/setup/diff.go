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
// before it, and … for lines that are left out.
func (p *Plan) Diff() []string {
	before, after := lines(p.before), lines(p.after)
	head, tail := common(before, after)
	gone, come := before[head:len(before)-tail], after[head:len(after)-tail]
	if slices.ContainsFunc(slices.Concat(gone, come), func(line string) bool { return len(line) > widest }) {
		return p.longDiff()
	}
	return slices.Concat(
		marked("  ", before[max(head-context, 0):head]),
		between(gone, come),
		marked("  ", after[len(after)-tail:len(after)-max(tail-context, 0)]))
}

// between shows how some lines become others, with those around each change.
func between(gone, come []string) (shown []string) {
	for _, part := range compared(gone, come) {
		switch n := len(part.same); {
		case n == 0:
			shown = append(append(shown, marked("- ", part.gone)...), marked("+ ", part.come)...)
		case n > 2*context+1:
			shown = append(append(shown, marked("  ", part.same[:context])...), "  …")
			shown = append(shown, marked("  ", part.same[n-context:])...)
		default:
			shown = append(shown, marked("  ", part.same)...)
		}
	}
	return shown
}

// A part of a comparison is lines that are the same, or lines in the place of others.
type part struct{ same, gone, come []string }

// mostCompared bounds the work of a comparison: lines times lines.
const mostCompared = 1 << 20

// compared divides two lists of lines by their longest common subsequence.
func compared(gone, come []string) (parts []part) {
	if len(gone)*len(come) > mostCompared {
		return []part{{gone: gone, come: come}}
	}
	longest := make([][]int, len(gone)+1) // common to what follows two places
	for i := range longest {
		longest[i] = make([]int, len(come)+1)
	}
	for i, line := range slices.Backward(gone) {
		for k, other := range slices.Backward(come) {
			if longest[i][k] = max(longest[i+1][k], longest[i][k+1]); line == other {
				longest[i][k] = longest[i+1][k+1] + 1
			}
		}
	}
	var now part
	end := func() {
		if len(now.same)+len(now.gone)+len(now.come) > 0 {
			parts = append(parts, now)
		}
		now = part{}
	}
	i, k := 0, 0
	for i < len(gone) || k < len(come) {
		same := i < len(gone) && k < len(come) && gone[i] == come[k]
		if same != (len(now.same) > 0) {
			end()
		}
		switch {
		case same:
			now.same = append(now.same, gone[i])
			i, k = i+1, k+1
		case k == len(come) || i < len(gone) && longest[i+1][k] >= longest[i][k+1]:
			now.gone = append(now.gone, gone[i])
			i++
		default:
			now.come = append(now.come, come[k])
			k++
		}
	}
	end()
	return parts
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

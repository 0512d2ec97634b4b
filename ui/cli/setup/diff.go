package setup

import (
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// maxLine is the length in bytes up to which a changed line is shown whole. Some programs write all
// their settings on one line.
const maxLine = 200

// Diff shows the change line by line: each line with "+ ", "- " or two spaces
// before it, and … for lines that are left out.
func (p *Plan) Diff() (shown []string) {
	unified := lines(diff.Diff("", wholeLines(p.before), "", wholeLines(p.after)))
	for _, line := range unified[min(3, len(unified)):] { // after the file names
		switch {
		case !strings.HasPrefix(line, "@@"):
			if line[0] != ' ' && len(line) > maxLine {
				return p.longDiff()
			}
			shown = append(shown, line[:1]+" "+line[1:])
		case len(shown) > 0:
			shown = append(shown, "  …")
		}
	}
	return shown
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

// wholeLines returns text with a line feed at the end of every line.
func wholeLines(text []byte) []byte {
	if len(text) == 0 {
		return nil
	}
	return []byte(strings.Join(lines(text), "\n") + "\n")
}

// common is how many elements two lists begin with in common, and end with.
func common(a, b []byte) (head, tail int) {
	n := min(len(a), len(b))
	for head < n && a[head] == b[head] {
		head++
	}
	for tail < n-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

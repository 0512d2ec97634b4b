package setup

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// maxDiffLine is the length in bytes up to which a changed line is shown whole. Some programs write
// all their settings on one line.
const maxDiffLine = 200

// Diff returns the change as lines prefixed with "+ ", "- " or two spaces, and …
// in place of omitted lines. If a changed line is longer than maxDiffLine, it
// returns only the changed part.
func (p *Plan) Diff() (diffLines []string) {
	unified := splitLines(diff.Diff("", terminateLines(p.before), "", terminateLines(p.after)))
	for _, line := range unified[min(3, len(unified)):] { // the first three are file names
		switch {
		case !strings.HasPrefix(line, "@@"):
			if line[0] != ' ' && len(line) > maxDiffLine {
				return p.diffBytes()
			}
			diffLines = append(diffLines, line[:1]+" "+line[1:])
		case len(diffLines) > 0:
			diffLines = append(diffLines, "  …")
		}
	}
	return diffLines
}

// diffBytes returns the removed and the added bytes, without the rest of their lines.
func (p *Plan) diffBytes() (lines []string) {
	prefix, suffix := commonEnds(p.before, p.after)
	for _, line := range splitLines(p.before[prefix : len(p.before)-suffix]) {
		lines = append(lines, "- "+line)
	}
	for _, line := range splitLines(p.after[prefix : len(p.after)-suffix]) {
		lines = append(lines, "+ "+line)
	}
	return lines
}

func splitLines(text []byte) []string {
	if len(text) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"), "\n")
}

// terminateLines returns text with a line feed at the end of every line, including the last.
func terminateLines(text []byte) []byte {
	if len(text) == 0 {
		return nil
	}
	return []byte(strings.Join(splitLines(text), "\n") + "\n")
}

// commonEnds returns the lengths of the common prefix and suffix of a and b, which do not overlap.
func commonEnds(a, b []byte) (prefix, suffix int) {
	n := min(len(a), len(b))
	// The suffix gets only bytes left by the prefix: otherwise they would overlap in "aa" and "aaa".
	for prefix < n && a[prefix] == b[prefix] {
		prefix++
	}
	for suffix < n-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	return prefix, suffix
}

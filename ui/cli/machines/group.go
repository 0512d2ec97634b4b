package machines

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/x/term"

	"tandem/ui/cli/output"
)

// A result is what came of a verb on one machine.
type result struct {
	status         int
	stdout, stderr start
}

// A start is the beginning of what is written to it.
type start struct{ text []byte }

// startSize is how much is compared.
const startSize = 4 << 10

func (s *start) Write(p []byte) (int, error) {
	s.text = append(s.text, p[:min(len(p), startSize-len(s.text))]...)
	return len(p), nil
}

// how says in a word or two how it came out.
func (r *result) how() string {
	switch {
	case strings.Contains(string(r.stderr.text), "it is away"):
		return "away"
	case r.status == 0:
		return "ok"
	}
	return fmt.Sprintf("exit %d", r.status)
}

const (
	// mostGroups is how many different results are shown, and mostNames how many
	// machines of each.
	mostGroups, mostNames = 20, 5
	// shownOutput is how much of a line of output is shown.
	shownOutput = 60
)

// A group is machines with the same result.
type group struct {
	how, output string
	hosts       []string
}

// grouped tells which results came from how many machines, and then each that several have
// in common.
func (s *Spread) grouped(hosts []string, results []result) string {
	byResult, counts := map[string]*group{}, map[string]int{}
	var groups []*group
	for i, host := range hosts {
		r := &results[i]
		text := string(r.stdout.text)
		if r.how() != "ok" && text == "" {
			text = strings.TrimPrefix(string(r.stderr.text), "tandem: ")
		}
		key := r.how()
		if key != "away" { // for how long is different for each
			key += "\x00" + text
		}
		g := byResult[key]
		if g == nil {
			g = &group{how: r.how(), output: firstLine(text)}
			byResult[key] = g
			groups = append(groups, g)
		}
		g.hosts = append(g.hosts, host)
		counts[g.how]++
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(len(b.hosts), len(a.hosts)) })
	var b strings.Builder
	b.WriteString(summary(counts))
	t := s.Out.Table("MACHINES", "RESULT", "OUTPUT", "WHICH")
	for _, g := range groups[:min(len(groups), mostGroups)] {
		names := strings.Join(g.hosts[:min(len(g.hosts), mostNames)], ", ")
		if more := len(g.hosts) - mostNames; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		t.Add(output.Text(fmt.Sprint(len(g.hosts))), output.Text(g.how), output.Text(output.Visible(g.output)), output.Text(names))
	}
	b.WriteString("\n" + t.String())
	if more := len(groups) - mostGroups; more > 0 {
		fmt.Fprintf(&b, "and %d more different results\n", more)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// summary is how often which result came, the most frequent first.
func summary(counts map[string]int) string {
	var parts []string
	for how, n := range counts {
		parts = append(parts, fmt.Sprintf("%d × %s", n, how))
	}
	slices.SortFunc(parts, func(a, b string) int {
		var x, y int
		fmt.Sscan(a, &x)
		fmt.Sscan(b, &y)
		return cmp.Or(cmp.Compare(y, x), cmp.Compare(a, b))
	})
	return strings.Join(parts, ", ")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > shownOutput {
		return string(r[:shownOutput-1]) + "…"
	}
	return line
}

// progress is a line at the bottom of a terminal that says how many machines are done.
type progress struct {
	to        io.Writer // nil where there is no terminal, or too few machines
	done, all int
	shown     bool
}

// fewMachines need no progress.
const fewMachines = 8

func (p *progress) begin(to io.Writer, all int) {
	f, ok := to.(*os.File)
	if ok && all > fewMachines && term.IsTerminal(f.Fd()) {
		p.to, p.all = to, all
	}
}

// step counts a machine that is done.
func (p *progress) step() {
	if p.to == nil {
		return
	}
	p.done++
	const width = 30
	filled := width * p.done / p.all
	fmt.Fprintf(p.to, "\r\x1b[K%s%s %d/%d", strings.Repeat("█", filled), strings.Repeat("░", width-filled), p.done, p.all)
	p.shown = true
}

// clear takes the line away.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.to, "\r\x1b[K")
		p.shown = false
	}
}

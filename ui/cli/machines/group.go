package machines

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/x/term"

	"tandem/engine/api"
	"tandem/ui/cli/output"
)

// A result is the outcome of a command on one machine.
type result struct {
	status         int
	err            error // printed by the command
	stdout, stderr prefix
}

// A prefix is a writer that keeps the beginning of its input.
type prefix struct{ text []byte }

// maxPrefix is the length of output to keep and compare, in bytes.
const maxPrefix = 4 << 10

func (s *prefix) Write(p []byte) (int, error) {
	s.text = append(s.text, p[:min(len(p), maxPrefix-len(s.text))]...)
	return len(p), nil
}

// summary returns the outcome in a word or two.
func (r *result) summary() string {
	switch {
	case errors.Is(r.err, api.ReasonMachineOffline):
		return "offline"
	case r.status == 0:
		return "ok"
	}
	return fmt.Sprintf("exit %d", r.status)
}

const (
	// maxGroups is how many different results are shown, and maxNames how many machines of each.
	maxGroups, maxNames = 20, 5
	// maxLine is how many characters of a line of output are shown.
	maxLine = 60
)

// A group is a set of machines with the same result.
type group struct {
	outcome, output string
	hosts           []string
}

// A groupKey is equal for machines whose results are shown as one.
type groupKey struct{ outcome, text string }

// formatGroups formats the number of machines per outcome, and a table of equal results.
func (s *Spread) formatGroups(hosts []string, results []result) string {
	byResult, counts := map[groupKey]*group{}, map[string]int{}
	var groups []*group
	for i, host := range hosts {
		r := &results[i]
		text := string(r.stdout.text)
		if r.summary() != "ok" && text == "" {
			text = strings.TrimPrefix(string(r.stderr.text), "tandem: ")
		}
		key := groupKey{r.summary(), text}
		if key.outcome == "offline" { // the message contains the time offline, which differs
			key.text = ""
		}
		g := byResult[key]
		if g == nil {
			g = &group{outcome: r.summary(), output: firstLine(text)}
			byResult[key] = g
			groups = append(groups, g)
		}
		g.hosts = append(g.hosts, host)
		counts[g.outcome]++
	}
	// Groups of equal size keep the order of the machines.
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(len(b.hosts), len(a.hosts)) })
	var b strings.Builder
	b.WriteString(countsText(counts))
	t := s.Out.Table("MACHINES", "RESULT", "OUTPUT", "WHICH")
	for _, g := range groups[:min(len(groups), maxGroups)] {
		names := strings.Join(g.hosts[:min(len(g.hosts), maxNames)], ", ")
		if more := len(g.hosts) - maxNames; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		t.Add(output.Text(fmt.Sprint(len(g.hosts))), output.Text(g.outcome), output.Text(output.Visible(g.output)), output.Text(names))
	}
	b.WriteString("\n" + t.String())
	if more := len(groups) - maxGroups; more > 0 {
		fmt.Fprintf(&b, "and %d other results\n", more)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// countsText formats the number of machines per outcome, most frequent first.
func countsText(counts map[string]int) string {
	outcomes := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for i, how := range outcomes {
		outcomes[i] = fmt.Sprintf("%d × %s", counts[how], how)
	}
	return strings.Join(outcomes, ", ")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > maxLine {
		return string(r[:maxLine-1]) + "…"
	}
	return line
}

// A progress is a line at the bottom of the terminal with the number of finished machines.
type progress struct {
	to        io.Writer // nil without a terminal, or for few machines
	done, all int
	shown     bool
}

// fewMachines is the largest number of machines without a progress line.
const fewMachines = 8

func (p *progress) begin(to io.Writer, all int) {
	f, ok := to.(*os.File)
	if ok && all > fewMachines && term.IsTerminal(f.Fd()) {
		p.to, p.all = to, all
	}
}

// step counts a finished machine and redraws the line.
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

func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.to, "\r\x1b[K")
		p.shown = false
	}
}

package search

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/engine/screen/rendered"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// A printer prints hits in groups: one for each run of a command in a session, or for a process.
type printer struct {
	out     output.Printer
	paint   func(output.Tint, string) string
	pattern *regexp.Regexp
	context bool

	count    int    // hits printed
	group    string // of the last hit
	seen     map[string]*reported
	searched int64
	progress bool // a progress line is shown
}

func newPrinter(f *factory.Factory, opts flags) *printer {
	pattern, _ := opts.in.Compile() // checked before
	return &printer{out: f.Out, paint: f.Out.Painter(), pattern: pattern, context: opts.context > 0, seen: map[string]*reported{}}
}

// reported is the part of a log whose hits have been printed. A log whose process has changed is
// searched a second time, from its new end.
type reported struct {
	low, high  int64 // of earlier searches of the log
	from, last int64 // first and last hit of this one
}

// isRepeated reports whether a hit was printed before, and notes it.
func (p *printer) isRepeated(h api.OutputHit) bool {
	key := h.ID + " " + h.Stream
	r := p.seen[key]
	switch {
	case r == nil:
		r = &reported{low: h.Offset + 1, high: h.Offset, from: h.Offset, last: h.Offset}
		p.seen[key] = r
	case h.Offset >= r.last:
		r.low, r.high = min(r.low, r.last), max(r.high, r.from)
		r.from = h.Offset
	}
	r.last = h.Offset
	return r.low <= h.Offset && h.Offset <= r.high
}

// print prints the hits of an answer, as JSON on a line each with --json.
func (p *printer) print(hits []api.OutputHit) error {
	var b strings.Builder
	now := time.Now()
	for _, h := range hits {
		if p.isRepeated(h) {
			continue
		}
		if p.count++; p.out.JSON {
			renderLines(&h)
			if err := p.out.PrintJSON(h, ""); err != nil {
				return err
			}
			continue
		}
		p.writeHit(&b, h, now)
	}
	return p.out.Print(b.String())
}

// renderLines replaces the lines of a hit by their text on a terminal.
func renderLines(h *api.OutputHit) {
	h.Text = string(rendered.AppendText(nil, []byte(h.Text)))
	for _, lines := range [...][]string{h.Before, h.After} {
		for i, line := range lines {
			lines[i] = string(rendered.AppendText(nil, []byte(line)))
		}
	}
}

// writeHit formats a hit, after a heading if a group begins.
func (p *printer) writeHit(b *strings.Builder, h api.OutputHit, now time.Time) {
	group := fmt.Sprint(h.ID, h.Stream)
	if h.Run != nil {
		group += fmt.Sprint(" ", h.Run.ID)
	}
	switch {
	case group != p.group:
		if p.group != "" {
			b.WriteString("\n")
		}
		b.WriteString(p.heading(h, now) + "\n")
		p.group = group
	case p.context:
		b.WriteString("  " + p.paint(output.Faint, "--") + "\n")
	}
	for _, line := range h.Before {
		b.WriteString("  " + p.paint(output.Faint, p.out.Highlight(nil, line)) + "\n")
	}
	b.WriteString("  " + p.out.Highlight(p.pattern, h.Text) + "\n")
	for _, line := range h.After {
		b.WriteString("  " + p.paint(output.Faint, p.out.Highlight(nil, line)) + "\n")
	}
}

// heading returns the heading of a group: name, command, actor, time and exit status.
func (p *printer) heading(h api.OutputHit, now time.Time) string {
	name := output.Visible(h.Name)
	if h.Stream == "stderr" {
		name += " (stderr)"
	}
	who, end, tint := output.WhoFrom(h.Actor, h.From), output.StateText(processOf(h)), output.StateTint(processOf(h))
	parts := []string{}
	if h.Run != nil {
		parts = append(parts, p.out.Escape(strings.Join(strings.Fields(h.Run.Command), " "), ""))
		who = output.WhoFrom(h.Run.Actor, h.Run.From)
		end, tint = output.CommandEnd(*h.Run)
		if end != "-" && !h.Run.Stopped {
			end = "exited " + end
		}
	}
	when := units.Ago(now.Sub(h.Time))
	if when != "now" {
		when += " ago"
	}
	if h.Rough {
		when = "~" + when
	}
	parts = append(parts, who, when)
	text := p.paint(output.Strong, name) + "  " + p.paint(output.Faint, strings.Join(parts, ", "))
	if end != "-" {
		text += p.paint(output.Faint, ", ") + p.paint(tint, end)
	}
	return text
}

// processOf returns the state of the session or process of a hit.
func processOf(h api.OutputHit) api.Process {
	return api.Process{State: h.State, ExitCode: h.ExitCode, ExitSignal: h.ExitSignal}
}

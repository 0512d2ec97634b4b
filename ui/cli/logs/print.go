package logs

import (
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
	"tandem/engine/cellwidth"
	"tandem/engine/rendered"
	"tandem/ui/cli/output"
)

// nameTints are the colours of names: those of a terminal's palette that suit
// both backgrounds, without the red of errors.
var nameTints = [...]string{"36", "33", "32", "35", "34", "96", "93", "92", "95", "94"}

// A mergePrinter prints the lines of several logs, each behind its process's name,
// and those of sessions as text.
type mergePrinter struct {
	output.Printer
	paint   func(output.Tint, string) string
	width   int // of the longest name
	raw     bool
	times   bool
	alone   bool          // there is one log, so its lines need no name
	grep    *matchPrinter // nil without --grep
	context int
	last    int // how many matches of what there is now are held to be printed; -1: all, at once

	text   strings.Builder // to be printed
	held   []matchGroup    // the last matches
	before []logmerge.Line // the last lines that do not match
	after  int             // lines still to be printed behind a match
	apart  bool            // lines were left out since the last one printed
	found  int
}

// A matchGroup is a line that matches, with what is around it.
type matchGroup struct {
	apart bool // lines before it were left out
	lines []logmerge.Line
}

func newMergePrinter(out output.Printer, f flags) *mergePrinter {
	p := &mergePrinter{Printer: out, paint: out.Painter(), raw: f.raw, times: f.times, context: f.context, last: -1}
	if f.grep != "" {
		p.grep = newMatchPrinter(p.paint, f.grep, f.raw, false)
		if f.lines > 0 { // with 0, the logs are read from their ends
			p.last = f.lines
		}
	}
	return p
}

// add prints a line, unless it is searched for others.
func (p *mergePrinter) add(l logmerge.Line) error {
	shown := rendered.AppendText(nil, l.Text)
	if !p.raw && (!p.JSON || l.Source.Process.Kind == api.KindSession) {
		l.Text = shown
	}
	switch {
	case l.Note != "":
		if err := p.flush(); err != nil {
			return err
		}
		p.Tell("%s %s", l.Source.Label, l.Note)
		return nil
	case p.grep == nil:
		return p.line(l)
	case p.grep.pattern.Match(shown):
		return p.match(l)
	case p.after > 0:
		p.after--
		if p.last >= 0 {
			group := &p.held[len(p.held)-1]
			group.lines = append(group.lines, l)
			return nil
		}
		return p.line(l)
	}
	p.before = append(p.before, l)
	if len(p.before) > p.context {
		p.before, p.apart = p.before[1:], true
	}
	return nil
}

// match prints a line that matches, with those before it, or holds them.
func (p *mergePrinter) match(l logmerge.Line) error {
	group := matchGroup{apart: p.apart, lines: append(p.before, l)}
	p.before, p.apart, p.after = nil, false, p.context
	if p.last < 0 {
		return p.group(group)
	}
	p.held = append(p.held, group)
	p.held = p.held[max(len(p.held)-p.last, 0):]
	return nil
}

// group prints a match with what is around it.
func (p *mergePrinter) group(g matchGroup) error {
	if g.apart && p.found > 0 && p.context > 0 && !p.JSON {
		p.text.WriteString(p.paint(output.Faint, "--") + "\n")
	}
	p.found++
	for _, l := range g.lines {
		if err := p.line(l); err != nil {
			return err
		}
	}
	return nil
}

// settled prints what is held of the matches that there are now; all that come
// later are printed.
func (p *mergePrinter) settled() error {
	p.last = -1
	for _, g := range p.held {
		if err := p.group(g); err != nil {
			return err
		}
	}
	p.held = nil
	return p.flush()
}

// A jsonLine is a line of a merged log as --json prints it.
type jsonLine struct {
	Name   string     `json:"name"`
	ID     string     `json:"id"`
	Stream string     `json:"stream,omitempty"`
	Time   *time.Time `json:"time,omitempty"`
	Text   string     `json:"text"`
}

// line writes a line whole.
func (p *mergePrinter) line(l logmerge.Line) error {
	const most = 32 << 10
	text := strings.ToValidUTF8(string(l.Text), "\uFFFD")
	switch {
	case p.JSON:
		j := jsonLine{Name: l.Source.Process.Name, ID: l.Source.Process.ID, Stream: l.Stream, Text: text}
		if !l.At.IsZero() {
			j.Time = &l.At
		}
		return p.PrintJSON(j, "")
	case p.raw:
		text = string(l.Text)
	case p.grep != nil:
		text = p.grep.marked(text)
	default:
		text = output.Escape(text, "\t")
	}
	p.text.WriteString(p.prefix(l) + text + "\n")
	if p.text.Len() > most {
		return p.flush()
	}
	return nil
}

// prefix returns the start of a printed line: its time, its process's name, and a sign
// that tells standard error from output.
func (p *mergePrinter) prefix(l logmerge.Line) string {
	when := ""
	if p.times {
		when = strings.Repeat(" ", len(time.DateTime))
		if !l.At.IsZero() {
			when = l.At.Local().Format(time.DateTime)
		}
		when = p.paint(output.Faint, when) + " "
	}
	if p.alone {
		return when
	}
	sign, tint := "|", output.Tint(nameTints[l.Source.Tint])
	if l.Stream == "stderr" {
		sign = p.paint(output.Red, "!")
	} else {
		sign = p.paint(tint, sign)
	}
	label := p.paint(tint, l.Source.Label) + strings.Repeat(" ", p.width-cellwidth.Of(l.Source.Label))
	return when + label + " " + sign + " "
}

// flush prints what was written.
func (p *mergePrinter) flush() error {
	text := p.text.String()
	p.text.Reset()
	if text == "" {
		return nil
	}
	return p.Print(text)
}

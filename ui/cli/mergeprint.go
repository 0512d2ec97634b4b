package cli

import (
	"cmp"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
	"time"

	"tandem/engine/cellwidth"
	"tandem/ui/cli/output"
)

// nameTints are the colours of names: those of a terminal's palette that suit
// both backgrounds, without the red of errors.
var nameTints = [...]string{"36", "33", "32", "35", "34", "96", "93", "92", "95", "94"}

// A mergePrinter prints the lines of several logs, each behind its process's name.
type mergePrinter struct {
	output.Printer
	paint   func(output.Tint, string) string
	width   int // of the longest name
	raw     bool
	times   bool
	grep    *matchPrinter // nil without --grep
	context int
	last    int // how many matches of what there is now are held to be printed; -1: all, at once

	text   strings.Builder // to be printed
	held   []matchGroup    // the last matches
	before []logLine       // the last lines that do not match
	after  int             // lines still to be printed behind a match
	apart  bool            // lines were left out since the last one printed
	found  int
}

// A matchGroup is a line that matches, with what is around it.
type matchGroup struct {
	apart bool // lines before it were left out
	lines []logLine
}

func newMergePrinter(out output.Printer, f logFlags) *mergePrinter {
	p := &mergePrinter{Printer: out, paint: out.Painter(), raw: f.raw, times: f.times, context: f.context, last: -1}
	if f.grep != "" {
		p.grep = &matchPrinter{pattern: regexp.MustCompile(f.grep), paint: p.paint, raw: f.raw}
		p.last = f.lines
	}
	return p
}

// name gives a log its name and colour: the same ones every time, unless others
// have them already.
func (p *mergePrinter) name(s *logSource, others []*logSource) {
	s.label = output.Visible(cmp.Or(s.process.Name, s.process.ID))
	if slices.ContainsFunc(others, func(o *logSource) bool { return o.label == s.label }) {
		s.label += " " + s.process.ID
	}
	p.width = max(p.width, cellwidth.Of(s.label))
	h := fnv.New32a()
	h.Write([]byte(s.process.Name))
	first := int(h.Sum32() % uint32(len(nameTints)))
	s.tint = nameTints[first]
	for i := range nameTints {
		tint := nameTints[(first+i)%len(nameTints)]
		if !slices.ContainsFunc(others, func(o *logSource) bool { return o.tint == tint }) {
			s.tint = tint
			return
		}
	}
}

// add prints a line, unless it is searched for others.
func (p *mergePrinter) add(l logLine) error {
	switch {
	case l.note != "":
		if err := p.flush(); err != nil {
			return err
		}
		p.Tell("%s %s", l.source.label, l.note)
		return nil
	case p.grep == nil:
		return p.line(l)
	case p.grep.pattern.Match(l.text):
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
func (p *mergePrinter) match(l logLine) error {
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
func (p *mergePrinter) line(l logLine) error {
	const most = 32 << 10
	text := strings.ToValidUTF8(string(l.text), "\uFFFD")
	switch {
	case p.JSON:
		j := jsonLine{Name: l.source.process.Name, ID: l.source.process.ID, Stream: l.stream, Text: text}
		if !l.at.IsZero() {
			j.Time = &l.at
		}
		return p.PrintJSON(j, "")
	case p.raw:
		text = string(l.text)
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

// prefix is what stands before a line: whose it is, and a sign for what came by
// standard error.
func (p *mergePrinter) prefix(l logLine) string {
	sign, tint := "|", output.Tint(l.source.tint)
	if l.stream == "stderr" {
		sign = p.paint(output.Red, "!")
	} else {
		sign = p.paint(tint, sign)
	}
	label := p.paint(tint, l.source.label) + strings.Repeat(" ", p.width-cellwidth.Of(l.source.label))
	when := ""
	if p.times {
		when = strings.Repeat(" ", len(time.DateTime))
		if !l.at.IsZero() {
			when = l.at.Local().Format(time.DateTime)
		}
		when = p.paint(output.Faint, when) + " "
	}
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

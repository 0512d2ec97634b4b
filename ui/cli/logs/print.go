package logs

import (
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
	"tandem/engine/base/cellwidth"
	"tandem/engine/screen/rendered"
	"tandem/ui/cli/output"
)

// nameTints are the colours of names. They suit dark and light backgrounds; red is reserved for
// errors.
var nameTints = [...]string{"36", "33", "32", "35", "34", "96", "93", "92", "95", "94"}

// A mergePrinter prints the lines of several logs, each after its process's name. Lines of sessions
// are converted to text.
type mergePrinter struct {
	output.Printer
	paint   func(output.Tint, string) string
	width   int // width of the longest name
	raw     bool
	times   bool
	alone   bool          // there is only one log, so lines need no name
	grep    *matchPrinter // nil without --grep
	context int
	last    int // how many of the current matches to print; -1 means all

	text    strings.Builder // text to print at the next flush
	held    []matchGroup    // the last matches, up to p.last
	before  []mergedLine    // the last lines without a match, for context
	after   int             // lines still to print after a match
	skipped bool            // lines were skipped since the last one printed
	found   int
}

// A mergedLine is a line of merged logs, or a note about one of the processes.
type mergedLine struct {
	logmerge.Line
	Source *logmerge.Source
	Stream string // stdout or stderr if they have separate logs
	note   string // a note in place of a line
}

// A matchGroup is a matching line with its context.
type matchGroup struct {
	skipped bool // lines before it were skipped
	lines   []mergedLine
}

func newMergePrinter(out output.Printer, f flags) *mergePrinter {
	p := &mergePrinter{Printer: out, paint: out.Painter(), raw: f.raw, times: f.times, context: f.context, last: -1}
	if f.grep != "" {
		p.grep = newMatchPrinter(p.Printer, f.grep, f.raw, false)
		if f.lines > 0 { // with 0, reading starts at the ends of the logs
			p.last = f.lines
		}
	}
	return p
}

// add prints a line or note. With --grep it prints only matches and their context.
func (p *mergePrinter) add(l mergedLine) error {
	shown := rendered.AppendText(nil, l.Text)
	if !p.raw && (!p.JSON || l.Source.Process.Kind == api.KindSession) {
		l.Text = shown
	}
	switch {
	case l.note != "":
		// Notes go to standard error, so print earlier lines first.
		if err := p.flush(); err != nil {
			return err
		}
		p.Tell("%s %s", l.Source.Label, l.note)
		return nil
	case p.grep == nil:
		return p.writeLine(l)
	case p.grep.pattern.Match(shown):
		return p.addMatch(l)
	case p.after > 0:
		p.after--
		if p.last >= 0 {
			group := &p.held[len(p.held)-1]
			group.lines = append(group.lines, l)
			return nil
		}
		return p.writeLine(l)
	}
	p.before = append(p.before, l)
	if len(p.before) > p.context {
		p.before, p.skipped = p.before[1:], true
	}
	return nil
}

// addMatch prints a matching line with the context before it, or holds them until endBacklog.
func (p *mergePrinter) addMatch(l mergedLine) error {
	group := matchGroup{skipped: p.skipped, lines: append(p.before, l)}
	p.before, p.skipped, p.after = nil, false, p.context
	if p.last < 0 {
		return p.printMatch(group)
	}
	p.held = append(p.held, group)
	p.held = p.held[max(len(p.held)-p.last, 0):]
	return nil
}

// printMatch prints a match with its context.
func (p *mergePrinter) printMatch(g matchGroup) error {
	if g.skipped && p.found > 0 && p.context > 0 && !p.JSON {
		p.text.WriteString(p.paint(output.Faint, "--") + "\n")
	}
	p.found++
	for _, l := range g.lines {
		if err := p.writeLine(l); err != nil {
			return err
		}
	}
	return nil
}

// endBacklog prints the held matches. Later matches are printed immediately.
func (p *mergePrinter) endBacklog() error {
	p.last = -1
	for _, g := range p.held {
		if err := p.printMatch(g); err != nil {
			return err
		}
	}
	p.held = nil
	return p.flush()
}

// A jsonLine is the JSON form of a line in a merged log.
type jsonLine struct {
	Name   string     `json:"name"`
	ID     string     `json:"id"`
	Stream string     `json:"stream,omitempty"`
	Time   *time.Time `json:"time,omitempty"`
	Text   string     `json:"text"`
}

// writeLine formats one line.
func (p *mergePrinter) writeLine(l mergedLine) error {
	const maxText = 32 << 10
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
		text = p.grep.highlight(text)
	default:
		text = p.Escape(text, "\t")
	}
	p.text.WriteString(p.prefix(l) + text + "\n")
	if p.text.Len() > maxText {
		return p.flush()
	}
	return nil
}

// prefix returns the beginning of a printed line: its time, its process's name, and a sign for
// standard output or error.
func (p *mergePrinter) prefix(l mergedLine) string {
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

func (p *mergePrinter) flush() error {
	text := p.text.String()
	p.text.Reset()
	if text == "" {
		return nil
	}
	return p.Print(text)
}

package outputs

import (
	"regexp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
)

// open shows the selected line where it was printed: in the scrollback of a running session, or else
// in its log. If it has no record any more, the keyboard goes to its output here.
func (s *Search) open(h dialog.Host) tea.Cmd {
	hit := s.lines.selected()
	if hit == nil {
		return nil
	}
	p, known := s.o.Env.News().Process(hit.ID)
	if !known { // its record is gone, so only this dialog has its output
		s.focus = onOutput
		return nil
	}
	line := s.lineOf(hit)
	s.close(h)
	if p.Kind == api.KindSession && !p.State.Ended() && line.Nth > 0 {
		return s.o.ShowLine(line)
	}
	return s.o.ShowLog(line)
}

// maxNth is how many equal lines are told apart in a scrollback.
const maxNth = 50

// lineOf returns how to find a hit. Nth is 0 if it cannot be found by its text.
func (s *Search) lineOf(hit *api.OutputHit) Line {
	in := s.finder.query.in
	line := Line{ID: hit.ID, Stream: hit.Stream, Offset: hit.Offset, Pattern: in.Pattern}
	plain := lineText(hit)
	words := strings.Fields(plain)
	// Newer equal lines may not have been found.
	if len(words) == 0 || hit.CutBefore+hit.CutAfter > 0 || in.Until != nil {
		return line
	}
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	// A screen has blanks in place of tabs.
	line.Text = api.Pattern{Text: `^\s*` + strings.Join(words, `\s+`) + `\s*$`, Regexp: true, Exact: true}
	for i := range s.lines.hits {
		if h := &s.lines.hits[i]; h.ID == hit.ID && h.Offset >= hit.Offset && lineText(h) == plain {
			line.Nth++
		}
	}
	if _, err := line.Text.Compile(); err != nil || line.Nth > maxNth { // the pattern may be too long
		line.Nth = 0
	}
	return line
}

// insertCommand types the command behind the selected line at the prompt of the session used
// last.
func (s *Search) insertCommand() tea.Cmd {
	hit := s.lines.selected()
	if hit == nil {
		return nil
	}
	command := s.lines.command(hit)
	if command == "" {
		return s.o.Env.Say("the command that printed this line is unknown", true)
	}
	s.finder.stop()
	return s.o.Env.Insert(command)
}

// copyLines puts the marked lines, or the selected one, on the clipboard.
func (s *Search) copyLines() tea.Cmd {
	hits := s.lines.chosen()
	if len(hits) == 0 {
		return nil
	}
	all := make([]string, len(hits))
	for i, h := range hits {
		all[i] = lineText(h)
	}
	what := ""
	if len(hits) > 1 {
		what = text.Count(len(hits), "line")
	}
	return s.o.Env.Copy(strings.Join(all, "\n"), what)
}

package ui

import (
	"context"
	"strings"

	"tandem/engine/api"
)

// textRows returns the scrollback and the screen of a fake session as text.
func (s *fakeSession) textRows() (rows []string) {
	for _, l := range append(append([]api.Line(nil), s.old...), s.lines...) {
		var b strings.Builder
		for _, r := range l.Runs {
			b.WriteString(r.Text)
		}
		rows = append(rows, b.String())
	}
	return rows
}

func (s *fakeSession) hasMark(n int, mark string) bool {
	l := append(append([]api.Line(nil), s.old...), s.lines...)[n]
	return mark == api.MarkedPrompt && l.Prompt || mark == api.MarkedOutput && l.Output
}

func (e *fakeEngine) findText(_ context.Context, in api.SessionFindInput) (out api.SessionFindOutput, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := e.findSession(in.ID)
	if err != nil {
		return out, err
	}
	var all []api.SessionMatch
	for n, row := range s.textRows() {
		at := func(x int) api.Place { return api.Place{Line: int64(n), Cell: x} }
		if in.Mark != "" {
			if s.hasMark(n, in.Mark) {
				all = append(all, api.SessionMatch{From: at(0), To: at(0)})
			}
			continue
		}
		re, err := in.Compile()
		if err != nil {
			return out, err
		}
		for _, m := range re.FindAllStringIndex(row, -1) {
			all = append(all, api.SessionMatch{From: at(m[0]), To: at(m[1])})
		}
	}
	out.Total = len(all)
	best := -1
	for i, m := range all {
		if in.Backward && m.From.Before(in.From) || !in.Backward && in.From.Before(m.From) && best < 0 {
			best = i
		}
	}
	if best < 0 && in.Wrap && len(all) > 0 {
		if best = 0; in.Backward {
			best = len(all) - 1
		}
	}
	if best >= 0 {
		out.Match, out.Number = &all[best], best+1
	}
	return out, nil
}

func (e *fakeEngine) copyText(_ context.Context, in api.SessionTextInput) (out api.SessionTextOutput, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s, err := e.findSession(in.ID)
	if err != nil {
		return out, err
	}
	for n, row := range s.textRows() {
		line := int64(n)
		if line < in.From.Line || line > in.To.Line {
			continue
		}
		from, to := 0, len(row)
		if in.Block || line == in.From.Line {
			from = min(in.From.Cell, len(row))
		}
		if in.Block || line == in.To.Line {
			to = min(in.To.Cell, len(row))
		}
		out.Text += row[from:max(from, to)]
		if line < in.To.Line {
			out.Text += "\n"
		}
	}
	return out, nil
}

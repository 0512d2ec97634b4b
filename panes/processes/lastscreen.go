package processes

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A lastScreen is the screen of a full-screen program, shown in place of its log: what such a program
// prints makes no lines.
type lastScreen struct {
	env   Env
	id    string   // of the session
	lines []string // with colours; nil if no full-screen program runs, or ran at the end
	asked time.Time
	busy  bool
}

// screenEvery is the interval between two looks at the screen.
const screenEvery = time.Second

// fetch returns the command that looks at the screen of a session again, if it is time.
func (s *lastScreen) fetch(p *api.Process) tea.Cmd {
	if p.ID != s.id {
		s.id, s.lines, s.asked = p.ID, nil, time.Time{}
	}
	done := p.State.Ended() && !s.asked.IsZero()
	if p.Kind != api.KindSession || s.busy || done || time.Since(s.asked) < screenEvery {
		return nil
	}
	s.busy, s.asked = true, time.Now()
	return panes.Ask(s.env.Context(), s.env, func(ctx context.Context, e panes.Engine) (api.Screen, error) {
		return api.SessionScreen.Call(ctx, e, api.SessionScreenInput{ID: p.ID, ANSI: true})
	}, func(screen api.Screen, err error) tea.Cmd {
		s.busy = false
		if s.id == p.ID {
			s.lines = nil
			if err == nil && screen.AltScreen {
				s.lines = screen.Lines
			}
		}
		return nil
	})
}

// draw returns h rows of w cells.
func (s *lastScreen) draw(w, h int, look *look.Look) (rows []string) {
	for _, line := range s.lines[:min(len(s.lines), h)] {
		rows = append(rows, text.Pad(text.Cut(line, w, look.Glyphs.More)+text.SgrReset, w))
	}
	return text.PadRows(rows, w, h)
}

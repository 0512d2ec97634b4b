package processes

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// A lastScreen is the screen of a full-screen program. It is shown in place of the log, because
// such a program does not print lines.
type lastScreen struct {
	env   panes.Env
	id    string   // of the session
	lines []string // with colours; nil if no full-screen program runs, or ran at the end
	asked time.Time
	busy  bool
}

// screenEvery is the interval at which the screen is fetched.
const screenEvery = time.Second

// fetch returns the command that fetches the screen of a session, if it is time for that.
func (s *lastScreen) fetch(p *api.Process) tea.Cmd {
	if p.ID != s.id {
		s.id, s.lines, s.asked = p.ID, nil, time.Time{}
	}
	done := p.State.Ended() && !s.asked.IsZero()
	if p.Kind != api.KindSession || s.busy || done || time.Since(s.asked) < screenEvery {
		return nil
	}
	s.busy, s.asked = true, time.Now()
	return panes.Call(s.env.Context(), s.env, func(ctx context.Context, e panes.Engine) ([]string, error) {
		screen, err := api.SessionScreen.Call(ctx, e, api.SessionScreenInput{ID: p.ID, ANSI: true})
		switch {
		case err != nil:
			return nil, err
		case screen.AltScreen:
			return screen.Lines, nil
		case !p.State.Ended() || p.Terminal == nil || p.Terminal.Shell:
			return nil, nil
		}
		return leftOnScreen(ctx, e, p.ID, screen.Lines)
	}, func(lines []string, err error) tea.Cmd {
		s.busy = false
		if s.id == p.ID {
			s.lines = lines
		}
		return nil
	})
}

// leaveScreen is what a full-screen program prints when it exits.
const leaveScreen = "\x1b[?1049l"

// leftOnScreen returns lines, the screen that an exited program left, if the end of its log shows
// that it was a full-screen program. Otherwise it returns nil.
func leftOnScreen(ctx context.Context, e panes.Engine, id string, lines []string) ([]string, error) {
	since := int64(-16 << 10)
	end, err := api.ProcessLog.Call(ctx, e, api.ProcessLogInput{ID: id, Since: &since})
	if err != nil || !strings.Contains(end.Data, leaveScreen) {
		return nil, err
	}
	if strings.TrimSpace(strings.Join(lines, "")) == "" {
		return []string{"", "  The program left an empty screen."}, nil
	}
	return lines, nil
}

// draw returns h rows of w cells.
func (s *lastScreen) draw(w, h int, look *look.Look) (rows []string) {
	for _, line := range s.lines[:min(len(s.lines), h)] {
		rows = append(rows, text.Pad(text.Cut(line, w, look.Glyphs.More)+text.SgrReset, w))
	}
	return text.PadRows(rows, w, h)
}

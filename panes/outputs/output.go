package outputs

import (
	"context"
	"regexp"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/panes"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/processes/logview"
)

// outputDelay is how long the cursor must rest before the log at a line is loaded.
const outputDelay = 60 * time.Millisecond

// output shows the log around the selected line.
type output struct {
	env     panes.Env
	focused bool
	w, h    int // of the log

	log     *logview.Log // nil for none
	at      place
	re      *regexp.Regexp
	loading panes.LatestCall
}

// show shows the log at a line.
func (o *output) show(h *api.OutputHit, re *regexp.Regexp) {
	at := placeOf(h)
	if o.log != nil && o.at == at && o.re == re {
		return
	}
	if o.log == nil || o.at.id != at.id || o.at.stream != at.stream {
		kind := api.KindProcess
		if h.Kind == string(api.KindSession) {
			kind = api.KindSession
		}
		o.log = logview.New(at.id, at.stream, kind)
		o.log.ToggleWrap() // so that matches far to the right are visible too
	}
	o.at, o.re = at, re
	o.log.GoTo(at.offset, "", re)
}

// fetch loads the next part of the log.
func (o *output) fetch() tea.Cmd {
	log := o.log
	if p, ok := o.env.News().Process(log.ID); ok {
		log.SetState(p.State, nil)
	}
	log.SetSize(o.w, o.h)
	log.SetEngine(o.env.News().Snapshots)
	r, ok := log.NextRequest()
	if !ok {
		return nil
	}
	ctx := o.loading.Begin(o.env.Context())
	return panes.Call(ctx, o.env, func(ctx context.Context, e panes.Engine) (logview.Answer, error) {
		_ = sleep.For(ctx, max(r.Delay, outputDelay))
		return r.Run(ctx, e)
	}, func(a logview.Answer, err error) tea.Cmd {
		if ctx.Err() == nil {
			log.AcceptAnswer(r, a, err)
		}
		return nil
	})
}

// draw draws the log under a heading, with the border to lines beside it.
func (o *output) draw(h *api.OutputHit, command string, p layout, look *look.Look) []string {
	edge, border, w := "", "", p.output.W
	if p.beside {
		edge, border, w = look.Edge("┬", o.focused), look.Edge("│", o.focused)+" ", w+1
	}
	o.log.Focused = o.focused
	rows := []string{edge + o.log.DrawHeading(text.Clip(fullName(h), w/3), text.Clean(command), look.Dim, w, look)}
	for _, row := range o.log.Draw(p.output.W, p.output.H, look) {
		rows = append(rows, border+row)
	}
	return rows
}

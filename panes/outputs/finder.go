package outputs

import (
	"context"
	"errors"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/engine/base/units"
	"tandem/panes"
	"tandem/panes/kit/text"
)

const (
	// callLines is how many lines to request at once.
	callLines = 1000
	// callWait is how long a call searches, in milliseconds. The first call has the engine's default,
	// because the user waits for its answer.
	callWait   = 200
	retryDelay = time.Second // after the engine was lost
)

// A finder searches all selected machines at once, in calls continuing each other.
type finder struct {
	env      panes.Env
	query    query
	machines []*machine
	call     panes.LatestCall
	ctx      context.Context // of the search; nil before the first
	answered bool            // an answer of this search has arrived
	problem  error           // why there are no answers
}

// A machine is the search on one machine.
type machine struct {
	host    string
	cursor  *api.OutputCursor // for the next call
	delay   time.Duration     // before that call
	calling bool
	done    bool
	left    int64 // bytes not searched
	skipped int   // unreadable logs
	err     error // why it was not searched completely
}

// start begins a search in place of the last one.
func (f *finder) start(q query) {
	f.stop()
	f.query, f.answered = q, false
	for _, host := range q.hosts {
		f.machines = append(f.machines, &machine{host: host})
	}
}

// stop ends the search.
func (f *finder) stop() {
	f.ctx = f.call.Begin(f.env.Context())
	f.machines, f.problem = nil, nil
}

// fetch makes the next call to each machine. add takes the lines found, and reports false if no more
// are wanted.
func (f *finder) fetch(add func([]api.OutputHit) (more bool)) tea.Cmd {
	var cmds []tea.Cmd
	for _, m := range f.machines {
		if m.calling || m.done {
			continue
		}
		m.calling = true
		ctx, delay, in := f.ctx, m.delay, f.query.in
		in.Host, in.Cursor, in.Limit = m.host, m.cursor, callLines
		if m.cursor != nil {
			in.WaitMS = callWait
		}
		cmds = append(cmds, panes.Call(ctx, f.env, func(ctx context.Context, e panes.Engine) (api.OutputSearchOutput, error) {
			_ = sleep.For(ctx, delay)
			return api.OutputSearch.Call(ctx, e, in)
		}, func(out api.OutputSearchOutput, err error) tea.Cmd {
			if ctx.Err() == nil && f.accept(m, out, err) && !add(out.Hits) {
				for _, m := range f.machines {
					m.done = true
				}
			}
			return nil
		}))
	}
	return tea.Batch(cmds...)
}

// accept stores the answer of a machine, and reports whether there is one.
func (f *finder) accept(m *machine, out api.OutputSearchOutput, err error) bool {
	m.calling = false
	switch {
	case err == nil:
		f.answered = true
		m.cursor, m.left, m.skipped, m.delay = out.Cursor, out.Left, out.Skipped, 0
		m.done = out.Cursor == nil
		return true
	case m.host == "" && errors.Is(err, api.CodeUnavailable):
		m.delay = retryDelay // the cursor is valid in the next engine too
	case errors.Is(err, api.CodeInvalid):
		f.stop()
		f.problem = err
	default:
		m.done, m.err = true, err
	}
	return false
}

// isSettled reports whether an answer has arrived, or none will.
func (f *finder) isSettled() bool { return f.answered || !f.isRunning() }

func (f *finder) isRunning() bool {
	for _, m := range f.machines {
		if !m.done {
			return true
		}
	}
	return false
}

// left describes how much is still to be searched; "" if unknown.
func (f *finder) left() string {
	n := int64(0)
	for _, m := range f.machines {
		if !m.done {
			n += m.left
		}
	}
	if n == 0 {
		return ""
	}
	return units.Bytes(n) + " left"
}

// missing says what was not searched, and why; "" if nothing is missing.
func (f *finder) missing() string {
	var parts []string
	parts = append(parts, f.query.away...)
	skipped := 0
	for _, m := range f.machines {
		skipped += m.skipped
		switch {
		case m.err != nil && m.host != "":
			parts = append(parts, text.Clean(m.host)+": "+text.Clean(panes.ErrorText(m.err)))
		case m.err != nil:
			parts = append(parts, text.Clean(panes.ErrorText(m.err)))
		}
	}
	if skipped > 0 {
		parts = append(parts, text.Count(skipped, "unreadable log"))
	}
	if len(parts) == 0 {
		return ""
	}
	return "without " + strings.Join(parts, ", ")
}

package ui

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/history"
	"tandem/panes/widget"
	"tandem/ui/conn"
)

const (
	// detailDelay is how long the cursor has to rest before more is asked about
	// a command.
	detailDelay = 60 * time.Millisecond
	// detailRuns is how many runs of a command are told.
	detailRuns = 50
	// outputTail is how much of the output of a run is shown, in bytes.
	outputTail = 32 << 10
)

// detailMsg is what was asked about a command.
type detailMsg struct {
	id     int64
	runs   api.HistorySearchOutput
	output history.Output
	err    error
}

// pumpDetail asks about the command under the cursor, once it stays there.
func (m *model) pumpDetail() tea.Cmd {
	h := &m.history
	if m.historyParts().detail.h == 0 {
		return nil
	}
	row, ok := h.list.Selected()
	switch {
	case ok:
		h.detail.Show(row)
	case h.list.Settled() && h.list.Total() == 0:
		h.detail.Hide()
	}
	row, ok = h.detail.Next()
	if !ok {
		return nil
	}
	if h.stopDetail != nil {
		h.stopDetail()
	}
	ctx, stop := context.WithCancel(m.ctx)
	h.stopDetail = stop
	split := false
	if p, known := m.process(row.Process); known {
		split = widget.SplitLog(&p)
	}
	return askDetail(ctx, m.link, row.Command, split)
}

func askDetail(ctx context.Context, l *conn.Link, c api.Command, split bool) tea.Cmd {
	return func() tea.Msg {
		pause(ctx, detailDelay)
		e, err := l.At(ctx)
		if err != nil {
			return detailMsg{id: c.ID, err: err}
		}
		runs, err := e.SearchHistory(ctx, api.HistorySearchInput{Exact: c.Command, Limit: detailRuns})
		if err != nil {
			return detailMsg{id: c.ID, err: err}
		}
		return detailMsg{id: c.ID, runs: runs, output: readOutput(ctx, e, c, split)}
	}
}

func (m *model) takeDetail(msg detailMsg) tea.Cmd {
	if msg.err == nil && m.history.detail.Take(msg.id, msg.runs, msg.output) {
		m.dirty = true
	}
	return nil
}

// readOutput reads the end of what a run has printed, where that is kept.
func readOutput(ctx context.Context, e panes.Engine, c api.Command, split bool) history.Output {
	switch {
	case c.Process == "" || c.Kind == "added":
		return history.Output{Note: "its output is not known here"}
	case c.Kind == "session" && c.LogEnd == 0:
		return history.Output{Note: "where its output begins was not told by the shell"}
	case c.LogEnd > 0 && c.LogEnd <= c.LogStart:
		return history.Output{Note: "it printed nothing"}
	case c.LogEnd > 0:
		return outputBetween(ctx, e, c)
	}
	return outputAtEnd(ctx, e, c, split)
}

// outputBetween reads the end of what a session's log has between two offsets.
func outputBetween(ctx context.Context, e panes.Engine, c api.Command) history.Output {
	since := max(c.LogStart, c.LogEnd-outputTail)
	out, err := e.Log(ctx, api.ProcessLogInput{ID: c.Process, Since: &since, Max: int(c.LogEnd - since)})
	switch {
	case err != nil:
		return lostOutput(err)
	case out.Start >= c.LogEnd:
		return history.Output{Note: "its output is no longer kept"}
	}
	return history.Output{Text: out.Data, Terminal: true, Cut: out.Start > c.LogStart}
}

// outputAtEnd reads the end of the log of a process: of both logs, where
// errors have one of their own.
func outputAtEnd(ctx context.Context, e panes.Engine, c api.Command, split bool) (all history.Output) {
	streams := []string{""}
	if split {
		streams = []string{"stdout", "stderr"}
	}
	since := int64(-outputTail)
	for _, stream := range streams {
		out, err := e.Log(ctx, api.ProcessLogInput{ID: c.Process, Stream: stream, Since: &since, Max: outputTail})
		if err != nil {
			return lostOutput(err)
		}
		if all.Text != "" && all.Text[len(all.Text)-1] != '\n' {
			all.Text += "\n"
		}
		all.Cut = all.Cut || stream != "stderr" && out.Start > 0
		all.Text += out.Data
	}
	if all.Text == "" {
		all.Note = "it has printed nothing"
	}
	return all
}

func lostOutput(err error) history.Output {
	if errors.Is(err, api.CodeNotFound) {
		return history.Output{Note: "its output is no longer kept"}
	}
	return history.Output{Note: "its output cannot be read: " + widget.Clean(panes.ErrorText(err))}
}

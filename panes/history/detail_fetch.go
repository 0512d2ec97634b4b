package history

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/sleep"
	"tandem/panes"
	"tandem/panes/widget"
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

// fetchDetail asks about the command under the cursor, once it stays there.
func (p *Pane) fetchDetail() tea.Cmd {
	if p.parts().detail.H == 0 {
		return nil
	}
	row, ok := p.list.Selected()
	switch {
	case ok:
		p.detail.Show(row)
	case p.list.Settled() && p.list.Total() == 0:
		p.detail.Hide()
	}
	row, ok = p.detail.Next()
	if !ok {
		return nil
	}
	if p.stopDetail != nil {
		p.stopDetail()
	}
	ctx, stop := context.WithCancel(p.env.Context())
	p.stopDetail = stop
	split := false
	if process, known := p.env.News().Process(row.Process); known {
		split = widget.SplitLog(&process)
	}
	var output Output
	in := api.HistorySearchInput{Exact: row.Command.Command, Limit: detailRuns}
	if row.Host != "" {
		in.Hosts = []string{row.Host}
	}
	return panes.Ask(ctx, p.env, func(ctx context.Context, e panes.Engine) (api.HistorySearchOutput, error) {
		_ = sleep.For(ctx, detailDelay)
		runs, err := api.HistorySearch.Call(ctx, e, in)
		if err == nil {
			output = fetchOutput(ctx, e, row.Command, split)
		}
		return runs, err
	}, func(runs api.HistorySearchOutput, err error) tea.Cmd {
		if err == nil {
			p.detail.Take(&row, runs, output)
		}
		return nil
	})
}

// fetchOutput reads the end of what a run has printed, where that is kept.
func fetchOutput(ctx context.Context, e panes.Engine, c api.Command, split bool) Output {
	switch {
	case c.Process == "" || c.Kind == "added":
		return Output{Note: "output not recorded"}
	case c.Kind == "session" && c.LogEnd == 0:
		return Output{Note: "the shell did not mark where its output begins"}
	case c.LogEnd > 0 && c.LogEnd <= c.LogStart:
		return Output{Note: "no output"}
	case c.LogEnd > 0:
		return outputBetween(ctx, e, c)
	}
	return outputAtEnd(ctx, e, c, split)
}

// outputBetween reads the end of what a session's log has between two offsets.
func outputBetween(ctx context.Context, e panes.Engine, c api.Command) Output {
	since := max(c.LogStart, c.LogEnd-outputTail)
	out, err := api.ProcessLog.Call(ctx, e, api.ProcessLogInput{ID: c.Process, Since: &since, Max: int(c.LogEnd - since)})
	switch {
	case err != nil:
		return lostOutput(err)
	case out.Start >= c.LogEnd:
		return Output{Note: "output no longer in the log"}
	}
	return Output{Text: out.Data, Terminal: true, Cut: out.Start > c.LogStart}
}

// outputAtEnd reads the end of the log of a process: of both logs, where
// errors have one of their own.
func outputAtEnd(ctx context.Context, e panes.Engine, c api.Command, split bool) (all Output) {
	streams := []string{""}
	if split {
		streams = []string{"stdout", "stderr"}
	}
	since := int64(-outputTail)
	for _, stream := range streams {
		out, err := api.ProcessLog.Call(ctx, e, api.ProcessLogInput{ID: c.Process, Stream: stream, Since: &since, Max: outputTail})
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
		all.Note = "no output"
	}
	return all
}

func lostOutput(err error) Output {
	if errors.Is(err, api.CodeNotFound) {
		return Output{Note: "output no longer in the log"}
	}
	return Output{Note: "cannot read the output: " + widget.Clean(panes.ErrorText(err))}
}

package history

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/sleep"
	"tandem/panes"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

const (
	// detailDelay is how long the cursor must rest before the details of a command are loaded.
	detailDelay   = 60 * time.Millisecond
	maxDetailRuns = 50
	// maxOutputTail is how many bytes of a run's output are loaded.
	maxOutputTail = 32 << 10
)

// fetchDetail loads the details of the command under the cursor after a delay.
func (p *Pane) fetchDetail() tea.Cmd {
	if p.computeLayout().detail.H == 0 {
		return nil
	}
	row, ok := p.list.Selected()
	switch {
	case ok:
		p.detail.ShowRow(row)
	case p.list.IsSettled() && p.list.Total() == 0:
		p.detail.Hide()
	}
	row, ok = p.detail.NextRow()
	if !ok {
		return nil
	}
	if p.cancelDetail != nil {
		p.cancelDetail()
	}
	ctx, stop := context.WithCancel(p.env.Context())
	p.cancelDetail = stop
	split := false
	if process, known := p.env.News().Process(row.Process); known {
		split = states.SplitLog(&process)
	}
	var output Output
	in := api.HistorySearchInput{Exact: row.Command.Command, Limit: maxDetailRuns}
	if row.Host != "" {
		in.Hosts = []string{row.Host}
	}
	return panes.Ask(ctx, p.env, func(ctx context.Context, e panes.Engine) (api.HistorySearchOutput, error) {
		// While the cursor moves on, each request is cancelled here.
		_ = sleep.For(ctx, detailDelay)
		runs, err := api.HistorySearch.Call(ctx, e, in)
		if err == nil {
			output = fetchOutput(ctx, e, row.Command, split)
		}
		return runs, err
	}, func(runs api.HistorySearchOutput, err error) tea.Cmd {
		if err == nil {
			p.detail.StoreRuns(&row, runs, output)
		}
		return nil
	})
}

// fetchOutput reads the end of a run's output, if the log still has it.
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

// outputBetween reads the end of a range in a session's log.
func outputBetween(ctx context.Context, e panes.Engine, c api.Command) Output {
	since := max(c.LogStart, c.LogEnd-maxOutputTail)
	out, err := api.ProcessLog.Call(ctx, e, api.ProcessLogInput{ID: c.Process, Since: &since, Max: int(c.LogEnd - since)})
	switch {
	case err != nil:
		return outputError(err)
	case out.Start >= c.LogEnd:
		return Output{Note: "output no longer in the log"}
	}
	return Output{Text: out.Data, Terminal: true, Cut: out.Start > c.LogStart}
}

// outputAtEnd reads the end of a process's log, or of both logs if standard error has its own.
func outputAtEnd(ctx context.Context, e panes.Engine, c api.Command, split bool) (all Output) {
	streams := []string{""}
	if split {
		streams = []string{"stdout", "stderr"}
	}
	since := int64(-maxOutputTail)
	for _, stream := range streams {
		out, err := api.ProcessLog.Call(ctx, e, api.ProcessLogInput{ID: c.Process, Stream: stream, Since: &since, Max: maxOutputTail})
		if err != nil {
			return outputError(err)
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

func outputError(err error) Output {
	if errors.Is(err, api.CodeNotFound) {
		return Output{Note: "output no longer in the log"}
	}
	return Output{Note: "cannot read the output: " + text.Clean(panes.ErrorText(err))}
}

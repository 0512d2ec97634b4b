package history

import (
	"context"
	"errors"
	"regexp"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
	"tandem/panes"
	"tandem/panes/kit/dialog"
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

// A viewer loads and shows the details of the command under the cursor, and searches its output.
type viewer struct {
	env     panes.Env
	detail  Detail
	line    *dialog.Find // searches the output; opened last
	pattern api.Pattern  // of the last search
	loading panes.LatestCall
}

// fetch loads the details of the row under the cursor, after a delay.
func (v *viewer) fetch() tea.Cmd {
	row, ok := v.detail.NextRow()
	if !ok {
		return nil
	}
	ctx := v.loading.Begin(v.env.Context())
	split := false
	if process, known := v.env.News().Process(row.Process); known {
		split = states.SplitLog(&process)
	}
	var output Output
	in := api.HistorySearchInput{Exact: row.Command.Command, Limit: maxDetailRuns}
	if row.Host != "" {
		in.Hosts = []string{row.Host}
	}
	return panes.Call(ctx, v.env, func(ctx context.Context, e panes.Engine) (api.HistorySearchOutput, error) {
		// If the cursor moves on, the request is cancelled during this pause.
		_ = sleep.For(ctx, detailDelay)
		runs, err := api.HistorySearch.Call(ctx, e, in)
		if err == nil {
			output = fetchOutput(ctx, e, row.Command, split)
		}
		return runs, err
	}, func(runs api.HistorySearchOutput, err error) tea.Cmd {
		if err == nil {
			v.detail.StoreRuns(&row, runs, output)
		}
		return nil
	})
}

// askSearch opens the search line for the output, and shows the nearest match as the user types.
func (v *viewer) askSearch() tea.Cmd {
	d := &v.detail
	if len(d.output) == 0 {
		return v.env.Say("no output to search", false)
	}
	origin := d.SaveView()
	f := dialog.NewFind(&v.pattern)
	f.Restore = func() { d.RestoreView(origin) }
	f.Search = func(re *regexp.Regexp) tea.Cmd {
		if d.SetPattern(re); re != nil {
			f.Tell(d.MatchNumber())
		}
		return nil
	}
	f.Repeat = func() tea.Cmd { return v.nextMatch(false) }
	f.Say = v.env.Say
	v.line = f
	v.env.Ask(f)
	return nil
}

// nextMatch goes to the next match of the last pattern in the output, or to the previous one if
// back is set. If there is no pattern yet, it asks for one.
func (v *viewer) nextMatch(back bool) tea.Cmd {
	switch {
	case v.pattern.Text == "":
		return v.askSearch()
	case v.detail.search.re == nil:
		re, err := v.pattern.Compile()
		if err != nil {
			return v.env.Say(panes.ErrorText(err), true)
		}
		v.detail.SetPattern(re)
	default:
		v.detail.StepMatch(back)
	}
	if _, total := v.detail.MatchNumber(); total == 0 {
		return v.env.Say("no match", false)
	}
	return nil
}

// fetchOutput reads the end of a run's output, if the log still has it.
func fetchOutput(ctx context.Context, e api.Engine, c api.Command, split bool) Output {
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

// outputBetween reads the end of a run's output, which is a range of its session's log.
func outputBetween(ctx context.Context, e api.Engine, c api.Command) Output {
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

// outputAtEnd reads the end of a process's log. If stderr has a log of its own, it reads the ends of
// both; split is set if that is known.
func outputAtEnd(ctx context.Context, e api.Engine, c api.Command, split bool) (all Output) {
	streams := []string{""}
	if split {
		streams = []string{"stdout", "stderr"}
	}
	since := int64(-maxOutputTail)
	for i := 0; i < len(streams); i++ {
		stream := streams[i]
		out, err := api.ProcessLog.Call(ctx, e, api.ProcessLogInput{ID: c.Process, Stream: stream, Since: &since, Max: maxOutputTail})
		if err != nil {
			return outputError(err)
		}
		if stream == "" && out.Process != nil && states.SplitLog(out.Process) { // it was not in the list
			streams = append(streams, "stderr")
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

package native

import (
	"context"
	"fmt"
	"strings"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

func historyTool() toolkit.Tool {
	return toolkit.Define[historyInput, toolkit.None](toolkit.Tool{Name: "history", Effect: api.Read, Profiles: []toolkit.Profile{toolkit.Native},
		Doc: "Commands that were run, newest first; query is fuzzy."}, searchHistory)
}

type historyInput struct {
	Query  string `json:"query,omitempty"`
	CWD    string `json:"cwd,omitempty"`
	Actor  string `json:"actor,omitempty" doc:"person or agent:NAME"`
	Failed bool   `json:"failed,omitempty"`
	Unique bool   `json:"unique,omitempty"`
	Limit  int    `json:"limit,omitempty" default:"50" max:"1000"`
	Offset int    `json:"offset,omitempty" schema:"-"`
}

func searchHistory(ctx context.Context, f *toolkit.Agent, in historyInput) (toolkit.Result, error) {
	out, err := api.HistorySearch.Call(ctx, f.Engine, api.HistorySearchInput{Query: in.Query, CWD: in.CWD, Actor: in.Actor,
		Failed: in.Failed, Unique: in.Unique, Limit: in.Limit, Offset: in.Offset})
	if err != nil {
		return toolkit.Result{}, err
	}
	var b strings.Builder
	shown := 0
	size := 0
	for _, row := range out.Rows {
		line := historyLine(row)
		// Whole lines only; the next call continues at offset.
		if size += toolkit.JSONSize(line); size > toolkit.DefaultBodySize {
			break
		}
		b.WriteString(line)
		shown++
	}
	if left := out.Total - in.Offset - shown; left > 0 {
		fmt.Fprintf(&b, "[%d more; use offset=%d]\n", left, in.Offset+shown)
	}
	switch {
	case out.Total == 0:
		b.WriteString("Nothing found.")
	case len(out.Rows) == 0:
		fmt.Fprintf(&b, "Nothing from offset %d on; the total is %d.", in.Offset, out.Total)
	}
	return toolkit.Text(strings.TrimSuffix(b.String(), "\n")), nil
}

// historyLine formats a run: time, exit, duration, actor, folder and command.
func historyLine(row api.HistoryRow) string {
	took := "-"
	if row.DurationMS >= 0 {
		took = fmt.Sprintf("%.1fs", float64(row.DurationMS)/1000)
	}
	runs := ""
	if row.Runs > 1 {
		runs = fmt.Sprintf(" ×%d", row.Runs)
	}
	return fmt.Sprintf("%s  %s  %s  %s  %s%s  %s\n", row.StartedAt.Format("2006-01-02 15:04:05"), commandEnd(row.Command), took, row.Actor+fromMachine(row.From),
		row.CWD, runs, strings.ReplaceAll(toolkit.HeadAndTail(row.Command.Command, maxLine, ""), "\n", "\n    "))
}

// commandEnd says how a command has ended.
func commandEnd(c api.Command) string {
	switch {
	case c.Stopped:
		return "stopped"
	case c.ExitCode != nil:
		return fmt.Sprintf("exit %d", *c.ExitCode)
	case c.ExitSignal != "":
		return "exit " + c.ExitSignal
	}
	return "exit ?"
}

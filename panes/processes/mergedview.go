package processes

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
	"tandem/engine/sleep"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// toggleMerged shows the logs of the marked processes as one, or else those of the
// project of the process under the cursor; or the log of one process again.
func (p *Pane) toggleMerged() tea.Cmd {
	if p.merged != nil {
		p.closeMerged()
		return p.focusLog(false)
	}
	targets := p.table.Targets()
	switch {
	case len(targets) == 0:
		return nil
	case p.table.Marked() > 0:
		return p.showMerged(NewMerged(mergedTitle(targets), "", targets))
	case targets[0].Project == nil:
		return p.env.Say("mark processes to merge their logs"+panes.WithKey(p.env.Bindings(), ": ", keymap.Mark, " marks the row", keymap.ScopeProcesses), false)
	}
	project := targets[0].Project.File
	all := logmerge.Newest(project, p.env.News().Processes, false)
	merged := NewMerged(projectNames(p.env.News().Processes)[projectFile(&targets[0])], project, all)
	for _, other := range p.env.News().Processes {
		merged.Pass(other)
	}
	return p.showMerged(merged)
}

// mergedTitle names the processes whose logs are merged.
func mergedTitle(targets []api.Process) string {
	names := widget.Some(targets, 4, func(p api.Process) string { return widget.Clip(widget.Clean(p.Name), 20) })
	return strings.Join(names, ", ")
}

func (p *Pane) showMerged(m *Merged) tea.Cmd {
	p.dropLog()
	p.merged = m
	return p.focusLog(true)
}

// closeMerged shows the log of the process under the cursor again.
func (p *Pane) closeMerged() {
	if p.merged == nil {
		return
	}
	p.endSearch()
	if p.stop != nil {
		p.stop()
	}
	p.merged, p.stop = nil, nil
}

// fetchMerged asks for what the merged log needs.
func (p *Pane) fetchMerged() tea.Cmd {
	size := p.parts().log
	p.merged.SetSize(size.W, size.H)
	request, ok := p.merged.Next()
	if !ok {
		return nil
	}
	merged := p.merged
	return panes.Ask(askAnew(p), p.env, func(ctx context.Context, e panes.Engine) (mergedAnswer, error) {
		_ = sleep.For(ctx, request.delay)
		return request.Run(ctx, e)
	}, func(a mergedAnswer, err error) tea.Cmd {
		merged.Take(request, a, err)
		return nil
	})
}

// askSaveMerged asks where a merged log is to be saved.
func askSaveMerged(env panes.Env, m *Merged) tea.Cmd {
	spans, name := m.Whole(), "merged"
	if m.project != "" {
		name = m.title
	}
	env.Ask(overlay.NewPrompt("Save the logs of "+widget.Clip(widget.Clean(m.title), 40)+" to",
		filepath.Join(env.Folder(), widget.AsFileName(name)+".log"), func(path string) tea.Cmd {
			if path == "" {
				return nil
			}
			return env.Save(panes.Saving{What: "log", Path: widget.ExpandHome(path, env.Home()),
				Write: func(ctx context.Context, e panes.Engine, to io.Writer) (int64, error) {
					return copyMerged(ctx, e, spans, to)
				}})
		}).SuggestPaths(env.Folder(), env.Home()))
	return nil
}

// copyMerged writes what is kept of logs now, each line behind its process's name.
func copyMerged(ctx context.Context, e api.Engine, spans []logmerge.Span, to io.Writer) (written int64, err error) {
	all := logmerge.Forward(spans, logChunk)
	all.Rest = true
	for {
		line, ok, err := all.Next(ctx, e)
		if err != nil || !ok {
			return written, err
		}
		if line.Note != "" {
			continue
		}
		sign := "|"
		if line.Stream == "stderr" {
			sign = "!"
		}
		n, err := fmt.Fprintf(to, "%s %s %s\n", line.Source.Label, sign, line.Text)
		if written += int64(n); err != nil {
			return written, err
		}
	}
}

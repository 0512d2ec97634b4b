package processes

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/api/logmerge"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// toggleMerged merges the logs of the marked processes or, without marks, of the project under the
// cursor. Called again, it returns to the log of one process.
func (p *Pane) toggleMerged() tea.Cmd {
	if p.merged != nil {
		p.closeMerged()
		return p.focusLog(false)
	}
	targets := p.table.Targets()
	switch {
	case len(targets) == 0:
		return nil
	case p.table.MarkCount() > 0:
		return p.showMerged(NewMerged(joinNames(targets), "", targets))
	case targets[0].Project == nil:
		return p.env.Say("mark processes to merge their logs"+p.env.Bindings().WithKey(": ", keymap.Mark, " marks the row", keymap.ScopeProcesses), false)
	}
	project := targets[0].Project.File
	all := logmerge.Newest(project, p.env.News().Processes, false)
	merged := NewMerged(projectNames(p.env.News().Processes)[projectFile(&targets[0])], project, all)
	for _, other := range p.env.News().Processes {
		merged.Exclude(other)
	}
	return p.showMerged(merged)
}

// joinNames names the processes of a merged log.
func joinNames(targets []api.Process) string {
	names := text.Some(targets, 4, func(p api.Process) string { return text.Clip(text.Clean(p.Name), 20) })
	return strings.Join(names, ", ")
}

func (p *Pane) showMerged(m *Log) tea.Cmd {
	p.dropLog()
	p.merged = m
	return p.focusLog(true)
}

// closeMerged returns to the log of the process under the cursor.
func (p *Pane) closeMerged() {
	if p.merged == nil {
		return
	}
	p.cancelSearch()
	if p.cancelFetch != nil {
		p.cancelFetch()
	}
	p.merged, p.cancelFetch = nil, nil
}

func askSaveMerged(env panes.Env, m *Log) tea.Cmd {
	spans, name := m.WholeSpans(), "merged"
	if m.project != "" {
		name = m.title
	}
	env.Ask(dialog.NewPrompt("Save the logs of "+text.Clip(text.Clean(m.title), 40)+" to",
		filepath.Join(env.Folder(), text.AsFileName(name)+".log"), func(path string) tea.Cmd {
			if path == "" {
				return nil
			}
			return env.Save(panes.FileSave{What: "log", Path: text.ExpandHome(path, env.Home()),
				Write: func(ctx context.Context, e panes.Engine, to io.Writer) (int64, error) {
					return copyMerged(ctx, e, spans, to)
				}})
		}).SuggestPaths(env.Folder(), env.Home()))
	return nil
}

// copyMerged copies the logs as of now, each line with its process's name.
func copyMerged(ctx context.Context, e api.Engine, spans []logmerge.Span, to io.Writer) (written int64, err error) {
	all := logmerge.Forward(spans, maxLogChunk)
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

// maxNameWidth returns the maximum width of the names before lines, a part of the view's width.
func (l *logView) maxNameWidth() int { return min(max(l.w/5, 6), 24) }

// nameCells returns the width of the names with the separator after them.
func (l *logView) nameCells() int {
	if len(l.names) == 0 {
		return 0
	}
	return min(l.nameWidth, l.maxNameWidth()) + 3
}

// drawName draws the name before a row of line i. Standard error has another separator, as in
// merged logs on the command line.
func (l *logView) drawName(i, row int, look *look.Look) string {
	if len(l.names) == 0 {
		return ""
	}
	name := l.names[l.lines[i].name]
	ink, label := look.Tint(name.tint), ""
	if row == 0 {
		label = text.Clip(name.label, l.nameCells()-3)
	}
	rule := ink.Text(look.Glyphs.Separator)
	if name.stderr {
		rule = look.Bad.Text("!")
	}
	return ink.Text(text.Pad(label, l.nameCells()-3)) + " " + rule + " "
}

// WholeSpans returns the spans of the logs from their beginnings.
func (l *Log) WholeSpans() []logmerge.Span {
	spans := slices.Clone(l.spans)
	for i := range spans {
		spans[i].From, spans[i].To = 0, 0
	}
	return spans
}

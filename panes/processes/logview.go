package processes

import (
	"context"
	"io"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/sleep"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// shownLog returns the log of the process under the cursor; nil without one. It is created at once,
// because keys typed after a move of the cursor belong to it.
func (p *Pane) shownLog() *Log {
	selected, ok := p.table.Selected()
	if !ok {
		p.dropLog()
		return nil
	}
	if p.log == nil || p.log.ID != selected.ID {
		p.dropLog()
		stream := ""
		if states.SplitLog(&selected) {
			stream = "stdout"
			if selected.Failed() { // errors usually explain a failure
				stream = "stderr"
			}
		}
		p.log = NewLog(selected.ID, stream, selected.Kind == api.KindSession)
	}
	var tail []string
	if selected.Supervision != nil {
		tail = selected.Supervision.LastLines
	}
	p.log.SetState(selected.State, tail)
	return p.log
}

// newFetchContext cancels the previous request of a log and returns the context for the next.
func newFetchContext(p *Pane) context.Context {
	if p.cancelFetch != nil {
		p.cancelFetch()
	}
	ctx, stop := context.WithCancel(p.env.Context())
	p.cancelFetch = stop
	return ctx
}

// fetchLog returns the command for the next request of the shown log.
func (p *Pane) fetchLog() tea.Cmd {
	log := p.anyLog()
	if log == nil {
		return nil
	}
	size := p.computeLayout().log
	log.SetSize(size.W, size.H)
	request, ok := log.NextRequest()
	if !ok {
		return nil
	}
	return panes.Ask(newFetchContext(p), p.env, func(ctx context.Context, e panes.Engine) (logAnswer, error) {
		_ = sleep.For(ctx, request.delay)
		return request.Run(ctx, e)
	}, func(a logAnswer, err error) tea.Cmd {
		if log.AcceptAnswer(request, a, err) && p.search.pending == log {
			return p.searchNext(log, log.Following())
		}
		return nil
	})
}

// switchStream switches between standard output and standard error.
func (p *Pane) switchStream() tea.Cmd {
	if p.merged != nil {
		return p.env.Say("merged logs show both output and errors; errors have ! after the name", false)
	}
	selected, ok := p.table.Selected()
	if !ok || p.shownLog() == nil || !states.SplitLog(&selected) {
		return p.env.Say("this process has one log for both output and errors", false)
	}
	stream := map[string]string{"stdout": "stderr", "stderr": "stdout"}[p.log.Stream]
	p.dropLog()
	p.log = NewLog(selected.ID, stream, false)
	return nil
}

// dropLog drops the shown log and cancels its request and search.
func (p *Pane) dropLog() {
	p.cancelSearch()
	if p.cancelFetch != nil {
		p.cancelFetch()
	}
	if p.log == nil {
		return
	}
	p.log, p.cancelFetch = nil, nil
	if _, ok := p.table.Selected(); !ok {
		p.logFocused = false
	}
}

// leaveLog cancels a search, removes its highlights, or returns to the table, whichever applies
// first.
func (p *Pane) leaveLog() tea.Cmd {
	switch {
	case p.search.cancel != nil || p.search.pending != nil:
		p.cancelSearch()
	case p.anyLog() != nil && p.anyLog().SearchText() != "":
		p.anyLog().SetPattern("", nil)
	case p.zoomed:
		p.zoomed = false
	case p.merged != nil:
		p.closeMerged()
		return p.focusLog(false)
	default:
		return p.focusLog(false)
	}
	return nil
}

func (p *Pane) askSave() tea.Cmd {
	if p.merged != nil {
		return askSaveMerged(p.env, p.merged)
	}
	selected, ok := p.table.Selected()
	if !ok {
		return nil
	}
	stream := ""
	if log := p.log; log != nil && log.ID == selected.ID {
		stream = log.Stream
	}
	p.env.Ask(dialog.NewPrompt("Save the log of "+text.Clean(selected.Name)+" to",
		filepath.Join(p.env.Folder(), text.AsFileName(selected.Name)+".log"), func(path string) tea.Cmd {
			if path == "" {
				return nil
			}
			return p.env.Save(panes.FileSave{What: "log", Path: text.ExpandHome(path, p.env.Home()),
				Write: func(ctx context.Context, e panes.Engine, to io.Writer) (int64, error) {
					return copyLog(ctx, e, selected, stream, to)
				}})
		}).SuggestPaths(p.env.Folder(), p.env.Home()))
	return nil
}

// copyLog copies the log as of now, byte for byte. Parts dropped meanwhile are missing.
func copyLog(ctx context.Context, e panes.Engine, p api.Process, stream string, to io.Writer) (written int64, err error) {
	in := api.ProcessLogInput{ID: p.ID, Stream: stream, Max: 1 << 20, Exact: true}
	end := int64(-1)
	for {
		out, err := api.ProcessLog.Call(ctx, e, in)
		if err != nil {
			return written, err
		}
		// Stop at the end found by the first call: a busy process might write faster than it is copied.
		if end < 0 {
			end = out.End
		}
		piece, err := out.Bytes()
		if err == nil {
			_, err = to.Write(piece)
		}
		written += int64(len(piece))
		if err != nil || out.NextCursor >= end || len(piece) == 0 {
			return written, err
		}
		next := out.NextCursor
		in.Since = &next
	}
}

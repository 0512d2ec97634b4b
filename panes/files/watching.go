package files

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
)

func (f *Pane) fetchWatch() tea.Cmd {
	if f.watched || f.leave == nil {
		return nil
	}
	f.watched = true
	serial, path, stamp := f.serial, f.path, f.stamp
	return f.ofFolder(func(ctx context.Context, e panes.Engine) tea.Msg {
		out, err := e.WatchFolder(ctx, path, stamp)
		return filesWatched{serial, out, err}
	})
}

func (f *Pane) takeWatched(msg filesWatched) tea.Cmd {
	if msg.serial != f.serial {
		return nil
	}
	if msg.err != nil { // looked at again, less often
		serial := f.serial
		f.stale = f.stale || errors.Is(msg.err, api.CodeNotFound) // it is gone
		return tea.Tick(2*time.Second, func(time.Time) tea.Msg {
			return filesWatched{serial, api.FilesWatchOutput{Changed: true}, nil}
		})
	}
	f.watched, f.stamp = false, msg.out.Stamp
	if msg.out.Changed {
		f.stale, f.askGit = true, true
	}
	return nil
}

func (f *Pane) fetchGit() tea.Cmd {
	if !f.askGit || f.askingGit || f.leave == nil {
		return nil
	}
	f.askGit, f.askingGit = false, true
	serial, path := f.serial, f.path
	return f.ofFolder(func(ctx context.Context, e panes.Engine) tea.Msg {
		begin := time.Now()
		out, _ := e.GitStatus(ctx, path) // without an answer there are no marks
		return filesGit{serial, out, time.Since(begin)}
	})
}

func (f *Pane) takeGit(msg filesGit) tea.Cmd {
	if msg.serial != f.serial {
		return nil
	}
	f.list.Git, f.list.GitAll, f.branch = msg.out.Marks, msg.out.All, msg.out.Branch
	return tea.Tick(max(gitRest, 5*msg.took), func(time.Time) tea.Msg { return gitRested{msg.serial} })
}

// fetchAbove lists the folder above, where it is shown.
func (f *Pane) fetchAbove() tea.Cmd {
	up := filepath.Dir(f.path)
	if f.parts().above.W == 0 || f.aboveOf == f.path || f.leave == nil {
		return nil
	}
	f.aboveOf = f.path
	if up == f.path {
		f.above.Reset("", "")
		return nil
	}
	if f.above.Path != up {
		f.above.Reset(up, filepath.Base(f.path))
	}
	f.above.Plain = true
	f.above.Select(filepath.Base(f.path))
	order := Order{Hidden: f.order.Hidden}
	return f.ofFolder(func(ctx context.Context, e panes.Engine) tea.Msg {
		out, err := e.ListFiles(ctx, up, "", firstEntries)
		if err != nil {
			return nil
		}
		return filesAbove{up, Arrange(out.Entries, order)}
	})
}

func (f *Pane) takeAbove(msg filesAbove) {
	if f.above.Path == msg.path {
		f.above.SetRows(msg.rows)
	}
}

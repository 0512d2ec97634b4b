package files

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
)

// gitRest is the least time between two questions to git.
const gitRest = time.Second

// fetchWatch waits until the folder changes.
func (f *folder) fetchWatch() tea.Cmd {
	v := f.visit
	if v.watched {
		return nil
	}
	v.watched = true
	path, stamp := f.path, v.stamp
	return onVisit(f, func(ctx context.Context, e panes.Engine) (api.FilesWatchOutput, error) {
		return e.WatchFolder(ctx, path, stamp)
	}, func(out api.FilesWatchOutput, err error) tea.Cmd {
		if err != nil { // looked at again, less often
			v.stale = v.stale || errors.Is(err, api.CodeNotFound) // it is gone
			return v.after(2*time.Second, func() { v.watched, v.stamp, v.stale, v.askGit = false, "", true, true })
		}
		v.watched, v.stamp = false, out.Stamp
		v.stale, v.askGit = v.stale || out.Changed, v.askGit || out.Changed
		return nil
	})
}

// fetchGit asks what git says of the entries.
func (f *folder) fetchGit() tea.Cmd {
	v := f.visit
	if !v.askGit || v.askingGit {
		return nil
	}
	v.askGit, v.askingGit = false, true
	path, begin := f.path, time.Now()
	return onVisit(f, func(ctx context.Context, e panes.Engine) (api.FilesGitOutput, error) {
		begin = time.Now()
		return e.GitStatus(ctx, path)
	}, func(out api.FilesGitOutput, _ error) tea.Cmd { // without an answer there are no marks
		f.list.Git, f.list.GitAll, f.branch = out.Marks, out.All, out.Branch
		return v.after(max(gitRest, 5*time.Since(begin)), func() { v.askingGit = false })
	})
}

package files

import (
	"context"
	"errors"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
)

// minGitInterval is the minimum time between two git status calls.
const minGitInterval = time.Second

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
		if err != nil { // retry less often
			v.stale = v.stale || errors.Is(err, api.CodeNotFound) // the folder was deleted
			return v.runAfter(2*time.Second, func() { v.watched, v.stamp, v.stale, v.askGit = false, "", true, true })
		}
		v.watched, v.stamp = false, out.Stamp
		v.stale, v.askGit = v.stale || out.Changed, v.askGit || out.Changed
		return nil
	})
}

// fetchGit asks for the git status of the entries.
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
	}, func(out api.FilesGitOutput, _ error) tea.Cmd { // after an error there are no marks
		f.list.Git, f.list.GitAll, f.branch = out.Marks, out.All, out.Branch
		// git is slow in a large repository, so let it run for at most a sixth of the time.
		return v.runAfter(max(minGitInterval, 5*time.Since(begin)), func() { v.askingGit = false })
	})
}

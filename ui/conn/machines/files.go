package machines

import (
	"context"
	"slices"

	"tandem/engine/api"
	"tandem/panes"
)

// askMachine passes a path to the engine of the machine that it names, as a path there,
// and also returns the machine.
func askMachine[T any](ctx context.Context, e Engine, path string, ask func(context.Context, panes.Engine, string) (T, error)) (answer T, machine string, err error) {
	machine, there := e.splitPath(path)
	if machine == "" {
		answer, err = ask(ctx, e.Engine, path)
		return answer, "", err
	}
	err = e.set.callMachine(ctx, machine, func(ctx context.Context, far panes.Engine) (err error) {
		answer, err = ask(ctx, far, there)
		return err
	})
	return answer, machine, err
}

// splitPath splits a path into a machine and the path there. A local folder may look like
// the name of a machine, so only known machines count.
func (e Engine) splitPath(path string) (machine, there string) {
	machine, there = api.PathOf(path)
	e.set.mu.Lock()
	defer e.set.mu.Unlock()
	if machine != "" && e.set.findMachine(machine) == nil {
		return "", path
	}
	return machine, there
}

// noAnswer is the result of a call without one.
type noAnswer struct{}

func (e Engine) ListFiles(ctx context.Context, path, after string, limit int) (api.FilesListOutput, error) {
	return e.MatchFiles(ctx, path, "", after, limit)
}

func (e Engine) MatchFiles(ctx context.Context, path, words, after string, limit int) (api.FilesListOutput, error) {
	out, machine, err := askMachine(ctx, e, path, func(ctx context.Context, e panes.Engine, path string) (api.FilesListOutput, error) {
		if words == "" {
			return e.ListFiles(ctx, path, after, limit)
		}
		return e.MatchFiles(ctx, path, words, after, limit)
	})
	out.Path = api.PathOn(machine, out.Path)
	return out, err
}

func (e Engine) StatFile(ctx context.Context, path string) (api.FileInfo, error) {
	info, machine, err := askMachine(ctx, e, path, func(ctx context.Context, e panes.Engine, path string) (api.FileInfo, error) {
		return e.StatFile(ctx, path)
	})
	info.Path = api.PathOn(machine, info.Path)
	return info, err
}

func (e Engine) ReadFile(ctx context.Context, path string, off, n int64) (api.FilesReadOutput, error) {
	out, machine, err := askMachine(ctx, e, path, func(ctx context.Context, e panes.Engine, path string) (api.FilesReadOutput, error) {
		return e.ReadFile(ctx, path, off, n)
	})
	out.Path = api.PathOn(machine, out.Path)
	return out, err
}

func (e Engine) WriteFile(ctx context.Context, path string, data []byte, anew bool) error {
	_, _, err := askMachine(ctx, e, path, func(ctx context.Context, e panes.Engine, path string) (noAnswer, error) {
		return noAnswer{}, e.WriteFile(ctx, path, data, anew)
	})
	return err
}

func (e Engine) MakeFolder(ctx context.Context, path string) error {
	_, _, err := askMachine(ctx, e, path, func(ctx context.Context, e panes.Engine, path string) (noAnswer, error) {
		return noAnswer{}, e.MakeFolder(ctx, path)
	})
	return err
}

func (e Engine) DeleteFile(ctx context.Context, path string) error {
	_, _, err := askMachine(ctx, e, path, func(ctx context.Context, e panes.Engine, path string) (noAnswer, error) {
		return noAnswer{}, e.DeleteFile(ctx, path)
	})
	return err
}

func (e Engine) WatchFolder(ctx context.Context, path, seen string) (api.FilesWatchOutput, error) {
	out, _, err := askMachine(ctx, e, path, func(ctx context.Context, e panes.Engine, path string) (api.FilesWatchOutput, error) {
		return e.WatchFolder(ctx, path, seen)
	})
	return out, err
}

func (e Engine) GitStatus(ctx context.Context, path string) (api.FilesGitOutput, error) {
	out, _, err := askMachine(ctx, e, path, func(ctx context.Context, e panes.Engine, path string) (api.FilesGitOutput, error) {
		return e.GitStatus(ctx, path)
	})
	return out, err
}

func (e Engine) FindFiles(ctx context.Context, path, pattern string, limit int) (api.FilesFindOutput, error) {
	out, _, err := askMachine(ctx, e, path, func(ctx context.Context, e panes.Engine, path string) (api.FilesFindOutput, error) {
		return e.FindFiles(ctx, path, pattern, limit)
	})
	return out, err
}

func (e Engine) SearchFiles(ctx context.Context, in api.FilesGrepInput) (api.FilesGrepOutput, error) {
	out, _, err := askMachine(ctx, e, in.Path, func(ctx context.Context, e panes.Engine, path string) (api.FilesGrepOutput, error) {
		in.Path = path
		return e.SearchFiles(ctx, in)
	})
	return out, err
}

// transferBetween starts a transfer between machines. The local engine runs it, so that it
// continues when the dashboard closes.
func (e Engine) transferBetween(ctx context.Context, in api.FilesTransferInput) (api.FilesTransferOutput, error) {
	in.FileScope, in.Items = api.FileScope{Escaped: true}, slices.Clone(in.Items)
	for i := range in.Items {
		item := &in.Items[i]
		item.Path, item.To = api.EscapePath(item.Path), api.EscapePath(item.To)
	}
	out, err := api.FilesTransferBetween.Call(ctx, e.Engine, in)
	for i, path := range out.Conflicts {
		out.Conflicts[i] = api.UnescapePath(path)
	}
	return out, err
}

// Transfer starts a transfer on the machine named by all its paths, or between machines.
func (e Engine) Transfer(ctx context.Context, in api.FilesTransferInput) (api.FilesTransferOutput, error) {
	items := make([]api.FileMove, len(in.Items))
	machines := map[string]bool{}
	for i, item := range in.Items {
		from, path := e.splitPath(item.Path)
		items[i].Path, machines[from] = path, true
		if item.To != "" {
			to, path := e.splitPath(item.To)
			items[i].To, machines[to] = path, true
		}
	}
	if len(machines) > 1 {
		return e.transferBetween(ctx, in)
	}
	if machines[""] || len(in.Items) == 0 {
		return e.Engine.Transfer(ctx, in)
	}
	out, machine, err := askMachine(ctx, e, in.Items[0].Path, func(ctx context.Context, e panes.Engine, _ string) (api.FilesTransferOutput, error) {
		in.Items = items
		return e.Transfer(ctx, in)
	})
	out.Job = api.OnMachine(machine, out.Job)
	for i, path := range out.Conflicts {
		out.Conflicts[i] = api.PathOn(machine, path)
	}
	return out, err
}

func (e Engine) TransferJob(ctx context.Context, id string, waitMS int) (job api.FileJob, err error) {
	machine, id := api.MachineOf(id)
	if machine == "" {
		return e.Engine.TransferJob(ctx, id, waitMS)
	}
	err = e.set.callMachine(ctx, machine, func(ctx context.Context, far panes.Engine) (err error) {
		job, err = far.TransferJob(ctx, id, waitMS)
		return err
	})
	job.ID, job.Current = api.OnMachine(machine, job.ID), api.PathOn(machine, job.Current)
	for i := range job.Done {
		d := &job.Done[i]
		d.Path, d.To, d.Replaced = api.PathOn(machine, d.Path), api.PathOn(machine, d.To), api.PathOn(machine, d.Replaced)
	}
	return job, err
}

func (e Engine) CancelTransfer(ctx context.Context, id string) error {
	machine, id := api.MachineOf(id)
	if machine == "" {
		return e.Engine.CancelTransfer(ctx, id)
	}
	return e.set.callMachine(ctx, machine, func(ctx context.Context, far panes.Engine) error { return far.CancelTransfer(ctx, id) })
}

package machines

import (
	"context"

	"tandem/engine/api"
	"tandem/panes"
)

// at asks about a path the engine of the machine that it names, with the path as it
// is there, and gives the machine.
func at[T any](ctx context.Context, e Engine, path string, ask func(context.Context, panes.Engine, string) (T, error)) (answer T, machine string, err error) {
	machine, there := e.place(path)
	if machine == "" {
		answer, err = ask(ctx, e.Engine, path)
		return answer, "", err
	}
	err = e.set.on(ctx, machine, func(ctx context.Context, far panes.Engine) (err error) {
		answer, err = ask(ctx, far, there)
		return err
	})
	return answer, machine, err
}

// place is the machine that a path names, and the path there. A folder whose name
// looks like that of a machine which there is not is one of this machine.
func (e Engine) place(path string) (machine, there string) {
	machine, there = api.PathOf(path)
	e.set.mu.Lock()
	defer e.set.mu.Unlock()
	if machine != "" && e.set.find(machine) == nil {
		return "", path
	}
	return machine, there
}

// nothing is the answer of what is asked for its effect alone.
type nothing struct{}

func (e Engine) ListFiles(ctx context.Context, path, after string, limit int) (api.FilesListOutput, error) {
	return e.MatchFiles(ctx, path, "", after, limit)
}

func (e Engine) MatchFiles(ctx context.Context, path, words, after string, limit int) (api.FilesListOutput, error) {
	out, machine, err := at(ctx, e, path, func(ctx context.Context, e panes.Engine, path string) (api.FilesListOutput, error) {
		if words == "" {
			return e.ListFiles(ctx, path, after, limit)
		}
		return e.MatchFiles(ctx, path, words, after, limit)
	})
	out.Path = api.PathOn(machine, out.Path)
	return out, err
}

func (e Engine) StatFile(ctx context.Context, path string) (api.FileInfo, error) {
	info, machine, err := at(ctx, e, path, func(ctx context.Context, e panes.Engine, path string) (api.FileInfo, error) {
		return e.StatFile(ctx, path)
	})
	info.Path = api.PathOn(machine, info.Path)
	return info, err
}

func (e Engine) ReadFile(ctx context.Context, path string, off, n int64) (api.FilesReadOutput, error) {
	out, machine, err := at(ctx, e, path, func(ctx context.Context, e panes.Engine, path string) (api.FilesReadOutput, error) {
		return e.ReadFile(ctx, path, off, n)
	})
	out.Path = api.PathOn(machine, out.Path)
	return out, err
}

func (e Engine) WriteFile(ctx context.Context, path string, data []byte, anew bool) error {
	_, _, err := at(ctx, e, path, func(ctx context.Context, e panes.Engine, path string) (nothing, error) {
		return nothing{}, e.WriteFile(ctx, path, data, anew)
	})
	return err
}

func (e Engine) MakeFolder(ctx context.Context, path string) error {
	_, _, err := at(ctx, e, path, func(ctx context.Context, e panes.Engine, path string) (nothing, error) {
		return nothing{}, e.MakeFolder(ctx, path)
	})
	return err
}

func (e Engine) DeleteFile(ctx context.Context, path string) error {
	_, _, err := at(ctx, e, path, func(ctx context.Context, e panes.Engine, path string) (nothing, error) {
		return nothing{}, e.DeleteFile(ctx, path)
	})
	return err
}

func (e Engine) WatchFolder(ctx context.Context, path, seen string) (api.FilesWatchOutput, error) {
	out, _, err := at(ctx, e, path, func(ctx context.Context, e panes.Engine, path string) (api.FilesWatchOutput, error) {
		return e.WatchFolder(ctx, path, seen)
	})
	return out, err
}

func (e Engine) GitStatus(ctx context.Context, path string) (api.FilesGitOutput, error) {
	out, _, err := at(ctx, e, path, func(ctx context.Context, e panes.Engine, path string) (api.FilesGitOutput, error) {
		return e.GitStatus(ctx, path)
	})
	return out, err
}

func (e Engine) FindFiles(ctx context.Context, path, pattern string, limit int) (api.FilesFindOutput, error) {
	out, _, err := at(ctx, e, path, func(ctx context.Context, e panes.Engine, path string) (api.FilesFindOutput, error) {
		return e.FindFiles(ctx, path, pattern, limit)
	})
	return out, err
}

func (e Engine) SearchFiles(ctx context.Context, in api.FilesGrepInput) (api.FilesGrepOutput, error) {
	out, _, err := at(ctx, e, in.Path, func(ctx context.Context, e panes.Engine, path string) (api.FilesGrepOutput, error) {
		in.Path = path
		return e.SearchFiles(ctx, in)
	})
	return out, err
}

// Transfer begins a transfer on the machine that all its paths name.
func (e Engine) Transfer(ctx context.Context, in api.FilesTransferInput) (api.FilesTransferOutput, error) {
	items := make([]api.FileMove, len(in.Items))
	machines := map[string]bool{}
	for i, item := range in.Items {
		from, path := e.place(item.Path)
		items[i].Path, machines[from] = path, true
		if item.To != "" {
			to, path := e.place(item.To)
			items[i].To, machines[to] = path, true
		}
	}
	if len(machines) > 1 {
		return e.copyAcross(ctx, in)
	}
	if machines[""] || len(in.Items) == 0 {
		return e.Engine.Transfer(ctx, in)
	}
	out, machine, err := at(ctx, e, in.Items[0].Path, func(ctx context.Context, e panes.Engine, _ string) (api.FilesTransferOutput, error) {
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
	if c := e.set.copyOf(id); c != nil {
		return c.wait(ctx, waitMS)
	}
	machine, id := api.MachineOf(id)
	if machine == "" {
		return e.Engine.TransferJob(ctx, id, waitMS)
	}
	err = e.set.on(ctx, machine, func(ctx context.Context, far panes.Engine) (err error) {
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
	if c := e.set.copyOf(id); c != nil {
		c.stop()
		return nil
	}
	machine, id := api.MachineOf(id)
	if machine == "" {
		return e.Engine.CancelTransfer(ctx, id)
	}
	return e.set.on(ctx, machine, func(ctx context.Context, far panes.Engine) error { return far.CancelTransfer(ctx, id) })
}

package machines

import (
	"context"

	"tandem/engine/api"
	"tandem/engine/api/userfiles"
	"tandem/panes"
)

// A remote calls a machine by its name.
type remote struct {
	set     *Set
	machine string
}

// Do implements api.Engine.
func (r remote) Do(ctx context.Context, operation string, effect api.Effect, in, out any) error {
	return r.set.callMachine(ctx, r.machine, func(ctx context.Context, far panes.Engine) error {
		return far.Do(ctx, operation, effect, in, out)
	})
}

// filesOn returns the files of a machine, "" for the local one.
func (e Engine) filesOn(machine string) panes.FileEngine {
	if machine == "" {
		return e.Engine
	}
	return userfiles.Files{Engine: remote{e.set, machine}}
}

// filesAt returns the files of the machine that a path names, and the path there.
func (e Engine) filesAt(path string) (files panes.FileEngine, machine, there string) {
	machine, there = e.splitPath(path)
	return e.filesOn(machine), machine, there
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

func (e Engine) ListFiles(ctx context.Context, path, after string, limit int) (api.FilesListOutput, error) {
	return e.MatchFiles(ctx, path, "", after, limit)
}

func (e Engine) MatchFiles(ctx context.Context, path, words, after string, limit int) (api.FilesListOutput, error) {
	files, machine, there := e.filesAt(path)
	out, err := files.MatchFiles(ctx, there, words, after, limit)
	out.Path = api.PathOn(machine, out.Path)
	return out, err
}

func (e Engine) StatFile(ctx context.Context, path string) (api.FileInfo, error) {
	files, machine, there := e.filesAt(path)
	info, err := files.StatFile(ctx, there)
	info.Path = api.PathOn(machine, info.Path)
	return info, err
}

func (e Engine) ReadFile(ctx context.Context, path string, off, n int64) (api.FilesReadOutput, error) {
	files, machine, there := e.filesAt(path)
	out, err := files.ReadFile(ctx, there, off, n)
	out.Path = api.PathOn(machine, out.Path)
	return out, err
}

func (e Engine) WriteFile(ctx context.Context, path string, data []byte, onlyNew bool) error {
	files, _, there := e.filesAt(path)
	return files.WriteFile(ctx, there, data, onlyNew)
}

func (e Engine) MakeFolder(ctx context.Context, path string) error {
	files, _, there := e.filesAt(path)
	return files.MakeFolder(ctx, there)
}

func (e Engine) DeleteFile(ctx context.Context, path string) error {
	files, _, there := e.filesAt(path)
	return files.DeleteFile(ctx, there)
}

func (e Engine) WatchFolder(ctx context.Context, path, seen string) (api.FilesWatchOutput, error) {
	files, _, there := e.filesAt(path)
	return files.WatchFolder(ctx, there, seen)
}

func (e Engine) GitStatus(ctx context.Context, path string) (api.FilesGitOutput, error) {
	files, _, there := e.filesAt(path)
	return files.GitStatus(ctx, there)
}

func (e Engine) FindFiles(ctx context.Context, path, pattern string, limit int) (api.FilesFindOutput, error) {
	files, _, there := e.filesAt(path)
	return files.FindFiles(ctx, there, pattern, limit)
}

func (e Engine) SearchFiles(ctx context.Context, in api.FilesGrepInput) (api.FilesGrepOutput, error) {
	files, _, there := e.filesAt(in.Path)
	in.Path = there
	return files.SearchFiles(ctx, in)
}

// Transfer starts a transfer on the machine named by all its paths, or between machines.
func (e Engine) Transfer(ctx context.Context, in api.FilesTransferInput) (api.FilesTransferOutput, error) {
	there := in
	there.Items = make([]api.FileMove, len(in.Items))
	machine, machines := "", map[string]bool{}
	for i, item := range in.Items {
		machine, there.Items[i].Path = e.splitPath(item.Path)
		machines[machine] = true
		if item.To != "" {
			machine, there.Items[i].To = e.splitPath(item.To)
			machines[machine] = true
		}
	}
	if len(machines) > 1 {
		// The local engine runs it, so that it continues when the dashboard closes.
		return userfiles.Files{Engine: e.Engine}.TransferBetween(ctx, in)
	}
	out, err := e.filesOn(machine).Transfer(ctx, there)
	out.Job = api.OnMachine(machine, out.Job)
	for i, path := range out.Conflicts {
		out.Conflicts[i] = api.PathOn(machine, path)
	}
	return out, err
}

func (e Engine) TransferJob(ctx context.Context, id string, waitMS int) (api.FileJob, error) {
	machine, id := api.MachineOf(id)
	job, err := e.filesOn(machine).TransferJob(ctx, id, waitMS)
	job.ID, job.Current = api.OnMachine(machine, job.ID), api.PathOn(machine, job.Current)
	for i := range job.Done {
		d := &job.Done[i]
		d.Path, d.To, d.Replaced = api.PathOn(machine, d.Path), api.PathOn(machine, d.To), api.PathOn(machine, d.Replaced)
	}
	return job, err
}

func (e Engine) CancelTransfer(ctx context.Context, id string) error {
	machine, id := api.MachineOf(id)
	return e.filesOn(machine).CancelTransfer(ctx, id)
}

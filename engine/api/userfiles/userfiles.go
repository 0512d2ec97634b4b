// Package userfiles calls the operations on files for a user, who may reach all files. Paths and
// names may contain any bytes; for the API they are escaped. The engine may be another machine's,
// so names in its answers are checked here.
package userfiles

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
)

// Files are the files that an engine can reach: all of them, or those below Root.
type Files struct {
	api.Engine
	Root   string // a folder; "" for all files
	RootID string // its api.FileInfo.ID
	// Machines is set if paths may be on other machines, in the form of api.PathOn.
	Machines bool
}

// Scope returns the file scope of the calls.
func (f Files) Scope() api.FileScope {
	scope := api.FileScope{Escaped: true, RootID: f.RootID, Machines: f.Machines}
	if f.Root != "" {
		scope.Roots = []string{api.EscapePath(f.Root)}
	}
	return scope
}

// maxName is the maximum length of a name in bytes. File systems allow up to 255 characters.
const maxName = 255 * utf8.UTFMax

// checkName rejects a name from another machine unless it is just the name of a file. A longer
// path, joined to another, could lead elsewhere.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || len(name) > maxName || strings.ContainsAny(name, "/\x00") {
		return api.Errorf(api.CodeInvalid, "the machine sent %q as the name of a file", name[:min(len(name), maxName)])
	}
	return nil
}

// checkPath applies checkName to each element of a relative path. The path of a folder ends with a
// slash.
func checkPath(path string) error {
	for name := range strings.SplitSeq(strings.TrimSuffix(path, "/"), "/") {
		if err := checkName(name); err != nil {
			return err
		}
	}
	return nil
}

func (f Files) ListFiles(ctx context.Context, path, after string, limit int) (api.FilesListOutput, error) {
	return f.MatchFiles(ctx, path, "", after, limit)
}

func (f Files) MatchFiles(ctx context.Context, path, words, after string, limit int) (api.FilesListOutput, error) {
	in := api.FilesListInput{FileScope: f.Scope(), Path: api.EscapePath(path), Match: words, After: api.EscapePath(after), Hidden: true, Limit: limit}
	out, err := api.FilesList.Call(ctx, f, in)
	out.Path = api.UnescapePath(out.Path)
	for i := range out.Entries {
		unescapeInfo(&out.Entries[i])
		if err := checkName(out.Entries[i].Name); err != nil {
			return api.FilesListOutput{}, err
		}
	}
	return out, err
}

func (f Files) StatFile(ctx context.Context, path string) (api.FileInfo, error) {
	info, err := api.FilesStat.Call(ctx, f, api.FilesPathInput{FileScope: f.Scope(), Path: api.EscapePath(path)})
	unescapeInfo(&info)
	return info, err
}

func unescapeInfo(info *api.FileInfo) {
	info.Name, info.Path, info.Target = api.UnescapePath(info.Name), api.UnescapePath(info.Path), api.UnescapePath(info.Target)
}

func (f Files) ReadFile(ctx context.Context, path string, off, n int64) (api.FilesReadOutput, error) {
	in := api.FilesReadInput{FileScope: f.Scope(), Path: api.EscapePath(path), Offset: off, Limit: n, Bytes: true}
	return api.FilesRead.Call(ctx, f, in)
}

func (f Files) WriteFile(ctx context.Context, path string, data []byte, onlyNew bool) error {
	in := api.FilesWriteInput{FileScope: f.Scope(), Path: api.EscapePath(path), Data: data, New: onlyNew}
	return api.FilesWrite.Run(ctx, f, in)
}

func (f Files) MakeFolder(ctx context.Context, path string) error {
	return api.FilesMkdir.Run(ctx, f, api.FilesMkdirInput{FileScope: f.Scope(), Path: api.EscapePath(path)})
}

func (f Files) DeleteFile(ctx context.Context, path string) error {
	in := api.FilesDeleteInput{FileScope: f.Scope(), Path: api.EscapePath(path), Recursive: true}
	return api.FilesDelete.Run(ctx, f, in)
}

func (f Files) Transfer(ctx context.Context, in api.FilesTransferInput) (api.FilesTransferOutput, error) {
	out, err := f.transfer(ctx, api.FilesTransfer, in)
	if errors.Is(err, api.ReasonSeveralMachines) {
		f.Machines = false // the operation expects names of machines
		return f.transfer(ctx, api.FilesTransferBetween, in)
	}
	return out, err
}

func (f Files) transfer(ctx context.Context, begin api.Operation[api.FilesTransferInput, api.FilesTransferOutput], in api.FilesTransferInput) (api.FilesTransferOutput, error) {
	in.FileScope, in.Items = f.Scope(), escapeMoves(in.Items)
	out, err := begin.Call(ctx, f, in)
	for i, path := range out.Conflicts {
		out.Conflicts[i] = api.UnescapePath(path)
	}
	return out, err
}

func escapeMoves(items []api.FileMove) []api.FileMove {
	escaped := make([]api.FileMove, len(items))
	for i, item := range items {
		escaped[i] = api.FileMove{Path: api.EscapePath(item.Path), To: api.EscapePath(item.To)}
	}
	return escaped
}

func (f Files) TransferJob(ctx context.Context, id string, waitMS int) (api.FileJob, error) {
	job, err := api.FilesJob.Call(ctx, f, api.FileJobInput{FileScope: f.Scope(), ID: id, WaitMS: waitMS})
	job.Current = api.UnescapePath(job.Current)
	for i := range job.Done {
		d := &job.Done[i]
		d.Path, d.To, d.Replaced = api.UnescapePath(d.Path), api.UnescapePath(d.To), api.UnescapePath(d.Replaced)
	}
	return job, err
}

func (f Files) CancelTransfer(ctx context.Context, id string) error {
	return api.FilesCancel.Run(ctx, f, api.FileJobInput{FileScope: f.Scope(), ID: id})
}

func (f Files) ListTrash(ctx context.Context) ([]api.TrashedFile, error) {
	out, err := api.FilesTrashed.Call(ctx, f, api.FilesTrashedInput{FileScope: f.Scope()})
	for i := range out.Items {
		out.Items[i].Path, out.Items[i].From = api.UnescapePath(out.Items[i].Path), api.UnescapePath(out.Items[i].From)
	}
	return out.Items, err
}

func (f Files) WatchFolder(ctx context.Context, path, seen string) (api.FilesWatchOutput, error) {
	return api.FilesWatch.Call(ctx, f, api.FilesWatchInput{FileScope: f.Scope(), Path: api.EscapePath(path), Seen: seen})
}

func (f Files) GitStatus(ctx context.Context, path string) (api.FilesGitOutput, error) {
	out, err := api.FilesGit.Call(ctx, f, api.FilesGitInput{FileScope: f.Scope(), Path: api.EscapePath(path)})
	marks := make(map[string]string, len(out.Marks))
	for name, letters := range out.Marks {
		name = api.UnescapePath(name)
		if err := checkName(name); err != nil {
			return api.FilesGitOutput{}, err
		}
		marks[name] = letters
	}
	out.Marks = marks
	return out, err
}

func (f Files) FindFiles(ctx context.Context, path, pattern string, limit int) (api.FilesFindOutput, error) {
	in := api.FilesFindInput{FileScope: f.Scope(), Path: api.EscapePath(path), Pattern: pattern, Limit: limit}
	out, err := api.FilesFind.Call(ctx, f, in)
	for i, path := range out.Paths {
		out.Paths[i] = api.UnescapePath(path)
		if err := checkPath(out.Paths[i]); err != nil {
			return api.FilesFindOutput{}, err
		}
	}
	return out, err
}

func (f Files) SearchFiles(ctx context.Context, in api.FilesGrepInput) (api.FilesGrepOutput, error) {
	in.FileScope, in.Path = f.Scope(), api.EscapePath(in.Path)
	out, err := api.FilesGrep.Call(ctx, f, in)
	for i := range out.Lines {
		out.Lines[i].Path = api.UnescapePath(out.Lines[i].Path)
		if err := checkPath(out.Lines[i].Path); err != nil {
			return api.FilesGrepOutput{}, err
		}
	}
	return out, err
}

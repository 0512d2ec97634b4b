package conn

import (
	"context"

	"tandem/engine/api"
)

// userScope returns the file scope of a user: all files, with names of any bytes.
func userScope() api.FileScope { return api.FileScope{Escaped: true} }

func (c Client) ListFiles(ctx context.Context, path, after string, limit int) (api.FilesListOutput, error) {
	return c.MatchFiles(ctx, path, "", after, limit)
}

func (c Client) MatchFiles(ctx context.Context, path, words, after string, limit int) (api.FilesListOutput, error) {
	in := api.FilesListInput{FileScope: userScope(), Path: api.EscapePath(path), Match: words, After: api.EscapePath(after), Hidden: true, Limit: limit}
	out, err := api.FilesList.Call(ctx, c, in)
	out.Path = api.UnescapePath(out.Path)
	for i := range out.Entries {
		unescapeInfo(&out.Entries[i])
	}
	return out, err
}

func (c Client) StatFile(ctx context.Context, path string) (api.FileInfo, error) {
	info, err := api.FilesStat.Call(ctx, c, api.FilesPathInput{FileScope: userScope(), Path: api.EscapePath(path)})
	unescapeInfo(&info)
	return info, err
}

func unescapeInfo(f *api.FileInfo) {
	f.Name, f.Path, f.Target = api.UnescapePath(f.Name), api.UnescapePath(f.Path), api.UnescapePath(f.Target)
}

func (c Client) ReadFile(ctx context.Context, path string, off, n int64) (api.FilesReadOutput, error) {
	in := api.FilesReadInput{FileScope: userScope(), Path: api.EscapePath(path), Offset: off, Limit: n, Bytes: true}
	return api.FilesRead.Call(ctx, c, in)
}

func (c Client) WriteFile(ctx context.Context, path string, data []byte, anew bool) error {
	in := api.FilesWriteInput{FileScope: userScope(), Path: api.EscapePath(path), Data: data, New: anew}
	return api.FilesWrite.Run(ctx, c, in)
}

func (c Client) MakeFolder(ctx context.Context, path string) error {
	return api.FilesMkdir.Run(ctx, c, api.FilesMkdirInput{FileScope: userScope(), Path: api.EscapePath(path)})
}

func (c Client) DeleteFile(ctx context.Context, path string) error {
	in := api.FilesDeleteInput{FileScope: userScope(), Path: api.EscapePath(path), Recursive: true}
	return api.FilesDelete.Run(ctx, c, in)
}

func (c Client) Transfer(ctx context.Context, in api.FilesTransferInput) (api.FilesTransferOutput, error) {
	in.FileScope, in.Items = userScope(), escapeMoves(in.Items)
	out, err := api.FilesTransfer.Call(ctx, c, in)
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

func (c Client) TransferJob(ctx context.Context, id string, waitMS int) (api.FileJob, error) {
	job, err := api.FilesJob.Call(ctx, c, api.FileJobInput{FileScope: userScope(), ID: id, WaitMS: waitMS})
	job.Current = api.UnescapePath(job.Current)
	for i := range job.Done {
		d := &job.Done[i]
		d.Path, d.To, d.Replaced = api.UnescapePath(d.Path), api.UnescapePath(d.To), api.UnescapePath(d.Replaced)
	}
	return job, err
}

func (c Client) CancelTransfer(ctx context.Context, id string) error {
	return api.FilesCancel.Run(ctx, c, api.FileJobInput{FileScope: userScope(), ID: id})
}

func (c Client) ListTrash(ctx context.Context) ([]api.TrashedFile, error) {
	out, err := api.FilesTrashed.Call(ctx, c, api.FilesTrashedInput{FileScope: userScope()})
	for i := range out.Items {
		out.Items[i].Path, out.Items[i].From = api.UnescapePath(out.Items[i].Path), api.UnescapePath(out.Items[i].From)
	}
	return out.Items, err
}

func (c Client) WatchFolder(ctx context.Context, path, seen string) (api.FilesWatchOutput, error) {
	return api.FilesWatch.Call(ctx, c, api.FilesWatchInput{FileScope: userScope(), Path: api.EscapePath(path), Seen: seen})
}

func (c Client) GitStatus(ctx context.Context, path string) (api.FilesGitOutput, error) {
	out, err := api.FilesGit.Call(ctx, c, api.FilesGitInput{FileScope: userScope(), Path: api.EscapePath(path)})
	marks := make(map[string]string, len(out.Marks))
	for name, letters := range out.Marks {
		marks[api.UnescapePath(name)] = letters
	}
	out.Marks = marks
	return out, err
}

func (c Client) FindFiles(ctx context.Context, path, pattern string, limit int) (api.FilesFindOutput, error) {
	in := api.FilesFindInput{FileScope: userScope(), Path: api.EscapePath(path), Pattern: pattern, Limit: limit}
	out, err := api.FilesFind.Call(ctx, c, in)
	for i, path := range out.Paths {
		out.Paths[i] = api.UnescapePath(path)
	}
	return out, err
}

func (c Client) SearchFiles(ctx context.Context, in api.FilesGrepInput) (api.FilesGrepOutput, error) {
	in.FileScope, in.Path = userScope(), api.EscapePath(in.Path)
	out, err := api.FilesGrep.Call(ctx, c, in)
	for i := range out.Lines {
		out.Lines[i].Path = api.UnescapePath(out.Lines[i].Path)
	}
	return out, err
}

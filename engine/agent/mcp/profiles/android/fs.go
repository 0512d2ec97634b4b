package android

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"time"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

const (
	defaultRead = 1 << 20 // bytes per read
	maxRead     = 10 << 20
)

type fsInput struct {
	Action     string  `json:"action" enum:"read,write,list,stat,mkdir,delete"`
	Path       string  `json:"path" doc:"absolute, ~/ or below home"`
	Content    *string `json:"content,omitempty"`
	Encoding   string  `json:"encoding,omitempty" enum:"utf-8,base64" default:"utf-8" doc:"of content"`
	MaxBytes   int64   `json:"max_bytes,omitempty" default:"1048576" max:"10485760"`
	Offset     int64   `json:"offset,omitempty" doc:"first byte"`
	ShowHidden bool    `json:"show_hidden,omitempty"`
	Parents    *bool   `json:"parents,omitempty" default:"true"`
	Recursive  bool    `json:"recursive,omitempty" doc:"delete: with its contents"`
}

// absolutePath returns the path of the file; relative paths start in the home folder.
func (in fsInput) absolutePath(f *toolkit.Agent) string {
	return api.AbsolutePath(in.Path, f.Options.Home, f.Options.Home)
}

type Content struct {
	Content   string `json:"content"`
	Encoding  string `json:"encoding"`
	Size      int64  `json:"size"`
	Offset    int64  `json:"offset"`
	ReadBytes int64  `json:"read_bytes"`
	Truncated bool   `json:"truncated"`
}

type fsWritten struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
}

type fsItem struct {
	Name  string  `json:"name"`
	IsDir bool    `json:"is_dir"`
	Size  int64   `json:"size"`
	MTime float64 `json:"mtime"`
}

type fsStat struct {
	IsFile bool    `json:"is_file"`
	IsDir  bool    `json:"is_dir"`
	IsLink bool    `json:"is_link"`
	Size   int64   `json:"size"`
	MTime  float64 `json:"mtime"`
	ATime  float64 `json:"atime"`
	Mode   string  `json:"mode"`
}

// unixSeconds returns a time in seconds since 1970, with microseconds.
func unixSeconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// accessFiles implements termux_fs. It is limited to the home folder.
func (a *android) accessFiles(ctx context.Context, f *toolkit.Agent, in fsInput) (toolkit.Result, error) {
	if _, err := a.findBash(); err != nil {
		return toolkit.Result{}, err
	}
	switch {
	case in.Path == "":
		return toolkit.Result{}, androidErrorf("missing_path", "path is empty")
	case in.Offset < 0 || in.MaxBytes < 0:
		return toolkit.Result{}, androidErrorf("invalid_arguments", "offset and max_bytes cannot be negative")
	}
	// The home folder replaces the agent's roots: the profile promises exactly that.
	scope := api.FileScope{Roots: []string{f.Options.Home}, Base: f.Options.Home}
	in.Path = in.absolutePath(f)
	var answer any
	var err error
	switch in.Action {
	case "read":
		answer, err = readFile(ctx, f, scope, in)
	case "write":
		answer, err = writeFile(ctx, f, scope, in)
	case "list":
		answer, err = listFolder(ctx, f, scope, in)
	case "stat":
		answer, err = statFile(ctx, f, scope, in)
	case "mkdir":
		answer, err = makeFolder(ctx, f, scope, in)
	case "delete":
		answer, err = deletePath(ctx, f, scope, in)
	default:
		err = androidErrorf("unknown_fs_action", "unknown action %q; must be read, write, list, stat, mkdir or delete", in.Action)
	}
	if err != nil {
		return toolkit.Result{}, fsError(err)
	}
	return toolkit.AnswerJSON(answer), nil
}

// fsError converts a failed file operation to this tool's error codes.
func fsError(err error) error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	e := api.AsError(err)
	code := "io_error"
	switch {
	case e.Code == api.CodeForbidden:
		code = "path_outside_home"
	case e.Code == api.CodeNotFound:
		code = "not_found"
	case e.Reason == api.ReasonNotFolder, e.Reason == api.ReasonPathNotFolder:
		code = "not_a_directory"
	case e.Reason == api.ReasonIsFolder:
		code = "is_a_directory"
	case e.Reason == api.ReasonNotEmpty:
		code = "directory_not_empty"
	case e.Code == api.CodeInvalid:
		code = "invalid_arguments"
	}
	return androidErrorf(code, "%s", e.Message)
}

func readFile(ctx context.Context, f *toolkit.Agent, scope api.FileScope, in fsInput) (any, error) {
	most := min(cmp.Or(in.MaxBytes, defaultRead), maxRead)
	out, err := api.FilesRead.Call(ctx, f.Engine, api.FilesReadInput{FileScope: scope, Path: in.Path, Bytes: true, Offset: in.Offset, Limit: most})
	if err != nil {
		return nil, err
	}
	content := Content{Content: out.Text, Encoding: "utf-8", Size: out.Size, Offset: in.Offset, ReadBytes: out.ReadBytes,
		Truncated: in.Offset+out.ReadBytes < out.Size}
	if len(out.Data) > 0 {
		content.Content, content.Encoding = base64.StdEncoding.EncodeToString(out.Data), "base64"
	}
	return content, nil
}

func writeFile(ctx context.Context, f *toolkit.Agent, scope api.FileScope, in fsInput) (any, error) {
	if in.Content == nil {
		return nil, androidErrorf("missing_content", "write needs content, which may be empty")
	}
	write := api.FilesWriteInput{FileScope: scope, Path: in.Path, Text: *in.Content}
	switch in.Encoding {
	case "", "utf-8":
	case "base64":
		data, err := base64.StdEncoding.DecodeString(*in.Content)
		if err != nil {
			return nil, androidErrorf("invalid_content", "content is not base64: %v", err)
		}
		write.Text, write.Data = "", data
	default:
		return nil, androidErrorf("invalid_encoding", "encoding %q: must be utf-8 or base64", in.Encoding)
	}
	out, err := api.FilesWrite.Call(ctx, f.Engine, write)
	return fsWritten{out.Path, out.Size}, err
}

func listFolder(ctx context.Context, f *toolkit.Agent, scope api.FileScope, in fsInput) (any, error) {
	out, err := api.FilesList.Call(ctx, f.Engine, api.FilesListInput{FileScope: scope, Path: in.Path, Hidden: in.ShowHidden})
	items := []fsItem{}
	for _, e := range out.Entries {
		items = append(items, fsItem{e.Name, e.Type == "dir" || e.ToDir, e.Size, unixSeconds(e.Modified)})
	}
	return struct {
		Items []fsItem `json:"items"`
	}{items}, err
}

// statFile reports the type of a link's target, if it is below the home folder, and that the path
// is a link. Size, times and mode are the link's own.
func statFile(ctx context.Context, f *toolkit.Agent, scope api.FileScope, in fsInput) (any, error) {
	i, err := api.FilesStat.Call(ctx, f.Engine, api.FilesPathInput{FileScope: scope, Path: in.Path})
	return fsStat{
		IsFile: i.Type == "file" || i.ToFile, IsDir: i.Type == "dir" || i.ToDir, IsLink: i.Type == "link",
		Size: i.Size, MTime: unixSeconds(i.Modified), ATime: unixSeconds(i.Accessed), Mode: i.Mode,
	}, err
}

func makeFolder(ctx context.Context, f *toolkit.Agent, scope api.FileScope, in fsInput) (any, error) {
	parents := toolkit.ValueOr(in.Parents, true)
	i, err := api.FilesMkdir.Call(ctx, f.Engine, api.FilesMkdirInput{FileScope: scope, Path: in.Path, Parents: parents})
	return fsResult{true, i.Path}, err
}

func deletePath(ctx context.Context, f *toolkit.Agent, scope api.FileScope, in fsInput) (any, error) {
	_, err := api.FilesDelete.Call(ctx, f.Engine, api.FilesDeleteInput{FileScope: scope, Path: in.Path, Recursive: in.Recursive})
	return fsResult{true, in.Path}, err
}

type fsResult struct {
	OK   bool   `json:"ok"`
	Path string `json:"path"`
}

package service

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"tandem/engine/agent/access"
	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/workspace/files"
	"tandem/persist/inotify"
)

// Files implements the operations on files. It holds no lock of the rest of the engine, so a slow
// disk delays no other operation.
type Files struct {
	// Machines connects to the engine of another machine in the user's name. Transfers use it.
	Machines func(ctx context.Context, machine string) (api.Engine, error)
	Watches  *inotify.Pool // shared with others who watch files; nil: each watch its own

	home      string
	data      string   // the data directory
	closed    []string // directories closed to agents
	locks     files.Locks
	own       ownEngine
	transfers transfers
	names     files.Names
	trimmer   memoryTrimmer
}

// largeListing is the number of entries from which returning a listing's memory is worth the time.
const largeListing = 5000

// A memoryTrimmer returns freed memory to the system some time after a large answer.
type memoryTrimmer struct {
	mu    sync.Mutex
	timer *time.Timer
}

// trimDelay is the time between the last large answer and the return of its memory.
const trimDelay = 2 * time.Second

func (y *memoryTrimmer) trimSoon(names *files.Names) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.timer == nil {
		y.timer = time.AfterFunc(trimDelay, func() {
			names.Forget()
			debug.FreeOSMemory()
		})
		return
	}
	y.timer.Reset(trimDelay)
}

// NewFiles returns the service. Its transfers end with ctx. Agents cannot reach the directories in
// closed, even if these lie in their roots.
func NewFiles(ctx context.Context, dataDir string, closed []string, log *slog.Logger) *Files {
	home, _ := os.UserHomeDir() // without it, "~" stays literal
	s := &Files{home: home, data: dataDir, closed: closed, own: ownEngine{}}
	s.transfers.ctx, s.transfers.log = ctx, log
	return s
}

// Close waits for the transfers to end. The context given to NewFiles must have ended.
func (s *Files) Close() { s.transfers.close() }

// Handle registers the operations on files.
func (s *Files) Handle(m *server.Mux) {
	s.handleTransfers(m)
	handle(s.own, m, api.FilesRead, s.readFile)
	server.Handle(m, api.FilesReadJSON, s.readJSON)
	handle(s.own, m, api.FilesWrite, s.writeFile)
	server.Handle(m, api.FilesEdit, s.editFile)
	server.Handle(m, api.FilesReport, s.writeReport)
	handle(s.own, m, api.FilesList, s.listDirectory)
	handle(s.own, m, api.FilesStat, s.statFile)
	handle(s.own, m, api.FilesMkdir, s.makeDirectory)
	handle(s.own, m, api.FilesSet, s.setAttributes)
	handle(s.own, m, api.FilesDelete, s.deleteFile)
	handle(s.own, m, api.FilesMove, s.moveFile)
	server.Handle(m, api.FilesCopy, s.copyFile)
	server.Handle(m, api.FilesFind, s.findFiles)
	server.Handle(m, api.FilesGrep, s.grepFiles)
}

// tree returns the part of the file system that the caller may reach.
func (s *Files) tree(ctx context.Context, scope api.FileScope) (*files.Tree, error) {
	for _, path := range append([]string{scope.Base}, scope.Roots...) {
		if path != "" && path[0] != '/' {
			return nil, api.Errorf(api.CodeInvalid, "use folder %q: roots and base must be absolute paths", path)
		}
	}
	t := &files.Tree{Roots: scope.InRoots(), Base: scope.Base, RootID: scope.RootID, Home: s.home, Locks: &s.locks, Names: &s.names, Private: s.data, Watches: s.Watches}
	if caller := api.CallerOf(ctx); caller.Agent() {
		// A name cache is filled with the access of another caller, so an agent gets none. The
		// roots of its bounds are plain paths, not escaped as a client's are.
		t.OffLimits, t.Names, t.Roots = s.closed, nil, scope.Roots
		return t, s.confine(t, caller.Sandboxes())
	}
	return t, nil
}

// confine limits the tree's operations to the access of an agent's programs.
func (s *Files) confine(t *files.Tree, sandboxes []*api.Sandbox) error {
	if len(sandboxes) == 0 {
		return nil
	}
	_, layers, err := access.Encode(sandboxes)
	if err == nil {
		err = layers.Check(s.closed...)
	}
	if err != nil {
		return api.Errorf(api.CodeForbidden, "use files: the sandbox for agents cannot be enforced: %v", err)
	}
	// The kernel enforces the sandbox for this thread, even when links are followed.
	t.Confine = func() error { return layers.ConfineThread(s.closed...) }
	return nil
}

// fileError converts an error of engine/workspace/files for clients.
func fileError(err error) error {
	var e *files.Error
	if !errors.As(err, &e) {
		return err
	}
	kind, ok := fileKinds()[e.Reason]
	if !ok {
		kind.code = api.CodeInternal
	}
	return &api.Error{Code: kind.code, Reason: kind.reason, Message: e.Message, Hint: e.Hint}
}

// A fileKind is the API code and reason for an error of engine/workspace/files.
type fileKind struct {
	code   api.Code
	reason api.Reason
}

// fileKinds returns the API code and reason for each reason of engine/workspace/files, except
// Failed.
func fileKinds() map[files.Reason]fileKind {
	return map[files.Reason]fileKind{
		files.Outside:    {api.CodeForbidden, api.ReasonOutsideRoot},
		files.NotFound:   {api.CodeNotFound, api.ReasonFileNotFound},
		files.Exists:     {api.CodeConflict, api.ReasonExists},
		files.NotEmpty:   {api.CodeConflict, api.ReasonNotEmpty},
		files.IsDir:      {api.CodeInvalid, api.ReasonIsFolder},
		files.NotFile:    {api.CodeInvalid, api.ReasonNotFile},
		files.NotDir:     {api.CodeInvalid, api.ReasonNotFolder},
		files.PathNotDir: {api.CodeInvalid, api.ReasonPathNotFolder},
		files.Invalid:    {api.CodeInvalid, ""},
		files.TooLarge:   {api.CodeInvalid, api.ReasonTooLarge},
		files.NotJSON:    {api.CodeInvalid, api.ReasonNotJSON},
		files.EmptyEdit:  {api.CodeInvalid, api.ReasonEditEmpty},
		files.NoMatch:    {api.CodeConflict, api.ReasonEditNotFound},
		files.Several:    {api.CodeAmbiguous, api.ReasonEditAmbiguous},
		files.Changed:    {api.CodeConflict, api.ReasonChanged},
		files.Denied:     {api.CodeConflict, api.ReasonPermissionDenied},
		files.Full:       {api.CodeConflict, api.ReasonDiskFull},
	}
}

// onFiles calls do with the tree of a scope, and converts its error for clients.
func onFiles[Out any](ctx context.Context, s *Files, scope api.FileScope, do func(t *files.Tree) (Out, error)) (Out, error) {
	t, err := s.tree(ctx, scope)
	if err != nil {
		var none Out
		return none, err
	}
	out, err := do(t)
	if err != nil {
		var none Out
		return none, fileError(err)
	}
	return out, nil
}

func (s *Files) readFile(ctx context.Context, in api.FilesReadInput) (api.FilesReadOutput, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.FilesReadOutput, error) {
		r, err := t.Read(ctx, files.ReadRequest{
			Path: in.In(in.Path), Offset: in.Offset, Limit: in.Limit, Bytes: in.Bytes, Unbounded: in.Unbounded,
		})
		return api.FilesReadOutput{
			Path: in.Out(r.Path), Kind: string(r.Kind), MIME: r.MIME, Size: r.Size, Text: r.Text, Data: r.Data,
			FirstLine: r.FirstLine, LastLine: r.LastLine, TotalLines: r.TotalLines,
			ReadBytes: r.ReadBytes, Cut: string(r.Cut), LineBytes: r.LineBytes,
		}, err
	})
}

func (s *Files) readJSON(ctx context.Context, in api.FilesReadJSONInput) (api.FilesReadJSONOutput, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.FilesReadJSONOutput, error) {
		path, value, err := t.ReadJSON(in.In(in.Path))
		return api.FilesReadJSONOutput{Path: in.Out(path), Value: value}, err
	})
}

func (s *Files) writeFile(ctx context.Context, in api.FilesWriteInput) (api.FilesWriteOutput, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.FilesWriteOutput, error) {
		if in.Text != "" && in.Data != nil {
			return api.FilesWriteOutput{}, api.Errorf(api.CodeInvalid, "write %s: give text or data, not both", in.Path)
		}
		data := in.Data
		if data == nil {
			data = []byte(in.Text)
		}
		r, err := t.Write(ctx, files.WriteRequest{Path: in.In(in.Path), Data: data, Append: in.Append, At: in.At, New: in.New})
		r.Path = in.Out(r.Path)
		return api.FilesWriteOutput(r), err
	})
}

func (s *Files) editFile(ctx context.Context, in api.FilesEditInput) (api.FilesEditOutput, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.FilesEditOutput, error) {
		edits := make([]files.Edit, len(in.Edits))
		for i, e := range in.Edits {
			edits[i] = files.Edit(e)
		}
		path, counts, err := t.EditFile(ctx, in.In(in.Path), edits)
		return api.FilesEditOutput{Path: in.Out(path), Replacements: counts}, err
	})
}

// writeReport writes a file in the home directory of the engine's user, and nowhere else.
func (s *Files) writeReport(ctx context.Context, in api.FilesWriteOutputInput) (api.FilesWriteOutput, error) {
	return onFiles(ctx, s, api.FileScope{}, func(t *files.Tree) (api.FilesWriteOutput, error) {
		if s.home == "" {
			return api.FilesWriteOutput{}, api.Errorf(api.CodeConflict, "write report %s: no home folder", in.Name)
		}
		r, err := t.Report(ctx, in.Name, in.Content, in.Format, time.Now())
		return api.FilesWriteOutput(r), err
	})
}

func (s *Files) listDirectory(ctx context.Context, in api.FilesListInput) (api.FilesListOutput, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.FilesListOutput, error) {
		r, err := t.List(ctx, files.ListRequest{Path: in.In(in.Path), Hidden: in.Hidden, Match: in.Match, After: in.In(in.After), Limit: in.Limit})
		if len(r.Entries)+r.Omitted > largeListing || in.Match != "" {
			s.trimmer.trimSoon(&s.names)
		}
		out := api.FilesListOutput{Path: r.Path, Entries: make([]api.FileInfo, len(r.Entries)), Omitted: r.Omitted}
		for i, e := range r.Entries {
			out.Entries[i] = infoFor(in.FileScope, e)
		}
		out.Path = in.Out(out.Path)
		return out, err
	})
}

func (s *Files) statFile(ctx context.Context, in api.FilesPathInput) (api.FileInfo, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.FileInfo, error) {
		info, err := t.Stat(in.In(in.Path))
		return infoFor(in.FileScope, info), err
	})
}

func (s *Files) makeDirectory(ctx context.Context, in api.FilesMkdirInput) (api.FileInfo, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.FileInfo, error) {
		info, err := t.Mkdir(in.In(in.Path), in.Parents)
		return infoFor(in.FileScope, info), err
	})
}

func (s *Files) setAttributes(ctx context.Context, in api.FilesSetInput) (api.FileInfo, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.FileInfo, error) {
		a := files.Attributes{Modified: in.Modified, Target: in.In(in.Target)}
		if in.Mode != "" {
			bits, err := strconv.ParseUint(in.Mode, 8, 32)
			if err != nil || bits > 0o777 {
				return api.FileInfo{}, api.Errorf(api.CodeInvalid, "set %s: %q is not a mode; must be octal permission bits such as 0644", in.Path, in.Mode)
			}
			mode := fs.FileMode(bits)
			a.Mode = &mode
		}
		info, err := t.Set(in.In(in.Path), a)
		return infoFor(in.FileScope, info), err
	})
}

func (s *Files) deleteFile(ctx context.Context, in api.FilesDeleteInput) (api.Empty, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.Empty, error) {
		return api.Empty{}, t.Delete(ctx, in.In(in.Path), in.Recursive)
	})
}

func (s *Files) moveFile(ctx context.Context, in api.FilesMoveInput) (api.FileInfo, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.FileInfo, error) {
		info, err := t.Move(ctx, in.In(in.Path), in.In(in.To), in.Overwrite)
		return infoFor(in.FileScope, info), err
	})
}

func (s *Files) copyFile(ctx context.Context, in api.FilesMoveInput) (api.FileInfo, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.FileInfo, error) {
		info, err := t.Copy(ctx, in.In(in.Path), in.In(in.To), in.Overwrite)
		return infoFor(in.FileScope, info), err
	})
}

func (s *Files) findFiles(ctx context.Context, in api.FilesFindInput) (api.FilesFindOutput, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.FilesFindOutput, error) {
		r, err := files.Searcher{Tree: t}.Find(ctx, in.Pattern, in.In(in.Path), in.Limit)
		for i, path := range r.Paths {
			r.Paths[i] = in.Out(path)
		}
		return api.FilesFindOutput(r), err
	})
}

func (s *Files) grepFiles(ctx context.Context, in api.FilesGrepInput) (api.FilesGrepOutput, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.FilesGrepOutput, error) {
		r, err := files.Searcher{Tree: t}.Grep(ctx, files.GrepRequest{
			Pattern: in.Pattern, Path: in.In(in.Path), Glob: in.Glob, IgnoreCase: in.IgnoreCase, Context: in.Context, Limit: in.Limit, MaxBytes: in.MaxBytes,
		})
		out := api.FilesGrepOutput{Lines: make([]api.GrepLine, len(r.Lines)), Matches: r.Matches, Limited: r.Limited, Passed: r.Skipped, Binary: r.Binary, File: r.File}
		for i, l := range r.Lines {
			l.Path = in.Out(l.Path)
			out.Lines[i] = api.GrepLine(l)
		}
		return out, err
	})
}

// infoFor converts the paths in info to the form that the caller uses.
func infoFor(scope api.FileScope, info files.Info) api.FileInfo {
	info.Name, info.Path, info.Target = scope.Out(info.Name), scope.Out(info.Path), scope.Out(info.Target)
	return api.FileInfo(info)
}

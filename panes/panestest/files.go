package panestest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"tandem/engine/api"
)

// Files implements the file operations of a fake engine, on real files in the test's directories.
type Files struct {
	Trash         chan []api.TrashedFile // blocks a listing of the trash until it receives; nil answers at once
	Hang          atomic.Bool            // conflict checks and searches in a file never return
	FolderChanged chan struct{}          // makes a folder's watch report a change
	Branch        string
	GitMarks      map[string]string
	GitAll        string // status of all other entries
	CutAt         string // the first name beyond the limit of a listing; "" for no limit

	changing sync.RWMutex // held for reading while a file changes
	closed   bool         // the test has ended

	mu        sync.Mutex
	transfers map[string]api.FileJob
	held      atomic.Pointer[heldTransfer] // holds the next transfer
	holding   *heldTransfer
}

// NewFiles returns files without git.
func NewFiles() *Files { return &Files{FolderChanged: make(chan struct{})} }

// Close waits until running changes of files are done. Later changes fail, because the test's
// directories may be gone.
func (f *Files) Close() {
	f.changing.Lock()
	defer f.changing.Unlock()
	f.closed = true
}

// change changes files until Close.
func (f *Files) change(do func() error) error {
	f.changing.RLock()
	defer f.changing.RUnlock()
	if f.closed {
		return api.Errorf(api.CodeUnavailable, "the test has ended")
	}
	return fakeFileError(do())
}

func fakeFileError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return api.Errorf(api.CodeNotFound, "%v", err)
	}
	return api.Errorf(api.CodeConflict, "%v", err)
}

func fakeInfo(path string) (api.FileInfo, error) {
	stat, err := os.Lstat(path)
	if err != nil {
		return api.FileInfo{}, err
	}
	info := api.FileInfo{Name: stat.Name(), Type: "file", Size: stat.Size(), Modified: stat.ModTime(), Mode: fmt.Sprintf("%04o", stat.Mode().Perm())}
	switch stat.Mode().Type() {
	case fs.ModeDir:
		info.Type = "dir"
	case fs.ModeSymlink:
		info.Type = "link"
		info.Target, _ = os.Readlink(path)
		to, err := os.Stat(path)
		info.Broken, info.ToDir = err != nil, err == nil && to.IsDir()
	case fs.ModeNamedPipe:
		info.Type = "fifo"
	}
	return info, nil
}

func (f *Files) ListFiles(_ context.Context, path, after string, limit int) (api.FilesListOutput, error) {
	entries, err := os.ReadDir(path)
	entries = slices.DeleteFunc(entries, func(entry fs.DirEntry) bool { return after != "" && entry.Name() <= after })
	if limit = min(limit, len(entries)); f.CutAt != "" { // pretends that many more entries follow
		limit, _ = slices.BinarySearchFunc(entries[:limit], f.CutAt, func(entry fs.DirEntry, name string) int { return strings.Compare(entry.Name(), name) })
	}
	out := api.FilesListOutput{Path: path}
	for i, entry := range entries {
		if i == limit {
			out.Omitted = len(entries) - limit
			break
		}
		if info, err := fakeInfo(filepath.Join(path, entry.Name())); err == nil {
			out.Entries = append(out.Entries, info)
		}
	}
	return out, fakeFileError(err)
}

// MatchFiles searches the whole folder, including entries that a listing with a limit leaves out.
func (f *Files) MatchFiles(ctx context.Context, path, words, after string, limit int) (api.FilesListOutput, error) {
	if words == "" {
		return f.ListFiles(ctx, path, after, limit)
	}
	entries, err := os.ReadDir(path)
	out := api.FilesListOutput{Path: path}
	for _, entry := range entries {
		if name := entry.Name(); name <= after || !strings.Contains(name, words) {
			continue
		}
		if len(out.Entries) == limit {
			out.Omitted++
		} else if info, err := fakeInfo(filepath.Join(path, entry.Name())); err == nil {
			out.Entries = append(out.Entries, info)
		}
	}
	return out, fakeFileError(err)
}

func (f *Files) StatFile(_ context.Context, path string) (api.FileInfo, error) {
	if strings.HasSuffix(path, "/src/main.go") { // a path printed by a program
		return api.FileInfo{Name: "main.go", Path: path, Type: "file"}, nil
	}
	info, err := fakeInfo(path)
	return info, fakeFileError(err)
}

func (f *Files) ReadFile(_ context.Context, path string, off, n int64) (api.FilesReadOutput, error) {
	file, err := os.Open(path)
	if err != nil {
		return api.FilesReadOutput{}, fakeFileError(err)
	}
	defer file.Close()
	if n == 0 {
		n = 1 << 20
	}
	data, err := io.ReadAll(io.NewSectionReader(file, off, n))
	stat, _ := file.Stat()
	out := api.FilesReadOutput{Path: path, Size: stat.Size()}
	if utf8.Valid(data) {
		out.Text = string(data)
	} else {
		out.Data = data
	}
	return out, fakeFileError(err)
}

func (f *Files) WriteFile(_ context.Context, path string, data []byte, onlyNew bool) error {
	return f.change(func() error {
		flags := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
		if onlyNew {
			flags |= os.O_EXCL
		}
		file, err := os.OpenFile(path, flags, 0o600)
		if err != nil {
			return err
		}
		defer file.Close()
		_, err = file.Write(data)
		return err
	})
}

func (f *Files) MakeFolder(_ context.Context, path string) error {
	return f.change(func() error { return os.Mkdir(path, 0o700) })
}

func (f *Files) DeleteFile(_ context.Context, path string) error {
	return f.change(func() error { return os.RemoveAll(path) })
}

// Transfer moves or copies all items at once. The trash is a directory called "trash" beside the
// file.
func (f *Files) Transfer(ctx context.Context, in api.FilesTransferInput) (api.FilesTransferOutput, error) {
	if f.Hang.Load() {
		<-ctx.Done()
		return api.FilesTransferOutput{}, ctx.Err()
	}
	var out api.FilesTransferOutput
	err := f.change(func() error {
		out = f.transfer(in)
		return nil
	})
	return out, err
}

func (f *Files) transfer(in api.FilesTransferInput) (out api.FilesTransferOutput) {
	job := api.FileJob{Kind: in.Kind, State: api.JobDone}
	free := map[string]bool{} // names that earlier items have vacated
	for _, item := range in.Items {
		if _, err := os.Lstat(item.To); err == nil && in.Conflict == "" && item.To != "" && !free[item.To] {
			out.Conflicts = append(out.Conflicts, item.To)
		}
		free[item.Path] = in.Kind == api.TransferMove
	}
	if len(out.Conflicts) > 0 {
		return out
	}
	held := f.held.Swap(nil)
	for i, item := range in.Items {
		if held != nil && i == held.after {
			job.State = api.JobRunning
			break
		}
		to, err := item.To, error(nil)
		switch in.Kind {
		case api.TransferTrash:
			trash := filepath.Join(filepath.Dir(item.Path), ".trash")
			_ = os.Mkdir(trash, 0o700)
			to = filepath.Join(trash, filepath.Base(item.Path))
			err = os.Rename(item.Path, to)
		case api.TransferDelete:
			err = os.RemoveAll(item.Path)
		case api.TransferMove, api.TransferRestore:
			err = os.Rename(item.Path, to)
		case api.TransferCopy:
			if in.Conflict == api.ConflictKeep {
				to += " (2)"
			}
			var data []byte
			if data, err = os.ReadFile(item.Path); err == nil {
				err = os.WriteFile(to, data, 0o600)
			}
		}
		if err != nil {
			job.State, job.Error = api.JobFailed, err.Error()
			break
		}
		job.Done = append(job.Done, api.FileMoved{Path: item.Path, To: to})
	}
	job.Handled = len(job.Done)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.transfers == nil {
		f.transfers = map[string]api.FileJob{}
	}
	job.ID = fmt.Sprint("t", len(f.transfers)+1)
	f.transfers[job.ID], f.holding = job, held
	out.Job = job.ID
	return out
}

// A heldTransfer is a transfer that stops after some items and runs until it is cancelled.
type heldTransfer struct {
	after int
	ended chan struct{}
}

// HoldTransfers makes the next transfer stop after a number of items, until it is cancelled.
func (f *Files) HoldTransfers(after int) {
	f.held.Store(&heldTransfer{after, make(chan struct{})})
}

func (f *Files) TransferJob(ctx context.Context, id string, waitMS int) (api.FileJob, error) {
	f.mu.Lock()
	job, held := f.transfers[id], f.holding
	f.mu.Unlock()
	if job.State != api.JobRunning || waitMS < 100 {
		return job, nil
	}
	select {
	case <-held.ended:
		job.State = api.JobCancelled
	case <-ctx.Done():
	}
	return job, nil
}

func (f *Files) ListTrash(ctx context.Context) ([]api.TrashedFile, error) {
	if f.Trash == nil {
		return nil, nil
	}
	select {
	case all := <-f.Trash:
		return all, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *Files) CancelTransfer(context.Context, string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.holding.ended)
	return nil
}

// WatchFolder blocks until the test reports a change of the folder.
func (f *Files) WatchFolder(ctx context.Context, path, seen string) (api.FilesWatchOutput, error) {
	select {
	case <-f.FolderChanged:
		if _, err := os.Stat(path); err != nil {
			return api.FilesWatchOutput{}, fakeFileError(err)
		}
		return api.FilesWatchOutput{Stamp: seen + "x", Changed: true}, nil
	case <-ctx.Done():
		return api.FilesWatchOutput{}, ctx.Err()
	}
}

func (f *Files) GitStatus(context.Context, string) (api.FilesGitOutput, error) {
	return api.FilesGitOutput{Branch: f.Branch, Marks: f.GitMarks, All: f.GitAll}, nil
}

func (f *Files) FindFiles(_ context.Context, path, pattern string, _ int) (api.FilesFindOutput, error) {
	var out api.FilesFindOutput
	_ = filepath.WalkDir(path, func(p string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err // entry may be nil
		}
		if ok, _ := filepath.Match(pattern, entry.Name()); ok {
			rel, _ := filepath.Rel(path, p)
			out.Paths = append(out.Paths, rel)
		}
		return nil
	})
	slices.Sort(out.Paths)
	return out, nil
}

func (f *Files) SearchFiles(ctx context.Context, in api.FilesGrepInput) (api.FilesGrepOutput, error) {
	if f.Hang.Load() {
		<-ctx.Done()
		return api.FilesGrepOutput{}, ctx.Err()
	}
	expr := in.Pattern
	if in.IgnoreCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	var out api.FilesGrepOutput
	if err != nil {
		return out, api.Errorf(api.CodeInvalid, "read pattern: %v", err)
	}
	_ = filepath.WalkDir(in.Path, func(p string, entry fs.DirEntry, _ error) error {
		data, _ := os.ReadFile(p)
		if in.MaxBytes > 0 && int64(len(data)) > in.MaxBytes {
			out.Passed++
			return nil
		}
		rel, _ := filepath.Rel(in.Path, p)
		for i, line := range strings.Split(string(data), "\n") {
			if re.MatchString(line) {
				out.Lines = append(out.Lines, api.GrepLine{Path: rel, Line: int64(i + 1), Text: line, Match: true})
			}
		}
		return nil
	})
	return out, nil
}

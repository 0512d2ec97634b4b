package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/files"
	"tandem/engine/panics"
)

const (
	keptJobs    = 10 * time.Minute // how long a transfer that is over is remembered
	mostItems   = 100_000          // of one transfer
	watchWait   = 20 * time.Second
	mostJobWait = time.Minute
)

// A transfer moves, copies or deletes files; it is under way, or over.
type transfer struct {
	id      string
	kind    string
	owner   string // the agent that began it; "" for a person
	cancel  context.CancelFunc
	over    chan struct{} // closed at the end
	bytes   atomic.Int64
	total   atomic.Int64
	mu      sync.Mutex
	current string
	state   string
	done    []api.FileMoved
	skipped int
	err     string
	large   bool // it unpacks to more than is allowed
}

// transfers are the transfers that the engine runs.
type transfers struct {
	ctx     context.Context
	log     *slog.Logger
	running sync.WaitGroup

	mu   sync.Mutex
	last int
	jobs map[string]*transfer
}

// handleTransfers serves transfers, and what else a file browser needs.
func (s *Files) handleTransfers(m *server.Mux) {
	server.Handle(m, api.FilesTransfer, s.begin)
	server.Handle(m, api.FilesJob, s.job)
	server.Handle(m, api.FilesCancel, s.cancelJob)
	server.Handle(m, api.FilesRestore, s.restore)
	server.Handle(m, api.FilesTrashed, s.trashed)
	server.Handle(m, api.FilesWatch, s.watch)
	server.Handle(m, api.FilesGit, s.git)
}

func (s *Files) restore(ctx context.Context, in api.FilesRestoreInput) (api.Empty, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.Empty, error) {
		for _, item := range in.Items {
			if _, err := t.Restore(ctx, in.In(item.Path), in.In(item.To), false); err != nil {
				return api.Empty{}, err
			}
		}
		return api.Empty{}, nil
	})
}

func (s *Files) trashed(ctx context.Context, in api.FilesTrashedInput) (api.FilesTrashedOutput, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.FilesTrashedOutput, error) {
		all, err := files.ListTrash(t)
		out := api.FilesTrashedOutput{Items: make([]api.TrashedFile, len(all))}
		for i, one := range all {
			out.Items[i] = api.TrashedFile{Path: in.Out(one.Path), From: in.Out(one.From), Deleted: one.Deleted, Type: one.Info.Type, Size: one.Info.Size}
		}
		return out, err
	})
}

func (s *Files) watch(ctx context.Context, in api.FilesWatchInput) (api.FilesWatchOutput, error) {
	wait := watchWait
	if in.WaitMS > 0 {
		wait = min(time.Duration(in.WaitMS)*time.Millisecond, time.Minute)
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.FilesWatchOutput, error) {
		stamp, changed, err := t.Watch(limited, in.In(in.Path), in.Seen)
		return api.FilesWatchOutput{Stamp: stamp, Changed: changed}, err
	})
}

func (s *Files) git(ctx context.Context, in api.FilesGitInput) (api.FilesGitOutput, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.FilesGitOutput, error) {
		if in.Branch {
			branch, err := files.Branch(t, in.In(in.Path))
			return api.FilesGitOutput{Branch: branch}, err
		}
		status, err := t.Git(ctx, in.In(in.Path))
		out := api.FilesGitOutput{Branch: status.Branch, All: status.All, Marks: make(map[string]string, len(status.Marks))}
		for name, letters := range status.Marks {
			out.Marks[in.Out(name)] = letters
		}
		return out, err
	})
}

// transfer begins a transfer, unless something is in the way and nobody has
// said what is to become of it.
func (s *Files) begin(asking context.Context, in api.FilesTransferInput) (api.FilesTransferOutput, error) {
	return onFiles(asking, s, in.FileScope, func(t *files.Tree) (api.FilesTransferOutput, error) {
		if err := checkTransfer(in); err != nil {
			return api.FilesTransferOutput{}, err
		}
		items, conflicts, err := inTheWay(asking, t, in)
		switch {
		case err != nil:
			return api.FilesTransferOutput{}, err
		case asking.Err() != nil:
			return api.FilesTransferOutput{}, asking.Err()
		case in.Conflict == "" && len(conflicts) > 0:
			return api.FilesTransferOutput{Conflicts: conflicts}, nil
		}
		j, err := s.transfers.begin(in.Kind, server.CallerOf(asking).Owner, func(ctx context.Context, j *transfer) error {
			return j.run(ctx, t, in, items)
		})
		if err != nil {
			return api.FilesTransferOutput{}, err
		}
		return api.FilesTransferOutput{Job: j.id}, nil
	})
}

// resolved is an item with its paths as the file system has them: what is done
// later looks at them by itself too, and knows no base.
func resolved(t *files.Tree, in api.FilesTransferInput, asked api.FileMove) (item api.FileMove, err error) {
	if item.Path, err = t.Absolute(in.In(asked.Path)); err != nil || goesNowhere(in.Kind) {
		return item, err
	}
	if asked.To == "" {
		return item, api.Errorf(api.CodeInvalid, "%s %s: no destination given", in.Kind, item.Path)
	}
	item.To, err = t.Absolute(in.In(asked.To))
	return item, err
}

// inTheWay are the items with their paths as the file system has them, and what
// is where they are to go. It refuses what would replace something that is
// needed for it.
func inTheWay(ctx context.Context, t *files.Tree, in api.FilesTransferInput) (items []api.FileMove, conflicts []string, err error) {
	free := map[string]bool{} // by what was moved away before
	replaced := map[string]bool{}
	for _, asked := range in.Items {
		item, err := resolved(t, in, asked)
		if err != nil {
			return nil, nil, err
		}
		items = append(items, item)
		if goesNowhere(in.Kind) {
			continue
		}
		if above := aboveIn(replaced, item.Path); above != "" {
			return nil, nil, api.Errorf(api.CodeInvalid, "%s %s: %s, the folder it is in, would be replaced first", in.Kind, item.Path, above)
		}
		if !free[item.To] {
			if err := replaceable(t, in.Kind, in.Conflict, item); err != nil {
				return nil, nil, err
			}
			if _, err := t.Stat(item.To); err == nil && !slices.Contains(conflicts, asked.To) {
				conflicts = append(conflicts, asked.To)
				if in.Conflict == api.ConflictReplace {
					replaced[filepath.Clean(item.To)] = true
				}
			}
		}
		free[item.Path], free[item.To] = in.Kind == api.TransferMove, false
	}
	return items, conflicts, nil
}

// goesNowhere reports whether the items of a kind of transfer have no new path.
func goesNowhere(kind string) bool {
	return kind == api.TransferTrash || kind == api.TransferDelete
}

// aboveIn is the folder above a path that is in a set; "" if none is.
func aboveIn(set map[string]bool, path string) string {
	for dir := filepath.Dir(path); len(set) > 0; dir = filepath.Dir(dir) {
		if set[dir] {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return ""
}

// replaceable refuses an item whose ends are one file, or one in the other, if
// the answer to a conflict would, or could, be to replace what is needed.
func replaceable(t *files.Tree, kind, conflict string, item api.FileMove) error {
	if conflict == api.ConflictSkip {
		return nil
	}
	relation, err := t.Relate(item.Path, item.To)
	if err != nil {
		return nil // the transfer finds out itself, when it is the item's turn
	}
	switch {
	case relation == files.Inside:
		return api.Errorf(api.CodeInvalid, "%s %s: %s is inside it", kind, item.Path, item.To)
	case relation == files.Holds && conflict != api.ConflictKeep:
		return api.Errorf(api.CodeInvalid, "%s %s: it would replace %s, the folder it is in", kind, item.Path, filepath.Base(item.To)).
			WithHint("give it another name")
	case relation == files.Same && kind == api.TransferMove:
		return api.Errorf(api.CodeInvalid, "move %s: it already exists", item.Path)
	case relation == files.Same && conflict == api.ConflictReplace:
		return api.Errorf(api.CodeInvalid, "%s %s: it is the same file as %s", kind, item.Path, item.To)
	}
	return nil
}

func checkTransfer(in api.FilesTransferInput) error {
	kinds := []string{api.TransferCopy, api.TransferMove, api.TransferTrash, api.TransferRestore, api.TransferDelete, api.TransferExtract, api.TransferPack}
	conflicts := []string{"", api.ConflictSkip, api.ConflictReplace, api.ConflictKeep}
	switch {
	case !slices.Contains(kinds, in.Kind):
		return api.Errorf(api.CodeInvalid, "transfer files: unknown kind %q; must be copy, move, trash, restore, delete, extract or pack", in.Kind)
	case !slices.Contains(conflicts, in.Conflict):
		return api.Errorf(api.CodeInvalid, "transfer files: unknown conflict %q; must be skip, replace or keep", in.Conflict)
	case in.Kind == api.TransferPack && slices.ContainsFunc(in.Items, func(item api.FileMove) bool { return item.To != in.Items[0].To }):
		return api.Errorf(api.CodeInvalid, "transfer files: pack makes one archive; all items go to the same path")
	case len(in.Items) == 0 || len(in.Items) > mostItems:
		return api.Errorf(api.CodeInvalid, "transfer files: must be 1 to %d items, got %d", mostItems, len(in.Items))
	}
	return nil
}

// begin publishes a transfer and starts it. A panic of run is the end of this transfer
// alone.
func (js *transfers) begin(kind, owner string, run func(ctx context.Context, j *transfer) error) (*transfer, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	if js.ctx.Err() != nil {
		return nil, api.ErrEnding()
	}
	ctx, cancel := context.WithCancel(js.ctx)
	js.last++
	j := &transfer{id: fmt.Sprintf("t%d", js.last), kind: kind, owner: owner, cancel: cancel, state: api.JobRunning, over: make(chan struct{})}
	if js.jobs == nil {
		js.jobs = map[string]*transfer{}
	}
	js.jobs[j.id] = j
	js.running.Go(panics.Logged(js.log, "transfer of files", func() {
		defer cancel()
		err := errMistake(kind)
		defer func() {
			j.end(err)
			time.AfterFunc(keptJobs, func() { js.forget(j.id) })
		}()
		err = run(ctx, j)
	}))
	return j, nil
}

// errMistake is the error of a transfer that panicked.
func errMistake(kind string) error {
	return api.Errorf(api.CodeInternal, "%s files: the engine made a mistake", kind).WithHint("engine.log has the details")
}

func (js *transfers) forget(id string) {
	js.mu.Lock()
	defer js.mu.Unlock()
	delete(js.jobs, id)
}

// find finds a transfer: for an agent, one of its own.
func (js *transfers) find(ctx context.Context, id string) (*transfer, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	caller := server.CallerOf(ctx)
	if j := js.jobs[id]; j != nil && (!caller.Agent() || j.owner == caller.Owner) {
		return j, nil
	}
	return nil, api.Errorf(api.CodeNotFound, "find transfer %q: no transfer has this id", id)
}

// close waits until no transfer runs any more; their context has ended.
func (js *transfers) close() {
	js.mu.Lock() // whoever is about to begin a transfer has begun it
	//lint:ignore SA2001 waiting is the purpose
	js.mu.Unlock()
	js.running.Wait()
}

func (s *Files) job(ctx context.Context, in api.FileJobInput) (api.FileJob, error) {
	j, err := s.transfers.find(ctx, in.ID)
	if err != nil {
		return api.FileJob{}, err
	}
	if in.WaitMS > 0 {
		timer := time.NewTimer(min(time.Duration(in.WaitMS)*time.Millisecond, mostJobWait))
		defer timer.Stop()
		select {
		case <-j.over:
		case <-timer.C:
		case <-ctx.Done():
			return api.FileJob{}, ctx.Err()
		}
	}
	return j.told(in.FileScope), nil
}

func (s *Files) cancelJob(ctx context.Context, in api.FileJobInput) (api.FileJob, error) {
	j, err := s.transfers.find(ctx, in.ID)
	if err != nil {
		return api.FileJob{}, err
	}
	j.cancel()
	select {
	case <-j.over:
		return j.told(in.FileScope), nil
	case <-ctx.Done():
		return api.FileJob{}, ctx.Err()
	}
}

func (j *transfer) told(scope api.FileScope) api.FileJob {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := api.FileJob{ID: j.id, Kind: j.kind, State: j.state, Bytes: j.bytes.Load(), Total: j.total.Load(),
		Current: scope.Out(j.current), Skipped: j.skipped, Handled: len(j.done) + j.skipped, Error: j.err, Large: j.large}
	if j.state != api.JobRunning {
		for _, d := range j.done {
			out.Done = append(out.Done, api.FileMoved{Path: scope.Out(d.Path), To: scope.Out(d.To), Replaced: scope.Out(d.Replaced)})
		}
	}
	return out
}

// run does the items one after the other, up to the first that fails.
func (j *transfer) run(ctx context.Context, t *files.Tree, in api.FilesTransferInput, items []api.FileMove) error {
	ctx = files.WithProgress(ctx, &j.bytes)
	j.total.Store(bytesOf(ctx, t, j.kind, items))
	put := putter(t, in, items)
	if in.Kind == api.TransferPack { // which is one thing that is made
		items = items[:1]
	}
	for _, item := range items {
		j.mu.Lock()
		j.current = item.Path
		j.mu.Unlock()
		err := ctx.Err()
		if err == nil {
			err = j.one(ctx, t, in.Conflict, item, put)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// end notes how the transfer ended.
func (j *transfer) end(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch j.state = api.JobDone; {
	case errors.Is(err, context.Canceled):
		j.state = api.JobCancelled
	case err != nil:
		j.state, j.err = api.JobFailed, api.AsError(fileError(err)).Message
		j.large = j.kind == api.TransferExtract && errors.Is(err, files.TooLarge)
	}
	close(j.over)
}

// bytesOf is how many bytes a transfer has to copy.
func bytesOf(ctx context.Context, t *files.Tree, kind string, items []api.FileMove) (total int64) {
	if goesNowhere(kind) {
		return 0
	}
	for _, item := range items {
		if kind != api.TransferMove && kind != api.TransferRestore || !t.SameDevice(item.Path, item.To) {
			total += t.Size(ctx, item.Path)
		}
	}
	return total
}

// A put has something at a path that nothing is at.
type put func(ctx context.Context, from, to string, overwrite bool) (files.Info, error)

// putter is how a kind of transfer puts its items where they go.
func putter(t *files.Tree, in api.FilesTransferInput, items []api.FileMove) put {
	switch in.Kind {
	case api.TransferMove:
		return t.Move
	case api.TransferRestore:
		return t.Restore
	case api.TransferExtract:
		return func(ctx context.Context, from, to string, _ bool) (files.Info, error) {
			return files.Extract(ctx, t, from, to, in.Large)
		}
	case api.TransferPack:
		return func(ctx context.Context, _, to string, _ bool) (files.Info, error) {
			paths := make([]string, len(items))
			for i, item := range items {
				paths[i] = item.Path
			}
			return files.Pack(ctx, t, paths, to)
		}
	}
	return t.Copy
}

// one does one item.
func (j *transfer) one(ctx context.Context, t *files.Tree, conflict string, item api.FileMove, put put) error {
	kind := j.kind
	switch kind {
	case api.TransferTrash:
		to, err := t.Trash(item.Path, time.Now())
		j.finish(api.FileMoved{Path: item.Path, To: to}, err)
		return err
	case api.TransferDelete:
		err := t.Delete(ctx, item.Path, true)
		j.finish(api.FileMoved{Path: item.Path}, err)
		return err
	}
	moved := api.FileMoved{Path: item.Path, To: item.To}
	_, missing := t.Stat(item.To)
	switch {
	case missing != nil: // or it cannot be reached, as is found out then
	case conflict == api.ConflictSkip:
		j.mu.Lock()
		j.skipped++
		j.mu.Unlock()
		return nil
	case conflict == api.ConflictKeep:
		var err error
		if moved.To, err = freeName(t, item.To); err != nil {
			return err
		}
	case conflict == api.ConflictReplace:
		err := replaceable(t, kind, conflict, item) // much may have changed since it was asked for
		if err != nil {
			return err
		}
		if moved.Replaced, err = t.Trash(item.To, time.Now()); err != nil {
			return err
		}
	}
	_, err := put(ctx, item.Path, moved.To, false)
	if err != nil && moved.Replaced != "" {
		if _, back := t.Restore(context.WithoutCancel(ctx), moved.Replaced, item.To, false); back != nil {
			err = fmt.Errorf("%w; what was there is in the trash", err)
		}
	}
	j.finish(moved, err)
	return err
}

func (j *transfer) finish(moved api.FileMoved, err error) {
	if err != nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done = append(j.done, moved)
}

// freeName is a path beside another that nothing has yet.
func freeName(t *files.Tree, path string) (string, error) {
	for n := 2; ; n++ {
		free := filepath.Join(filepath.Dir(path), files.Numbered(filepath.Base(path), n))
		switch _, err := t.Stat(free); {
		case errors.Is(err, files.NotFound):
			return free, nil
		case err != nil:
			return "", err
		}
	}
}

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
	"tandem/engine/base/panics"
	"tandem/engine/workspace/files"
)

const (
	transferTTL      = 10 * time.Minute // how long a finished transfer is kept
	maxItems         = 100_000          // of one transfer
	defaultWatchWait = 20 * time.Second
	maxJobWait       = time.Minute
)

// A transfer moves, copies or deletes files. It is running or has ended.
type transfer struct {
	owner  string // agent that began it; "" for the user
	cancel context.CancelFunc
	ended  chan struct{} // closed at the end
	bytes  atomic.Int64  // copied so far, in addition to those of job
	save   func()        // saves the state of all transfers

	mu    sync.Mutex
	job   api.FileJob // with the paths of the file system
	temps []string    // hidden incomplete copies, with their machines
	over  time.Time   // when it ended
	saved time.Time   // when a finished item was last saved
}

// update changes the state of the transfer.
func (j *transfer) update(change func(*api.FileJob)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(&j.job)
}

// transfers holds the engine's transfers.
type transfers struct {
	ctx     context.Context
	log     *slog.Logger
	running sync.WaitGroup

	mu   sync.Mutex
	jobs map[string]*transfer

	saving sync.Mutex // held while the state is saved
	store  TransferStore
}

// handleTransfers registers the handlers for transfers and other operations of the file
// browser.
func (s *Files) handleTransfers(m *server.Mux) {
	handle(s.own, m, api.FilesTransfer, s.beginTransfer)
	server.Handle(m, api.FilesTransferBetween, s.beginTransferBetween)
	handle(s.own, m, api.FilesJob, s.getJob)
	server.Handle(m, api.FilesCancel, s.cancelJob)
	handle(s.own, m, api.FilesRestore, s.restoreTrash)
	server.Handle(m, api.FilesTrashed, s.listTrash)
	server.Handle(m, api.FilesWatch, s.watchDirectory)
	server.Handle(m, api.FilesGit, s.gitStatus)
}

func (s *Files) restoreTrash(ctx context.Context, in api.FilesRestoreInput) (api.Empty, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.Empty, error) {
		trash := files.Trash{Tree: t}
		for _, item := range in.Items {
			if _, err := trash.Restore(ctx, in.In(item.Path), in.In(item.To), false); err != nil {
				return api.Empty{}, err
			}
		}
		return api.Empty{}, nil
	})
}

func (s *Files) listTrash(ctx context.Context, in api.FilesTrashedInput) (api.FilesTrashedOutput, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.FilesTrashedOutput, error) {
		all, err := files.Trash{Tree: t}.List()
		out := api.FilesTrashedOutput{Items: make([]api.TrashedFile, len(all))}
		for i, one := range all {
			out.Items[i] = api.TrashedFile{Path: in.Out(one.Path), From: in.Out(one.From), Deleted: one.Deleted, Type: one.Info.Type, Size: one.Info.Size}
		}
		return out, err
	})
}

func (s *Files) watchDirectory(ctx context.Context, in api.FilesWatchInput) (api.FilesWatchOutput, error) {
	wait := defaultWatchWait
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

func (s *Files) gitStatus(ctx context.Context, in api.FilesGitInput) (api.FilesGitOutput, error) {
	return onFiles(ctx, s, in.FileScope, func(t *files.Tree) (api.FilesGitOutput, error) {
		git := files.Git{Tree: t}
		if in.Branch {
			branch, err := git.Branch(in.In(in.Path))
			return api.FilesGitOutput{Branch: branch}, err
		}
		status, err := git.Status(ctx, in.In(in.Path))
		out := api.FilesGitOutput{Branch: status.Branch, All: status.All, Marks: make(map[string]string, len(status.Marks))}
		for name, letters := range status.Marks {
			out.Marks[in.Out(name)] = letters
		}
		return out, err
	})
}

// beginTransfer begins a transfer. If files are in the way and the caller has not said what to do
// about them, it returns these conflicts instead.
func (s *Files) beginTransfer(asking context.Context, in api.FilesTransferInput) (api.FilesTransferOutput, error) {
	return onFiles(asking, s, in.FileScope, func(t *files.Tree) (api.FilesTransferOutput, error) {
		if err := checkTransfer(in); err != nil {
			return api.FilesTransferOutput{}, err
		}
		items, conflicts, err := resolveItems(asking, t, in)
		switch {
		case err != nil:
			return api.FilesTransferOutput{}, err
		case asking.Err() != nil:
			return api.FilesTransferOutput{}, asking.Err()
		case in.Conflict == "" && len(conflicts) > 0:
			return api.FilesTransferOutput{Conflicts: conflicts}, nil
		}
		return s.transfers.beginTransfer(in.Kind, api.CallerOf(asking).Owner, func(ctx context.Context, j *transfer) error {
			return j.run(ctx, t, in, items)
		})
	})
}

// resolveItem makes the paths of an item absolute. A transfer runs after the call has returned,
// when its base is no longer known.
func resolveItem(t *files.Tree, in api.FilesTransferInput, asked api.FileMove) (item api.FileMove, err error) {
	if item.Path, err = t.Absolute(in.In(asked.Path)); err != nil || hasNoDestination(in.Kind) {
		return item, err
	}
	if asked.To == "" {
		return item, api.Errorf(api.CodeInvalid, "%s %s: no destination given", in.Kind, item.Path)
	}
	item.To, err = t.Absolute(in.In(asked.To))
	return item, err
}

// resolveItems makes the paths of the items absolute, and returns the destinations that already
// exist. It rejects a transfer that would replace a file it still has to read.
func resolveItems(ctx context.Context, t *files.Tree, in api.FilesTransferInput) (items []api.FileMove, conflicts []string, err error) {
	free := map[string]bool{} // paths vacated by earlier items
	replaced := map[string]bool{}
	for _, asked := range in.Items {
		item, err := resolveItem(t, in, asked)
		if err != nil {
			return nil, nil, err
		}
		items = append(items, item)
		if hasNoDestination(in.Kind) {
			continue
		}
		// Items are handled in order. Replacing a folder removes everything in it, including later
		// sources.
		if above := parentIn(replaced, item.Path); above != "" {
			return nil, nil, api.Errorf(api.CodeInvalid, "%s %s: %s, the folder it is in, would be replaced first", in.Kind, item.Path, above)
		}
		if !free[item.To] {
			if err := checkReplace(t, in.Kind, in.Conflict, item); err != nil {
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

// hasNoDestination reports whether transfers of this kind have no destination paths.
func hasNoDestination(kind string) bool {
	return kind == api.TransferTrash || kind == api.TransferDelete
}

// parentIn returns the closest parent of a path in set; "" if there is none.
func parentIn(set map[string]bool, path string) string {
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

// checkReplace rejects an item if replacing its destination could destroy its source: both are the
// same, or one contains the other.
func checkReplace(t *files.Tree, kind, conflict string, item api.FileMove) error {
	if conflict == api.ConflictSkip {
		return nil
	}
	relation, err := t.Relate(item.Path, item.To)
	if err != nil {
		return nil // the transfer reports it when it reaches the item
	}
	switch {
	case relation == files.Inside:
		return api.Errorf(api.CodeInvalid, "%s %s: %s is inside it", kind, item.Path, item.To)
	case relation == files.Contains && conflict != api.ConflictKeep:
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
	case len(in.Items) == 0 || len(in.Items) > maxItems:
		return api.Errorf(api.CodeInvalid, "transfer files: must be 1 to %d items, got %d", maxItems, len(in.Items))
	}
	return nil
}

// beginTransfer registers a transfer and starts run in the background. A panic in run fails only
// this transfer.
func (js *transfers) beginTransfer(kind, owner string, run func(ctx context.Context, j *transfer) error) (api.FilesTransferOutput, error) {
	// The state is saved before the answer, so that even the next engine knows the id.
	noted := make(chan struct{})
	js.mu.Lock()
	if js.ctx.Err() != nil {
		js.mu.Unlock()
		return api.FilesTransferOutput{}, api.ErrEnding()
	}
	ctx, cancel := context.WithCancel(js.ctx)
	id := api.NewID() // not that of a transfer of an earlier engine, which a client may still ask for
	j := &transfer{owner: owner, cancel: cancel, ended: make(chan struct{}), save: js.save, job: api.FileJob{ID: id, Kind: kind, State: api.JobRunning}}
	if js.jobs == nil {
		js.jobs = map[string]*transfer{}
	}
	js.jobs[id] = j
	js.running.Go(panics.Logged(js.log, "transfer of files", func() {
		defer cancel()
		js.save()
		close(noted)
		// err stays set if run panics.
		err := errMistake(kind)
		defer func() {
			j.endWith(err)
			js.forgetLater(id)
		}()
		err = run(ctx, j)
	}))
	js.mu.Unlock()
	<-noted
	return api.FilesTransferOutput{Job: id}, nil
}

// errMistake returns the error of a transfer that panicked.
func errMistake(kind string) error {
	return api.Errorf(api.CodeInternal, "%s files: internal error in the engine", kind).WithHint("engine.log has the details")
}

// findTransfer finds a transfer by its id. An agent finds only its own transfers.
func (js *transfers) findTransfer(ctx context.Context, id string) (*transfer, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	caller := api.CallerOf(ctx)
	if j := js.jobs[id]; j != nil && (!caller.Agent() || j.owner == caller.Owner) {
		return j, nil
	}
	return nil, api.Errorf(api.CodeNotFound, "find transfer %q: no transfer has this id", id)
}

// close waits until no transfer is running. The context of the transfers must have ended.
func (js *transfers) close() {
	js.mu.Lock() // waits for a transfer about to begin
	//lint:ignore SA2001 waiting is the purpose
	js.mu.Unlock()
	js.running.Wait()
}

func (s *Files) getJob(ctx context.Context, in api.FileJobInput) (api.FileJob, error) {
	j, err := s.transfers.findTransfer(ctx, in.ID)
	if err != nil {
		return api.FileJob{}, err
	}
	if in.WaitMS > 0 {
		timer := time.NewTimer(min(time.Duration(in.WaitMS)*time.Millisecond, maxJobWait))
		defer timer.Stop()
		select {
		case <-j.ended:
		case <-timer.C:
		case <-ctx.Done():
			return api.FileJob{}, ctx.Err()
		}
	}
	return j.describe(in.FileScope), nil
}

func (s *Files) cancelJob(ctx context.Context, in api.FileJobInput) (api.FileJob, error) {
	j, err := s.transfers.findTransfer(ctx, in.ID)
	if err != nil {
		return api.FileJob{}, err
	}
	j.cancel()
	select {
	case <-j.ended:
		return j.describe(in.FileScope), nil
	case <-ctx.Done():
		return api.FileJob{}, ctx.Err()
	}
}

func (j *transfer) describe(scope api.FileScope) api.FileJob {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := j.job
	out.Bytes += j.bytes.Load()
	out.Current, out.Handled, out.Done = scope.Out(out.Current), max(out.Handled, len(out.Done)+out.Skipped), nil
	// The list can be long, and nobody needs it before the end.
	if out.State != api.JobRunning {
		for _, d := range j.job.Done {
			out.Done = append(out.Done, api.FileMoved{Path: scope.Out(d.Path), To: scope.Out(d.To), Replaced: scope.Out(d.Replaced)})
		}
	}
	return out
}

// run processes the items in order, up to the first failure.
func (j *transfer) run(ctx context.Context, t *files.Tree, in api.FilesTransferInput, items []api.FileMove) error {
	ctx = files.WithTemps(files.WithProgress(ctx, &j.bytes), j.noteTemp)
	total := totalBytes(ctx, t, in.Kind, items)
	j.update(func(job *api.FileJob) { job.Total = total })
	place := placeFuncFor(t, in, items)
	if in.Kind == api.TransferPack { // all items make one archive
		items = items[:1]
	}
	for _, item := range items {
		j.update(func(job *api.FileJob) { job.Current = item.Path })
		err := ctx.Err()
		if err == nil {
			err = j.transferItem(ctx, t, in, item, place)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// endWith records the end of the transfer.
func (j *transfer) endWith(err error) {
	j.update(func(job *api.FileJob) {
		switch job.State = api.JobDone; {
		case errors.Is(err, context.Canceled):
			job.State = api.JobCancelled
		case err != nil:
			job.State, job.Error = api.JobFailed, api.AsError(fileError(err)).Message
			job.Large = job.Kind == api.TransferExtract && errors.Is(err, files.TooLarge)
		}
	})
	j.mu.Lock()
	j.over = time.Now()
	j.mu.Unlock()
	j.save()
	close(j.ended)
}

// totalBytes returns how many bytes a transfer has to copy.
func totalBytes(ctx context.Context, t *files.Tree, kind string, items []api.FileMove) (total int64) {
	if hasNoDestination(kind) {
		return 0
	}
	for _, item := range items {
		// A rename within one file system copies nothing.
		if kind != api.TransferMove && kind != api.TransferRestore || !t.SameDevice(item.Path, item.To) {
			total += t.Size(ctx, item.Path)
		}
	}
	return total
}

// A placeFunc moves, copies or creates the file at to, which must not exist unless overwrite is
// set.
type placeFunc func(ctx context.Context, from, to string, overwrite bool) (files.Info, error)

// placeFuncFor returns the placeFunc of a kind of transfer.
func placeFuncFor(t *files.Tree, in api.FilesTransferInput, items []api.FileMove) placeFunc {
	archiver := files.Archiver{Tree: t}
	switch in.Kind {
	case api.TransferMove:
		return t.Move
	case api.TransferRestore:
		return files.Trash{Tree: t}.Restore
	case api.TransferExtract:
		return func(ctx context.Context, from, to string, _ bool) (files.Info, error) {
			return archiver.Extract(ctx, from, to, in.Large)
		}
	case api.TransferPack:
		return func(ctx context.Context, _, to string, _ bool) (files.Info, error) {
			paths := make([]string, len(items))
			for i, item := range items {
				paths[i] = item.Path
			}
			return archiver.Pack(ctx, paths, to)
		}
	}
	return t.Copy
}

// transferItem transfers one item.
func (j *transfer) transferItem(ctx context.Context, t *files.Tree, in api.FilesTransferInput, item api.FileMove, place placeFunc) error {
	conflict, trash := in.Conflict, files.Trash{Tree: t}
	switch in.Kind {
	case api.TransferTrash:
		to, err := trash.Put(item.Path, time.Now())
		j.recordMoved(api.FileMoved{Path: item.Path, To: to}, err)
		return err
	case api.TransferDelete:
		err := t.Delete(ctx, item.Path, true)
		j.recordMoved(api.FileMoved{Path: item.Path}, err)
		return err
	}
	moved := api.FileMoved{Path: item.Path, To: item.To}
	_, missing := t.Stat(item.To)
	switch {
	case missing != nil: // or unreachable; place reports that
	case conflict == api.ConflictSkip:
		j.update(func(job *api.FileJob) { job.Skipped++ })
		return nil
	case conflict == api.ConflictKeep:
		var err error
		if moved.To, err = freeName(t, item.To); err != nil {
			return err
		}
	case conflict == api.ConflictReplace:
		err := checkReplace(t, in.Kind, conflict, item) // the files may have changed since the request
		if err != nil {
			return err
		}
		if moved.Replaced, err = trash.Put(item.To, time.Now()); err != nil {
			return err
		}
	}
	_, err := place(ctx, item.Path, moved.To, false)
	if err != nil && moved.Replaced != "" {
		// Restore the replaced file, even if the caller has cancelled.
		if _, back := trash.Restore(context.WithoutCancel(ctx), moved.Replaced, item.To, false); back != nil {
			err = fmt.Errorf("%w; the replaced file is in the trash", err)
		}
	}
	j.recordMoved(moved, err)
	return err
}

// freeName returns a free path next to path.
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

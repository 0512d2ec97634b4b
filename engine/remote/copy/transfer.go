// Package copy copies and moves files between machines. Two machines may be unable to
// reach each other, so this engine carries the data, a piece or two at a time. An item is copied
// in a temporary folder and moved to its place when complete, so a failed transfer leaves nothing
// half done. A lost link does not end a transfer: pieces have an offset, so one that may have arrived
// can be sent again.
package copy

import (
	"cmp"
	"context"
	"errors"
	"path"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/base/panics"
	"tandem/engine/base/sleep"
	"tandem/engine/workspace/files"
)

const (
	pieceSize   = 4 << 20 // bytes read and written at a time
	cleanUpTime = 10 * time.Second
	// A step on an offline machine is repeated after waits from firstCleanUpWait to
	// maxCleanUpWait.
	firstCleanUpWait, maxCleanUpWait = 5 * time.Second, time.Hour
)

// A Transfer copies or moves files between machines. Paths on other machines are in the form of
// api.PathOn.
type Transfer struct {
	Kind     string // api.TransferCopy or api.TransferMove
	Items    []api.FileMove
	Conflict string

	// Open connects to the engine of a machine, "" for this one.
	Open func(ctx context.Context, machine string) (api.Engine, error)
	// Start runs a task in the background. Its context ends with this engine.
	Start func(task func(context.Context))
	// Note is called with the path of a temporary folder before it is made. The returned function
	// gone is called once the folder is removed. Note may be nil.
	Note func(path string) (gone func())

	machines map[string]api.Engine // connected to so far
	folders  map[string]endpoint   // folders with items so far; each stays the folder first found
	update   func(func(*api.FileJob))
}

// Exists reports whether there is something at a path in the form used by Items.
func (t *Transfer) Exists(ctx context.Context, path string) (bool, error) {
	_, _, found, err := t.stat(ctx, path)
	return found, err
}

// stat connects to the machine of a path, and describes the file; found is false if it does not
// exist. Further calls for p are confined to its folder, if that exists.
func (t *Transfer) stat(ctx context.Context, where string) (p endpoint, info api.FileInfo, found bool, err error) {
	p.name, p.path = api.PathOf(where)
	if !path.IsAbs(p.path) {
		return p, info, false, api.Errorf(api.CodeInvalid, "%s %q: must be an absolute path", t.Kind, where)
	}
	if t.machines[p.name] == nil {
		e, err := t.Open(ctx, p.name)
		if err != nil {
			return p, info, false, err
		}
		if t.machines == nil {
			t.machines = map[string]api.Engine{}
		}
		t.machines[p.name] = rereader{e}
	}
	p.Engine = t.machines[p.name]
	folder := p.sibling("")
	if known, ok := t.folders[folder.String()]; ok {
		folder = known
	} else {
		above, found, err := p.stat(ctx, folder.path)
		if err == nil && found {
			folder, err = t.remember(folder, above)
		}
		if err != nil || !found {
			return p, info, false, err
		}
	}
	p.Files = folder.Files
	info, found, err = p.stat(ctx, p.path)
	return p, info, found, err
}

// remember confines further calls in a folder of items to that folder, as described by info, and
// returns it.
func (t *Transfer) remember(folder endpoint, info api.FileInfo) (endpoint, error) {
	folder, err := folder.within(folder.path, info)
	if err == nil {
		if t.folders == nil {
			t.folders = map[string]endpoint{}
		}
		t.folders[folder.String()] = folder
	}
	return folder, err
}

// Close closes idle connections to the machines.
func (t *Transfer) Close() {
	for _, e := range t.machines {
		if c, ok := e.(rereader).Engine.(interface{ Close() }); ok {
			c.Close()
		}
	}
}

// Run transfers the items in order, up to the first that fails. It passes the progress to update.
func (t *Transfer) Run(ctx context.Context, update func(change func(*api.FileJob))) error {
	t.update = update
	err := t.copyItems(ctx)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (t *Transfer) copyItems(ctx context.Context) error {
	var total int64
	for _, item := range t.Items {
		from, info, _, err := t.stat(ctx, item.Path)
		if err == nil && info.Type == "dir" {
			from, err = from.within(from.path, info)
		}
		if err != nil {
			return err
		}
		n, err := from.totalSize(ctx, new(files.Descent), info)
		if err != nil {
			return err
		}
		total += n
	}
	t.update(func(job *api.FileJob) { job.Total = total })
	for _, item := range t.Items {
		t.update(func(job *api.FileJob) { job.Current = item.Path })
		if err := t.copyItem(ctx, item); err != nil {
			return err
		}
	}
	return nil
}

// copyItem copies one item, and removes the original of a move.
func (t *Transfer) copyItem(ctx context.Context, item api.FileMove) error {
	from, info, found, err := t.stat(ctx, item.Path)
	if err == nil && !found {
		err = api.Errorf(api.CodeNotFound, "%s %s: no such file", t.Kind, from)
	}
	if err != nil {
		return err
	}
	to, _, there, err := t.stat(ctx, item.To)
	switch {
	case err != nil:
		return err
	case to.Root == "":
		if to, err = t.makeAbove(ctx, to); err != nil {
			return err
		}
	case there && t.Conflict == api.ConflictSkip:
		t.update(func(job *api.FileJob) { job.Skipped++ })
		return nil
	case there && t.Conflict == api.ConflictKeep:
		if to, err = to.freeName(ctx); err != nil {
			return err
		}
	}
	moved := api.FileMoved{Path: item.Path, To: to.String()}
	if moved.Replaced, err = t.copyTo(ctx, from, to, info, there && t.Conflict == api.ConflictReplace); err != nil {
		return err
	}
	if t.Kind == api.TransferMove {
		err = t.removeMoved(ctx, from, to, info)
	}
	if err == nil {
		t.update(func(job *api.FileJob) { job.Done = append(job.Done, moved) })
	}
	return err
}

// removeMoved removes the original of a move, except for entries written since they were copied.
func (t *Transfer) removeMoved(ctx context.Context, from, to endpoint, info api.FileInfo) (err error) {
	inside := from
	if info.Type == "dir" {
		if inside, err = from.within(from.path, info); err != nil {
			return err
		}
	}
	kept, err := from.removeCopied(ctx, new(files.Descent), inside, to)
	if err == nil && kept {
		err = api.Errorf(api.CodeConflict, "move %s: it changed during the move; what was not copied is still there", from)
	}
	return err
}

// makeAbove makes the folder of p, with its parents.
func (t *Transfer) makeAbove(ctx context.Context, p endpoint) (endpoint, error) {
	folder := p.sibling("")
	info, err := api.FilesMkdir.Call(ctx, p, api.FilesMkdirInput{FileScope: p.Scope(), Path: api.EscapePath(folder.path), Parents: true})
	if err == nil {
		folder, err = t.remember(folder, info)
	}
	p.Files = folder.Files
	return p, err
}

// copyTo copies a file, folder or link into a temporary folder, and then moves the copy into place.
func (t *Transfer) copyTo(ctx context.Context, from, to endpoint, info api.FileInfo, replace bool) (replaced string, err error) {
	if info.Type == "dir" {
		if from, err = from.within(from.path, info); err != nil {
			return "", err
		}
	}
	temp := to.temp()
	gone := func() {}
	if t.Note != nil {
		gone = t.Note(temp.String())
	}
	defer t.cleanUp(temp, func(ctx context.Context) error { return temp.discard(ctx, gone) })
	inside, err := to.makeTemp(ctx, temp)
	if err == nil {
		err = t.copyAny(ctx, new(files.Descent), from, inside, info)
	}
	if err != nil {
		return "", err
	}
	return t.place(ctx, inside, to, replace)
}

// place gives a complete copy its name. A file that it replaces goes to the trash first, and is
// restored if the rename fails.
func (t *Transfer) place(ctx context.Context, temp, to endpoint, replace bool) (replaced string, err error) {
	if replace {
		if replaced, err = to.trash(ctx); err != nil {
			return "", err
		}
	}
	if err = temp.rename(ctx, to); err != nil && replaced != "" {
		t.cleanUp(to, func(ctx context.Context) error { return to.restore(ctx, replaced) })
	}
	return replaced, err
}

// cleanUp runs a step even after the transfer was cancelled. If the machine is offline, it repeats
// the step until the machine is back.
func (t *Transfer) cleanUp(p endpoint, step func(context.Context) error) {
	tried := make(chan struct{})
	t.Start(func(engine context.Context) {
		report := sync.OnceFunc(func() { close(tried) })
		defer report()
		ctx := engine
		if p.name == "" {
			ctx = context.WithoutCancel(engine) // an engine that is stopping still has its own files
		}
		for wait := firstCleanUpWait; ; wait = min(2*wait, maxCleanUpWait) {
			limited, cancel := context.WithTimeout(ctx, cleanUpTime)
			err := step(limited)
			cancel()
			report()
			offline := errors.Is(err, api.CodeUnavailable) || errors.Is(err, context.DeadlineExceeded)
			if !offline || sleep.For(engine, wait) != nil {
				return
			}
		}
	})
	<-tried
}

// Discard removes a temporary folder that an earlier engine left, even if its machine is offline
// for now, and then calls gone.
func (t *Transfer) Discard(path string, gone func()) {
	var p endpoint
	p.name, p.path = api.PathOf(path)
	t.cleanUp(p, func(ctx context.Context) (err error) {
		if p.Engine, err = t.Open(ctx, p.name); err != nil {
			return err
		}
		return p.discard(ctx, gone)
	})
}

// copyAny copies a file, folder or link to a path that does not exist.
func (t *Transfer) copyAny(ctx context.Context, walk *files.Descent, from, to endpoint, info api.FileInfo) error {
	switch info.Type {
	case "file":
		if err := t.copyFile(ctx, from, to, info); err != nil {
			return err
		}
	case "dir":
		err := to.MakeFolder(ctx, to.path)
		if err != nil {
			return err
		}
		err = from.walk(ctx, func(child api.FileInfo) error {
			return from.enter(walk, func() error {
				return t.copyAny(ctx, walk, from.child(child.Name), to.child(child.Name), child)
			})
		})
		if err != nil {
			return err
		}
	case "link":
	default:
		return api.Errorf(api.CodeNotSupported, "%s %s: a %s cannot be copied to another machine", t.Kind, from, info.Type)
	}
	return to.setMetadata(ctx, info)
}

// A piece is a part of a file, or an error.
type piece struct {
	data []byte
	err  error
}

// copyFile copies the content of a file, reading the next piece while one is written.
func (t *Transfer) copyFile(ctx context.Context, from, to endpoint, info api.FileInfo) error {
	var reading panics.Group
	defer reading.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pieces := make(chan piece)
	reading.Start(func() { from.sendPieces(ctx, pieces) })
	var written int64
	for p := range pieces {
		if p.err != nil {
			return p.err
		}
		if err := to.writePiece(ctx, written, p.data); err != nil {
			return err
		}
		written += int64(len(p.data))
		t.update(func(job *api.FileJob) { job.Bytes += int64(len(p.data)) })
	}
	// The source may have changed while it was read, and pieces may have been lost.
	if now, _, err := from.stat(ctx, from.path); err != nil || written != now.Size || !now.Modified.Equal(info.Modified) {
		return cmp.Or(err, error(api.Errorf(api.CodeConflict, "%s %s: the file changed while it was copied", t.Kind, from)))
	}
	there, _, err := to.stat(ctx, to.path)
	if err == nil && there.Size != written {
		err = api.Errorf(api.CodeInternal, "%s %s: %d bytes arrived of %d", t.Kind, from, there.Size, written)
	}
	return err
}

// Two machines may be unable to reach each other, so the dashboard carries the data, a
// piece or two at a time. An item is copied under a temporary name and renamed when
// complete, so a failed transfer leaves nothing half done. A lost link does not end a
// transfer: pieces have an offset, so one that may have arrived can be sent again.

package machines

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"tandem/engine/api"
	"tandem/engine/sleep"
	"tandem/panes"
)

const (
	pieceSize   = 4 << 20 // bytes read and written at a time
	listPage    = 1000    // entries listed at a time
	cleanUpWait = 10 * time.Second
	copyPrefix  = "machines-" // prefix of the ids of these transfers
)

// A crossCopy is a transfer between two machines.
type crossCopy struct {
	e     Engine
	in    api.FilesTransferInput
	items []copyItem
	stop  context.CancelFunc
	done  chan struct{}

	mu  sync.Mutex
	job api.FileJob
}

// A copyItem is an item with its source and destination.
type copyItem struct {
	api.FileMove
	from, to endpoint
}

// An endpoint is a path on a machine; "" is the local one.
type endpoint struct{ machine, path string }

func (p endpoint) child(name string) endpoint { return endpoint{p.machine, path.Join(p.path, name)} }
func (p endpoint) sibling(name string) endpoint {
	return endpoint{p.machine, path.Join(path.Dir(p.path), name)}
}
func (p endpoint) String() string { return api.PathOn(p.machine, p.path) }

// userScope returns the file scope of a user: all files, with names of any bytes.
func userScope() api.FileScope { return api.FileScope{Escaped: true} }

// callOn calls the machine of an endpoint. The errors of another machine name it.
func (c *crossCopy) callOn(ctx context.Context, p endpoint, ask func(context.Context, panes.Engine) error) error {
	if p.machine == "" {
		return ask(ctx, c.e.Engine)
	}
	return c.e.set.callMachine(ctx, p.machine, ask)
}

// copyAcross starts a transfer between machines, or returns its conflicts.
func (e Engine) copyAcross(ctx context.Context, in api.FilesTransferInput) (out api.FilesTransferOutput, err error) {
	if in.Kind != api.TransferCopy && in.Kind != api.TransferMove {
		return out, api.Errorf(api.CodeNotSupported, "%s: from one machine to another", in.Kind)
	}
	c := &crossCopy{e: e, in: in, done: make(chan struct{})}
	for _, item := range in.Items {
		one := copyItem{FileMove: item}
		one.from.machine, one.from.path = e.splitPath(item.Path)
		one.to.machine, one.to.path = e.splitPath(item.To)
		c.items = append(c.items, one)
		switch _, there, err := c.statFile(ctx, one.to); {
		case err != nil:
			return out, err
		case there && in.Conflict == "":
			out.Conflicts = append(out.Conflicts, item.To)
		}
	}
	if len(out.Conflicts) > 0 {
		return out, nil
	}
	s := e.set
	s.mu.Lock()
	s.copies++
	c.job = api.FileJob{ID: copyPrefix + fmt.Sprint(s.copies), Kind: in.Kind, State: api.JobRunning}
	ctx, c.stop = context.WithCancel(s.ctx)
	s.transfers[c.job.ID] = c
	s.mu.Unlock()
	s.start(func() { c.runItems(ctx) })
	return api.FilesTransferOutput{Job: c.job.ID}, nil
}

// copyOf returns the transfer with an id; nil if there is none.
func (s *Set) copyOf(id string) *crossCopy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.transfers[id]
}

// awaitJob waits at most waitMS for the end of the transfer, and returns its state. Once
// the end is reported, the transfer is forgotten.
func (c *crossCopy) awaitJob(ctx context.Context, waitMS int) (api.FileJob, error) {
	timer := time.NewTimer(time.Duration(waitMS) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C:
	case <-ctx.Done():
		return api.FileJob{}, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	job := c.job
	job.Handled = len(job.Done) + job.Skipped
	if job.State != api.JobRunning {
		c.e.set.mu.Lock()
		delete(c.e.set.transfers, job.ID)
		c.e.set.mu.Unlock()
	}
	return job, nil
}

func (c *crossCopy) updateJob(change func(*api.FileJob)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.job)
}

// runItems transfers the items in order, up to the first that fails.
func (c *crossCopy) runItems(ctx context.Context) {
	defer c.stop()
	err := c.copyItems(ctx)
	c.updateJob(func(j *api.FileJob) {
		switch j.State = api.JobDone; {
		case err != nil && ctx.Err() != nil:
			j.State = api.JobCancelled
		case err != nil:
			j.State, j.Error = api.JobFailed, api.AsError(err).Message
		}
	})
	close(c.done)
}

func (c *crossCopy) copyItems(ctx context.Context) error {
	var total int64
	for _, item := range c.items {
		n, err := c.totalSize(ctx, item.from)
		if err != nil {
			return err
		}
		total += n
	}
	c.updateJob(func(j *api.FileJob) { j.Total = total })
	for _, item := range c.items {
		c.updateJob(func(j *api.FileJob) { j.Current = item.Path })
		moved := api.FileMoved{Path: item.Path, To: item.To}
		skipped, err := c.copyOne(ctx, item, &moved)
		if err != nil {
			return err
		}
		c.updateJob(func(j *api.FileJob) {
			if skipped {
				j.Skipped++
				return
			}
			j.Done = append(j.Done, moved)
		})
	}
	return nil
}

// copyOne copies one item under a temporary name, and then renames it.
func (c *crossCopy) copyOne(ctx context.Context, item copyItem, moved *api.FileMoved) (skipped bool, err error) {
	to := item.to
	info, found, err := c.statFile(ctx, item.from)
	if err == nil && !found {
		err = api.Errorf(api.CodeNotFound, "%s %s: no such file", c.in.Kind, item.from)
	}
	if err != nil {
		return false, err
	}
	_, there, err := c.statFile(ctx, to)
	switch {
	case err != nil:
		return false, err
	case there && c.in.Conflict == api.ConflictSkip:
		return true, nil
	case there && c.in.Conflict == api.ConflictKeep:
		if to, err = c.freeName(ctx, to); err != nil {
			return false, err
		}
		moved.To = to.String()
	}
	temp := to.sibling(tempName(path.Base(to.path)))
	if err := c.copyAny(ctx, item.from, temp, info); err != nil {
		c.removePartial(ctx, temp)
		return false, err
	}
	// The replaced file goes to the trash first: it is restored if the rename fails.
	if there && c.in.Conflict == api.ConflictReplace {
		moved.Replaced, err = c.runTransfer(ctx, to.machine, api.TransferTrash, api.FileMove{Path: to.path})
	}
	if err == nil {
		err = c.renameTo(ctx, temp, to)
	}
	if err != nil {
		c.removePartial(ctx, temp)
		if moved.Replaced != "" {
			_, there := api.PathOf(moved.Replaced)
			_, _ = c.runTransfer(context.WithoutCancel(ctx), to.machine, api.TransferRestore, api.FileMove{Path: there, To: to.path})
		}
		return false, err
	}
	if c.in.Kind == api.TransferMove {
		return false, c.callOn(ctx, item.from, func(ctx context.Context, e panes.Engine) error { return e.DeleteFile(ctx, item.from.path) })
	}
	return false, nil
}

// runTransfer moves an item to or from a machine's trash, and returns its new path.
func (c *crossCopy) runTransfer(ctx context.Context, machine, kind string, item api.FileMove) (to string, err error) {
	err = c.callOn(ctx, endpoint{machine, item.Path}, func(ctx context.Context, e panes.Engine) error {
		out, err := e.Transfer(ctx, api.FilesTransferInput{Kind: kind, Items: []api.FileMove{item}})
		if err != nil {
			return err
		}
		for {
			switch job, err := e.TransferJob(ctx, out.Job, 1000); {
			case err != nil:
				return err
			case job.State == api.JobDone && len(job.Done) > 0:
				to = api.PathOn(machine, job.Done[0].To)
				return nil
			case job.State != api.JobRunning:
				return errors.New(cmp.Or(job.Error, kind+" "+item.Path+": "+job.State))
			}
		}
	})
	return to, err
}

// statFile stats a file; found is false if it does not exist.
func (c *crossCopy) statFile(ctx context.Context, p endpoint) (info api.FileInfo, found bool, err error) {
	err = c.callOn(ctx, p, func(ctx context.Context, e panes.Engine) (err error) {
		info, err = e.StatFile(ctx, p.path)
		return err
	})
	if errors.Is(err, api.CodeNotFound) {
		return info, false, nil
	}
	return info, err == nil, err
}

// freeName returns an unused name beside p.
func (c *crossCopy) freeName(ctx context.Context, p endpoint) (endpoint, error) {
	name := path.Base(p.path)
	ext := path.Ext(name)
	if ext == name {
		ext = ""
	}
	for n := 2; ; n++ {
		next := p.sibling(fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), n, ext))
		if _, taken, err := c.statFile(ctx, next); err != nil || !taken {
			return next, err
		}
	}
}

// tempName returns a temporary name for an incomplete copy of name.
func tempName(name string) string {
	short := strings.ToValidUTF8(name[:min(len(name), 100)], "")
	return fmt.Sprintf(".%s.%s.tmp", short, rand.Text()[:10])
}

// removePartial removes an incomplete copy. If its machine is offline, it does so once it
// is back.
func (c *crossCopy) removePartial(ctx context.Context, p endpoint) {
	remove := func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, cleanUpWait)
		defer cancel()
		return c.callOn(ctx, p, func(ctx context.Context, e panes.Engine) error { return e.DeleteFile(ctx, p.path) })
	}
	if !isLinkLost(remove(context.WithoutCancel(ctx))) {
		return
	}
	c.e.set.start(func() {
		ctx := c.e.set.ctx
		for ctx.Err() == nil && isLinkLost(remove(ctx)) {
			_ = sleep.For(ctx, listInterval)
		}
	})
}

func (c *crossCopy) renameTo(ctx context.Context, from, to endpoint) error {
	return c.callOn(ctx, to, func(ctx context.Context, e panes.Engine) error {
		return api.FilesMove.Run(ctx, e, api.FilesMoveInput{FileScope: userScope(), Path: api.EscapePath(from.path), To: api.EscapePath(to.path)})
	})
}

// copyMetadata gives a copy the permissions and time of its source. For a link, it creates
// the link.
func (c *crossCopy) copyMetadata(ctx context.Context, p endpoint, of api.FileInfo) error {
	in := api.FilesSetInput{FileScope: userScope(), Path: api.EscapePath(p.path), Mode: of.Mode, Modified: of.Modified}
	if of.Type == "link" {
		in = api.FilesSetInput{FileScope: userScope(), Path: in.Path, Target: api.EscapePath(of.Target)}
	}
	return c.callOn(ctx, p, func(ctx context.Context, e panes.Engine) error { return api.FilesSet.Run(ctx, e, in) })
}

// totalSize returns the number of bytes to copy.
func (c *crossCopy) totalSize(ctx context.Context, p endpoint) (n int64, err error) {
	info, _, err := c.statFile(ctx, p)
	if err != nil || info.Type != "dir" {
		return info.Size, err
	}
	return n, c.walkFolder(ctx, p, func(child api.FileInfo) error {
		below := child.Size
		if child.Type == "dir" {
			below, err = c.totalSize(ctx, p.child(child.Name))
		}
		n += below
		return err
	})
}

// walkFolder calls each with the entries of a folder.
func (c *crossCopy) walkFolder(ctx context.Context, p endpoint, each func(api.FileInfo) error) error {
	after := ""
	for {
		var out api.FilesListOutput
		err := c.callOn(ctx, p, func(ctx context.Context, e panes.Engine) (err error) {
			out, err = e.ListFiles(ctx, p.path, after, listPage)
			return err
		})
		if err != nil {
			return err
		}
		for _, info := range out.Entries {
			if err := each(info); err != nil {
				return err
			}
			after = info.Name
		}
		if len(out.Entries) < listPage {
			return nil
		}
	}
}

// copyAny copies a file, folder or link to a path that does not exist.
func (c *crossCopy) copyAny(ctx context.Context, from, to endpoint, info api.FileInfo) error {
	switch info.Type {
	case "file":
		if err := c.copyFile(ctx, from, to, info); err != nil {
			return err
		}
	case "dir":
		err := c.callOn(ctx, to, func(ctx context.Context, e panes.Engine) error { return e.MakeFolder(ctx, to.path) })
		if err != nil {
			return err
		}
		err = c.walkFolder(ctx, from, func(child api.FileInfo) error {
			return c.copyAny(ctx, from.child(child.Name), to.child(child.Name), child)
		})
		if err != nil {
			return err
		}
	case "link":
	default:
		return api.Errorf(api.CodeNotSupported, "%s %s: a %s cannot be copied to another machine", c.in.Kind, from, info.Type)
	}
	return c.copyMetadata(ctx, to, info)
}

// A piece is a part of a file, or an error.
type piece struct {
	data []byte
	err  error
}

// copyFile copies the content of a file, reading the next piece while one is written.
func (c *crossCopy) copyFile(ctx context.Context, from, to endpoint, info api.FileInfo) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pieces := make(chan piece)
	c.e.set.start(func() { c.sendPieces(ctx, from, pieces) })
	var written int64
	for first := true; ; first = false {
		var p piece
		select {
		case p = <-pieces:
		case <-ctx.Done():
			return ctx.Err()
		}
		if p.err != nil {
			return p.err
		}
		if len(p.data) == 0 && !first {
			break
		}
		if err := c.writePiece(ctx, to, written, p.data, first); err != nil {
			return err
		}
		written += int64(len(p.data))
		c.updateJob(func(j *api.FileJob) { j.Bytes += int64(len(p.data)) })
		if len(p.data) == 0 {
			break
		}
	}
	// The source may have changed while it was read, and pieces may have been lost.
	if now, _, err := c.statFile(ctx, from); err != nil || written != now.Size || !now.Modified.Equal(info.Modified) {
		return cmp.Or(err, error(api.Errorf(api.CodeConflict, "%s %s: it changed meanwhile", c.in.Kind, from)))
	}
	there, _, err := c.statFile(ctx, to)
	if err == nil && there.Size != written {
		err = api.Errorf(api.CodeInternal, "%s %s: %d bytes arrived of %d", c.in.Kind, from, there.Size, written)
	}
	return err
}

// writePiece writes a piece at offset written, and retries over a new link if one is lost.
// A conflict after a retry means that the first attempt succeeded.
func (c *crossCopy) writePiece(ctx context.Context, to endpoint, written int64, data []byte, first bool) error {
	in := api.FilesWriteInput{FileScope: userScope(), Path: api.EscapePath(to.path), Data: data, New: first, Append: !first}
	if !first {
		in.At = &written
	}
	sent := false
	return c.retryLost(ctx, to, func() error {
		err := c.callOn(ctx, to, func(ctx context.Context, e panes.Engine) error { return api.FilesWrite.Run(ctx, e, in) })
		if sent && errors.Is(err, api.CodeConflict) {
			if there, _, failed := c.statFile(ctx, to); failed != nil || there.Size == written+int64(len(data)) {
				return failed
			}
		}
		sent = true
		return err
	})
}

// readPiece reads a piece, retrying over a new link if the link is lost.
func (c *crossCopy) readPiece(ctx context.Context, from endpoint, off int64) (out api.FilesReadOutput, err error) {
	err = c.retryLost(ctx, from, func() error {
		return c.callOn(ctx, from, func(ctx context.Context, e panes.Engine) (err error) {
			out, err = e.ReadFile(ctx, from.path, off, pieceSize)
			return err
		})
	})
	return out, err
}

// isLinkLost reports whether a call failed because its machine was unreachable, before or
// after the request was sent.
func isLinkLost(err error) bool {
	return errors.Is(err, api.CodeUnavailable) || errors.Is(err, api.CodeUnsure)
}

// retryLost retries do while links are lost, unless the machine is offline.
func (c *crossCopy) retryLost(ctx context.Context, p endpoint, do func() error) (err error) {
	for wait := firstWait; wait <= maxWait; wait *= 2 {
		if err = do(); !isLinkLost(err) || !c.e.set.isReachable(p.machine) {
			return err
		}
		_ = sleep.For(ctx, wait)
	}
	return err
}

// sendPieces sends the pieces of a file, and an empty one at its end.
func (c *crossCopy) sendPieces(ctx context.Context, from endpoint, pieces chan<- piece) {
	for off := int64(0); ; {
		var p piece
		out, err := c.readPiece(ctx, from, off)
		if p.data, p.err = out.Data, err; len(out.Data) == 0 {
			p.data = []byte(out.Text)
		}
		select {
		case pieces <- p:
		case <-ctx.Done():
			return
		}
		if off += int64(len(p.data)); p.err != nil || len(p.data) == 0 {
			return
		}
	}
}

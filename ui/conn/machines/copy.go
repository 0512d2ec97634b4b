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
	copyStep    = 4 << 20 // bytes that are read, and written, at once
	copyPage    = 1000    // entries of a folder that are listed at once
	cleanUpWait = 10 * time.Second
	copyPrefix  = "machines-" // begins the ids of these transfers
)

// A copying is a transfer from one machine to another: read here, written there, by
// the dashboard, which holds a piece or two of a file at a time.
type copying struct {
	e     Engine
	in    api.FilesTransferInput
	items []copied
	stop  context.CancelFunc
	over  chan struct{}

	mu  sync.Mutex
	job api.FileJob
}

// copied is an item, with where it comes from and goes to.
type copied struct {
	api.FileMove
	from, to end
}

// An end is a path on a machine, "" for the own one.
type end struct{ machine, path string }

func (p end) in(name string) end { return end{p.machine, path.Join(p.path, name)} }
func (p end) beside(name string) end {
	return end{p.machine, path.Join(path.Dir(p.path), name)}
}
func (p end) String() string { return api.PathOn(p.machine, p.path) }

// person is the scope of a person's files: everything, names of any bytes.
func person() api.FileScope { return api.FileScope{Escaped: true} }

// on has something asked of the machine of an end.
func (c *copying) on(ctx context.Context, p end, ask func(context.Context, panes.Engine) error) error {
	if p.machine == "" {
		return ask(ctx, c.e.Engine)
	}
	err := c.e.set.on(ctx, p.machine, ask)
	if err == nil || ctx.Err() != nil || strings.HasPrefix(err.Error(), p.machine+":") {
		return err
	}
	named := *api.AsError(err)
	named.Message = p.machine + ": " + named.Message
	return &named
}

// copyAcross begins a transfer between machines, or says what is in its way.
func (e Engine) copyAcross(ctx context.Context, in api.FilesTransferInput) (out api.FilesTransferOutput, err error) {
	if in.Kind != api.TransferCopy && in.Kind != api.TransferMove {
		return out, api.Errorf(api.CodeNotSupported, "%s: from one machine to another", in.Kind)
	}
	c := &copying{e: e, in: in, over: make(chan struct{})}
	for _, item := range in.Items {
		one := copied{FileMove: item}
		one.from.machine, one.from.path = e.place(item.Path)
		one.to.machine, one.to.path = e.place(item.To)
		c.items = append(c.items, one)
		switch _, there, err := c.stat(ctx, one.to); {
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
	s.copying[c.job.ID] = c
	s.mu.Unlock()
	s.start(func() { c.run(ctx) })
	return api.FilesTransferOutput{Job: c.job.ID}, nil
}

// copyOf is a transfer between machines; nil if id is none.
func (s *Set) copyOf(id string) *copying {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.copying[id]
}

// wait waits until the transfer is over, at most so long, and tells of it. Who has
// been told of its end asks no more.
func (c *copying) wait(ctx context.Context, waitMS int) (api.FileJob, error) {
	timer := time.NewTimer(time.Duration(waitMS) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-c.over:
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
		delete(c.e.set.copying, job.ID)
		c.e.set.mu.Unlock()
	}
	return job, nil
}

func (c *copying) tell(change func(*api.FileJob)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.job)
}

// run does the items one after the other, up to the first that fails.
func (c *copying) run(ctx context.Context) {
	defer c.stop()
	err := c.all(ctx)
	c.tell(func(j *api.FileJob) {
		switch j.State = api.JobDone; {
		case err != nil && ctx.Err() != nil:
			j.State = api.JobCancelled
		case err != nil:
			j.State, j.Error = api.JobFailed, api.AsError(err).Message
		}
	})
	close(c.over)
}

func (c *copying) all(ctx context.Context) error {
	var total int64
	for _, item := range c.items {
		n, err := c.size(ctx, item.from)
		if err != nil {
			return err
		}
		total += n
	}
	c.tell(func(j *api.FileJob) { j.Total = total })
	for _, item := range c.items {
		c.tell(func(j *api.FileJob) { j.Current = item.Path })
		moved := api.FileMoved{Path: item.Path, To: item.To}
		skipped, err := c.one(ctx, item, &moved)
		if err != nil {
			return err
		}
		c.tell(func(j *api.FileJob) {
			if skipped {
				j.Skipped++
				return
			}
			j.Done = append(j.Done, moved)
		})
	}
	return nil
}

// one does one item: all of it under another name, which then becomes that which it
// is to have.
func (c *copying) one(ctx context.Context, item copied, moved *api.FileMoved) (skipped bool, err error) {
	to := item.to
	info, found, err := c.stat(ctx, item.from)
	if err == nil && !found {
		err = api.Errorf(api.CodeNotFound, "%s %s: no such file", c.in.Kind, item.from)
	}
	if err != nil {
		return false, err
	}
	_, there, err := c.stat(ctx, to)
	switch {
	case err != nil:
		return false, err
	case there && c.in.Conflict == api.ConflictSkip:
		return true, nil
	case there && c.in.Conflict == api.ConflictKeep:
		if to, err = c.free(ctx, to); err != nil {
			return false, err
		}
		moved.To = to.String()
	}
	temp := to.beside(temporary(path.Base(to.path)))
	if err := c.copyAny(ctx, item.from, temp, info); err != nil {
		c.drop(ctx, temp)
		return false, err
	}
	if there && c.in.Conflict == api.ConflictReplace {
		moved.Replaced, err = c.transfer(ctx, to.machine, api.TransferTrash, api.FileMove{Path: to.path})
	}
	if err == nil {
		err = c.rename(ctx, temp, to)
	}
	if err != nil {
		c.drop(ctx, temp)
		if moved.Replaced != "" {
			_, there := api.PathOf(moved.Replaced)
			_, _ = c.transfer(context.WithoutCancel(ctx), to.machine, api.TransferRestore, api.FileMove{Path: there, To: to.path})
		}
		return false, err
	}
	if c.in.Kind == api.TransferMove {
		return false, c.on(ctx, item.from, func(ctx context.Context, e panes.Engine) error { return e.DeleteFile(ctx, item.from.path) })
	}
	return false, nil
}

// transfer has a machine do something with its trash, and gives where it is now.
func (c *copying) transfer(ctx context.Context, machine, kind string, item api.FileMove) (to string, err error) {
	err = c.on(ctx, end{machine, item.Path}, func(ctx context.Context, e panes.Engine) error {
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

// stat looks at a file; found is false if there is none.
func (c *copying) stat(ctx context.Context, p end) (info api.FileInfo, found bool, err error) {
	err = c.on(ctx, p, func(ctx context.Context, e panes.Engine) (err error) {
		info, err = e.StatFile(ctx, p.path)
		return err
	})
	if errors.Is(err, api.CodeNotFound) {
		return info, false, nil
	}
	return info, err == nil, err
}

// free is a name beside one that is taken.
func (c *copying) free(ctx context.Context, p end) (end, error) {
	name := path.Base(p.path)
	ext := path.Ext(name)
	if ext == name {
		ext = ""
	}
	for n := 2; ; n++ {
		next := p.beside(fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), n, ext))
		if _, taken, err := c.stat(ctx, next); err != nil || !taken {
			return next, err
		}
	}
}

// temporary is what is called name while it is not whole.
func temporary(name string) string {
	short := strings.ToValidUTF8(name[:min(len(name), 100)], "")
	return fmt.Sprintf(".%s.%s.tmp", short, rand.Text()[:10])
}

// drop removes what is not whole: when its machine is back, if that is away.
func (c *copying) drop(ctx context.Context, p end) {
	remove := func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, cleanUpWait)
		defer cancel()
		return c.on(ctx, p, func(ctx context.Context, e panes.Engine) error { return e.DeleteFile(ctx, p.path) })
	}
	if !isLinkLost(remove(context.WithoutCancel(ctx))) {
		return
	}
	c.e.set.start(func() {
		ctx := c.e.set.ctx
		for ctx.Err() == nil && isLinkLost(remove(ctx)) {
			_ = sleep.For(ctx, listEvery)
		}
	})
}

func (c *copying) rename(ctx context.Context, from, to end) error {
	return c.on(ctx, to, func(ctx context.Context, e panes.Engine) error {
		return api.FilesMove.Run(ctx, e, api.FilesMoveInput{FileScope: person(), Path: api.EscapePath(from.path), To: api.EscapePath(to.path)})
	})
}

// keep gives a copy the permissions and the time of what it is made of, or makes it
// a link as that is.
func (c *copying) keep(ctx context.Context, p end, of api.FileInfo) error {
	in := api.FilesSetInput{FileScope: person(), Path: api.EscapePath(p.path), Mode: of.Mode, Modified: of.Modified}
	if of.Type == "link" {
		in = api.FilesSetInput{FileScope: person(), Path: in.Path, Target: api.EscapePath(of.Target)}
	}
	return c.on(ctx, p, func(ctx context.Context, e panes.Engine) error { return api.FilesSet.Run(ctx, e, in) })
}

// size is how many bytes there are to copy.
func (c *copying) size(ctx context.Context, p end) (n int64, err error) {
	info, _, err := c.stat(ctx, p)
	if err != nil || info.Type != "dir" {
		return info.Size, err
	}
	return n, c.walk(ctx, p, func(child api.FileInfo) error {
		below := child.Size
		if child.Type == "dir" {
			below, err = c.size(ctx, p.in(child.Name))
		}
		n += below
		return err
	})
}

// walk calls each with the entries of a folder.
func (c *copying) walk(ctx context.Context, p end, each func(api.FileInfo) error) error {
	after := ""
	for {
		var out api.FilesListOutput
		err := c.on(ctx, p, func(ctx context.Context, e panes.Engine) (err error) {
			out, err = e.ListFiles(ctx, p.path, after, copyPage)
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
		if len(out.Entries) < copyPage {
			return nil
		}
	}
}

// copyAny copies something to where nothing is, a link as a link.
func (c *copying) copyAny(ctx context.Context, from, to end, info api.FileInfo) error {
	switch info.Type {
	case "file":
		if err := c.copyFile(ctx, from, to, info); err != nil {
			return err
		}
	case "dir":
		err := c.on(ctx, to, func(ctx context.Context, e panes.Engine) error { return e.MakeFolder(ctx, to.path) })
		if err != nil {
			return err
		}
		err = c.walk(ctx, from, func(child api.FileInfo) error {
			return c.copyAny(ctx, from.in(child.Name), to.in(child.Name), child)
		})
		if err != nil {
			return err
		}
	case "link":
	default:
		return api.Errorf(api.CodeNotSupported, "%s %s: a %s cannot be copied to another machine", c.in.Kind, from, info.Type)
	}
	return c.keep(ctx, to, info)
}

// A piece is a part of a file.
type piece struct {
	data []byte
	err  error
}

// copyFile copies the content of a file. While one piece is written the next is read.
func (c *copying) copyFile(ctx context.Context, from, to end, info api.FileInfo) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pieces := make(chan piece)
	c.e.set.start(func() { c.read(ctx, from, pieces) })
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
		if err := c.write(ctx, to, written, p.data, first); err != nil {
			return err
		}
		written += int64(len(p.data))
		c.tell(func(j *api.FileJob) { j.Bytes += int64(len(p.data)) })
		if len(p.data) == 0 {
			break
		}
	}
	if now, _, err := c.stat(ctx, from); err != nil || written != now.Size || !now.Modified.Equal(info.Modified) {
		return cmp.Or(err, error(api.Errorf(api.CodeConflict, "%s %s: it changed meanwhile", c.in.Kind, from)))
	}
	there, _, err := c.stat(ctx, to)
	if err == nil && there.Size != written {
		err = api.Errorf(api.CodeInternal, "%s %s: %d bytes arrived of %d", c.in.Kind, from, there.Size, written)
	}
	return err
}

// write writes a piece behind what is written. When the link to the machine is lost meanwhile
// and made again, it is tried again: the piece is taken once at most.
func (c *copying) write(ctx context.Context, to end, written int64, data []byte, first bool) error {
	in := api.FilesWriteInput{FileScope: person(), Path: api.EscapePath(to.path), Data: data, New: first, Append: !first}
	if !first {
		in.At = &written
	}
	sent := false
	return c.overLinks(ctx, to, func() error {
		err := c.on(ctx, to, func(ctx context.Context, e panes.Engine) error { return api.FilesWrite.Run(ctx, e, in) })
		if sent && errors.Is(err, api.CodeConflict) {
			if there, _, failed := c.stat(ctx, to); failed != nil || there.Size == written+int64(len(data)) {
				return failed
			}
		}
		sent = true
		return err
	})
}

// readPiece is ReadFile, over the next link when one is lost.
func (c *copying) readPiece(ctx context.Context, from end, off int64) (out api.FilesReadOutput, err error) {
	err = c.overLinks(ctx, from, func() error {
		return c.on(ctx, from, func(ctx context.Context, e panes.Engine) (err error) {
			out, err = e.ReadFile(ctx, from.path, off, copyStep)
			return err
		})
	})
	return out, err
}

// isLinkLost reports whether a call failed because its machine was unreachable, before or after
// the request was sent.
func isLinkLost(err error) bool {
	return errors.Is(err, api.CodeUnavailable) || errors.Is(err, api.CodeUnsure)
}

// overLinks does something again that failed as a link was lost, unless its machine is away.
func (c *copying) overLinks(ctx context.Context, p end, do func() error) (err error) {
	for wait := firstWait; wait <= longWait; wait *= 2 {
		if err = do(); !isLinkLost(err) || !c.e.set.returns(p.machine) {
			return err
		}
		_ = sleep.For(ctx, wait)
	}
	return err
}

// read sends the pieces of a file, and an empty one at its end.
func (c *copying) read(ctx context.Context, from end, pieces chan<- piece) {
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

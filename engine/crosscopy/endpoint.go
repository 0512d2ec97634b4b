package crosscopy

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path"
	"strings"

	"tandem/engine/api"
	"tandem/engine/api/userfiles"
	"tandem/engine/files"
)

// listPage is the number of entries listed at a time.
const listPage = 1000

// An endpoint is a path on a machine.
type endpoint struct {
	userfiles.Files        // of the machine
	name            string // of the machine, "" for this one
	path            string
}

func (p endpoint) child(name string) endpoint {
	p.path = path.Join(p.path, name)
	return p
}

func (p endpoint) sibling(name string) endpoint {
	p.path = path.Join(path.Dir(p.path), name)
	return p
}

func (p endpoint) String() string { return api.PathOn(p.name, p.path) }

// tempName returns a temporary name for an incomplete copy of p.
func (p endpoint) tempName() endpoint {
	name := path.Base(p.path)
	short := strings.ToValidUTF8(name[:min(len(name), 100)], "")
	return p.sibling(fmt.Sprintf(".%s.%s.tmp", short, rand.Text()[:10]))
}

// freeName returns an unused name beside p.
func (p endpoint) freeName(ctx context.Context) (endpoint, error) {
	for n := 2; ; n++ {
		next := p.sibling(files.Numbered(path.Base(p.path), n))
		if _, taken, err := next.stat(ctx); err != nil || !taken {
			return next, err
		}
	}
}

// stat describes a file; found is false if it does not exist.
func (p endpoint) stat(ctx context.Context) (info api.FileInfo, found bool, err error) {
	info, err = p.StatFile(ctx, p.path)
	if errors.Is(err, api.CodeNotFound) {
		return info, false, nil
	}
	return info, err == nil, err
}

// walk calls each with the entries of a folder.
func (p endpoint) walk(ctx context.Context, each func(api.FileInfo) error) error {
	after := ""
	for {
		out, err := p.ListFiles(ctx, p.path, after, listPage)
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

// totalSize returns the number of bytes to copy of p, described by info.
func (p endpoint) totalSize(ctx context.Context, info api.FileInfo) (n int64, err error) {
	switch info.Type {
	case "file":
		n = info.Size
	case "dir":
		err = p.walk(ctx, func(child api.FileInfo) error {
			below, err := p.child(child.Name).totalSize(ctx, child)
			n += below
			return err
		})
	}
	return n, err
}

func (p endpoint) remove(ctx context.Context) error { return p.DeleteFile(ctx, p.path) }

func (p endpoint) rename(ctx context.Context, to endpoint) error {
	return api.FilesMove.Run(ctx, p, api.FilesMoveInput{FileScope: userfiles.Scope(), Path: api.EscapePath(p.path), To: api.EscapePath(to.path)})
}

// setMetadata gives a copy the permissions and time of its source. For a link, it creates
// the link.
func (p endpoint) setMetadata(ctx context.Context, of api.FileInfo) error {
	in := api.FilesSetInput{FileScope: userfiles.Scope(), Path: api.EscapePath(p.path), Mode: of.Mode, Modified: of.Modified}
	if of.Type == "link" {
		in = api.FilesSetInput{FileScope: userfiles.Scope(), Path: in.Path, Target: api.EscapePath(of.Target)}
	}
	return api.FilesSet.Run(ctx, p, in)
}

// trash moves p to the trash of its machine, and returns its path there, with the machine.
func (p endpoint) trash(ctx context.Context) (trashed string, err error) {
	out, err := p.Transfer(ctx, api.FilesTransferInput{Kind: api.TransferTrash, Items: []api.FileMove{{Path: p.path}}})
	if err != nil {
		return "", err
	}
	for {
		switch job, err := p.TransferJob(ctx, out.Job, 1000); {
		case err != nil:
			return "", err
		case job.State == api.JobDone && len(job.Done) > 0:
			return api.PathOn(p.name, job.Done[0].To), nil
		case job.State != api.JobRunning:
			return "", errors.New(cmp.Or(job.Error, "trash "+p.String()+": "+job.State))
		}
	}
}

// restore moves a file back to p from where trash put it.
func (p endpoint) restore(ctx context.Context, trashed string) error {
	_, from := api.PathOf(trashed)
	return api.FilesRestore.Run(ctx, p, api.FilesRestoreInput{FileScope: userfiles.Scope(), Items: []api.FileMove{{Path: api.EscapePath(from), To: api.EscapePath(p.path)}}})
}

// writePiece writes a piece at offset written, and repeats the write if the link is lost. A
// conflict after a retry means that the first attempt succeeded.
func (p endpoint) writePiece(ctx context.Context, written int64, data []byte) error {
	in := api.FilesWriteInput{FileScope: userfiles.Scope(), Path: api.EscapePath(p.path), Data: data, New: written == 0, Append: written > 0}
	if in.Append {
		in.At = &written
	}
	sent := false
	return retryLost(ctx, func() error {
		err := api.FilesWrite.Run(ctx, p, in)
		if sent && errors.Is(err, api.CodeConflict) {
			if there, _, failed := p.stat(ctx); failed != nil || there.Size == written+int64(len(data)) {
				return failed
			}
		}
		sent = true
		return err
	})
}

// sendPieces sends a file in pieces, and then closes the channel. An empty file is one empty piece.
func (p endpoint) sendPieces(ctx context.Context, pieces chan<- piece) {
	defer close(pieces)
	for off := int64(0); ; {
		out, err := p.ReadFile(ctx, p.path, off, pieceSize)
		next := piece{out.Data, err}
		if len(out.Data) == 0 {
			next.data = []byte(out.Text)
		}
		if err == nil && len(next.data) == 0 && off > 0 {
			return
		}
		select {
		case pieces <- next:
		case <-ctx.Done():
			return
		}
		if err != nil || len(next.data) == 0 {
			return
		}
		off += int64(len(next.data))
	}
}

package copy

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
	"tandem/engine/workspace/files"
)

// listPage is the number of entries listed at a time.
const listPage = 250

// An endpoint is a path on a machine. Its calls are confined to the folder that it was found in, or
// to a copied folder, because a program may swap folders and links on the way to it meanwhile.
type endpoint struct {
	userfiles.Files        // of the machine
	name            string // of the machine, "" for this one
	path            string
}

// within confines calls to a folder, either p itself or one above p. info describes the folder.
func (p endpoint) within(folder string, info api.FileInfo) (endpoint, error) {
	if info.ID == "" {
		return p, api.Errorf(api.CodeUnavailable, "open %s: it is not a folder, cannot be opened, or its machine runs an earlier release of Tandem", api.PathOn(p.name, folder))
	}
	p.Root, p.RootID = folder, info.ID
	return p, nil
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

// temp returns a new name beside p, for an incomplete copy of p.
func (p endpoint) temp() endpoint {
	name := path.Base(p.path)
	short := strings.ToValidUTF8(name[:min(len(name), 100)], "")
	return p.sibling(fmt.Sprintf(".%s.%s.tmp", short, rand.Text()[:10]))
}

// makeTemp makes the folder temp, with access for this user only. inside is the path in that folder
// with the name of p. Calls for inside are confined to the folder.
func (p endpoint) makeTemp(ctx context.Context, temp endpoint) (inside endpoint, err error) {
	info, err := api.FilesMkdir.Call(ctx, temp, api.FilesMkdirInput{FileScope: temp.Scope(), Path: api.EscapePath(temp.path)})
	if err != nil {
		return inside, err
	}
	if inside, err = temp.within(temp.path, info); err == nil {
		err = inside.setMetadata(ctx, api.FileInfo{Type: "dir", Mode: "0700"})
	}
	return inside.child(path.Base(p.path)), err
}

// freeName returns an unused name beside p.
func (p endpoint) freeName(ctx context.Context) (endpoint, error) {
	for n := 2; ; n++ {
		next := p.sibling(files.Numbered(path.Base(p.path), n))
		if _, taken, err := next.stat(ctx, next.path); err != nil || !taken {
			return next, err
		}
	}
}

// stat describes a file of p's machine; found is false if it does not exist.
func (p endpoint) stat(ctx context.Context, path string) (info api.FileInfo, found bool, err error) {
	info, err = p.StatFile(ctx, path)
	if errors.Is(err, api.CodeNotFound) {
		return info, false, nil
	}
	return info, err == nil, err
}

// walk calls visit with every entry of a folder. Folders come last on each page, so that little is
// kept in memory while visit walks through one of them.
func (p endpoint) walk(ctx context.Context, visit func(api.FileInfo) error) error {
	after := ""
	for {
		out, err := p.ListFiles(ctx, p.path, after, listPage)
		if err != nil {
			return err
		}
		var folders []api.FileInfo
		for _, info := range out.Entries {
			if after = info.Name; info.Type == "dir" {
				folders = append(folders, api.FileInfo{Name: info.Name, Type: info.Type, Mode: info.Mode, Modified: info.Modified})
			} else if err := visit(info); err != nil {
				return err
			}
		}
		n := len(out.Entries)
		out.Entries = nil
		for _, info := range folders {
			if err := visit(info); err != nil {
				return err
			}
		}
		if n < listPage {
			return nil
		}
	}
}

// enter calls visit for an entry of a copied folder, unless the walk exceeds its bounds.
func (p endpoint) enter(walk *files.Descent, visit func() error) error {
	var err error
	if bound := walk.Enter(func() error { err = visit(); return nil }); bound != nil {
		return api.Errorf(api.CodeInvalid, "copy %s: %v", api.PathOn(p.name, p.Root), bound)
	}
	return err
}

// totalSize returns how many bytes a copy of p transfers. info describes p.
func (p endpoint) totalSize(ctx context.Context, walk *files.Descent, info api.FileInfo) (n int64, err error) {
	switch info.Type {
	case "file":
		n = info.Size
	case "dir":
		err = p.walk(ctx, func(child api.FileInfo) error {
			return p.enter(walk, func() error {
				below, err := p.child(child.Name).totalSize(ctx, walk, child)
				n += below
				return err
			})
		})
	}
	return n, err
}

// discard removes p. If nothing is at p afterwards, it calls the function gone.
func (p endpoint) discard(ctx context.Context, gone func()) error {
	err := p.remove(ctx)
	if err == nil || errors.Is(err, api.CodeNotFound) {
		gone()
		return nil
	}
	return err
}

func (p endpoint) remove(ctx context.Context) error { return p.DeleteFile(ctx, p.path) }

// removeCopied removes p, which was copied to another machine, with everything in it. An entry that
// differs from its copy is kept. Calls for the entries of a folder go through inside, confined
// to that folder.
func (p endpoint) removeCopied(ctx context.Context, walk *files.Descent, inside, to endpoint) (kept bool, err error) {
	info, found, err := p.stat(ctx, p.path)
	if err != nil || !found {
		return false, err
	}
	there, found, err := to.stat(ctx, to.path)
	switch {
	case err != nil:
		return false, err
	case !found, there.Type != info.Type, there.Target != info.Target:
		return true, nil
	case info.Type == "file" && (there.Size != info.Size || !files.IsTimeOfCopy(info.Modified, there.Modified)):
		return true, nil
	case info.Type == "dir":
		err = inside.walk(ctx, func(child api.FileInfo) error {
			return inside.enter(walk, func() error {
				entry := inside.child(child.Name)
				below, err := entry.removeCopied(ctx, walk, entry, to.child(child.Name))
				kept = kept || below
				return err
			})
		})
		if err != nil || kept {
			return kept, err
		}
	}
	err = api.FilesDelete.Run(ctx, p, api.FilesDeleteInput{FileScope: p.Scope(), Path: api.EscapePath(p.path)})
	if errors.Is(err, api.ReasonNotEmpty) {
		return true, nil
	}
	return false, err
}

// rename moves p to the path of target, beside p's folder.
func (p endpoint) rename(ctx context.Context, target endpoint) error {
	return api.FilesMove.Run(ctx, target, api.FilesMoveInput{FileScope: target.Scope(), Path: api.EscapePath(p.path), To: api.EscapePath(target.path)})
}

// setMetadata gives a copy the permissions and time of its source. For a link, it creates
// the link.
func (p endpoint) setMetadata(ctx context.Context, source api.FileInfo) error {
	in := api.FilesSetInput{FileScope: p.Scope(), Path: api.EscapePath(p.path), Mode: source.Mode, Modified: source.Modified}
	if source.Type == "link" {
		in = api.FilesSetInput{FileScope: p.Scope(), Path: in.Path, Target: api.EscapePath(source.Target)}
	}
	return api.FilesSet.Run(ctx, p, in)
}

// trash moves p to the trash of its machine, and returns its path there, with the machine.
func (p endpoint) trash(ctx context.Context) (trashed string, err error) {
	p.Root, p.RootID = "", "" // the trash is elsewhere
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

// restore moves a file from the trash back to p. trashed is the path that trash returned.
func (p endpoint) restore(ctx context.Context, trashed string) error {
	_, from := api.PathOf(trashed)
	p.Root, p.RootID = "", ""
	return api.FilesRestore.Run(ctx, p, api.FilesRestoreInput{FileScope: p.Scope(), Items: []api.FileMove{{Path: api.EscapePath(from), To: api.EscapePath(p.path)}}})
}

// writePiece writes a piece at the offset written, and repeats the write if the link is lost. A
// conflict after a retry means that the first attempt succeeded.
func (p endpoint) writePiece(ctx context.Context, written int64, data []byte) error {
	in := api.FilesWriteInput{FileScope: p.Scope(), Path: api.EscapePath(p.path), Data: data, New: written == 0, Append: written > 0}
	if in.Append {
		in.At = &written
	}
	sent := false
	return retryLost(ctx, func() error {
		err := api.FilesWrite.Run(ctx, p, in)
		if sent && errors.Is(err, api.CodeConflict) {
			if there, _, failed := p.stat(ctx, p.path); failed != nil || there.Size == written+int64(len(data)) {
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

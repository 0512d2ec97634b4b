package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// An Info tells about one file.
type Info struct {
	Name     string
	Path     string // absolute; not in listings
	Type     string // file, dir, link, fifo, socket or device
	Target   string // of a link
	ToDir    bool   // a link to a folder inside the roots
	ToFile   bool   // a link to a file inside the roots
	Broken   bool   // a link to nothing
	Size     int64
	Mode     string // permission bits in octal: 0644
	Modified time.Time
	Accessed time.Time
	Owner    string // not in listings
	Group    string // not in listings
}

// Stat tells about a file; of a link, the link itself.
func (t *Tree) Stat(path string) (info Info, err error) {
	err = t.confined(func() (err error) {
		info, err = t.lookAt(path)
		return err
	})
	return info, err
}

func (t *Tree) lookAt(path string) (Info, error) {
	p, err := t.locate(path, way{verb: "look at", link: true})
	if err != nil {
		return Info{}, err
	}
	defer p.close()
	return t.stat(p, "look at")
}

func (t *Tree) stat(p place, verb string) (Info, error) {
	stat, err := p.root.Lstat(p.rel)
	if err != nil {
		return Info{}, failure(verb, p.path, err)
	}
	info := infoOf(stat)
	info.Name, info.Path = filepath.Base(p.path), p.path
	info.Owner, info.Group = owners(stat)
	if info.Type == "link" {
		info.Target, _ = p.root.Readlink(p.rel) // it has none if it has just gone
		t.leads(&info, p.path)
	}
	return info, nil
}

func infoOf(stat fs.FileInfo) Info {
	return Info{
		Name:     stat.Name(),
		Type:     typeOf(stat.Mode()),
		Size:     stat.Size(),
		Mode:     fmt.Sprintf("%04o", permissions(stat.Mode())),
		Modified: stat.ModTime(),
		Accessed: accessed(stat),
	}
}

// permissions are the bits that chmod(1) takes.
func permissions(mode fs.FileMode) uint32 {
	bits := uint32(mode.Perm())
	for i, special := range []fs.FileMode{fs.ModeSticky, fs.ModeSetgid, fs.ModeSetuid} {
		if mode&special != 0 {
			bits |= 0o1000 << i
		}
	}
	return bits
}

func typeOf(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "file"
	case fs.ModeDir:
		return "dir"
	case fs.ModeSymlink:
		return "link"
	case fs.ModeNamedPipe:
		return "fifo"
	case fs.ModeSocket:
		return "socket"
	}
	return "device"
}

// leads finds out what a link leads to, as far as that is inside.
func (t *Tree) leads(info *Info, path string) {
	p, err := t.locate(path, way{verb: "follow"})
	if err != nil {
		info.Broken = errors.Is(err, NotFound) || errors.Is(err, NotDir) || errors.Is(err, Invalid)
		return
	}
	defer p.close()
	stat, err := p.root.Stat(p.rel)
	info.Broken = err != nil
	info.ToDir = err == nil && stat.IsDir()
	info.ToFile = err == nil && stat.Mode().IsRegular()
}

// A ListRequest says what is wanted of a folder.
type ListRequest struct {
	Path   string
	Hidden bool   // names that begin with a dot too
	Match  string // only names that hold these words, in either case; !word: that do not
	After  string // only names behind this one
	Limit  int    // entries at most; 0 is all
}

// A ListResult is what a folder holds, sorted by name.
type ListResult struct {
	Path    string
	Entries []Info
	Omitted int // entries beyond the limit; those that do not match do not count
}

// List lists a folder, or a part of it.
func (t *Tree) List(ctx context.Context, r ListRequest) (out ListResult, err error) {
	err = t.confined(func() (err error) {
		out, err = t.listFolder(ctx, r)
		return err
	})
	return out, err
}

func (t *Tree) listFolder(ctx context.Context, r ListRequest) (ListResult, error) {
	if r.Limit < 0 {
		return ListResult{}, errorf(Invalid, "list %s: limit cannot be negative", r.Path)
	}
	p, err := t.locate(r.Path, way{verb: "list"})
	if err != nil {
		return ListResult{}, err
	}
	defer p.close()
	out, err := t.list(ctx, p, r)
	return out, failure("list", p.path, err)
}

func (t *Tree) list(ctx context.Context, p place, r ListRequest) (ListResult, error) {
	dir, err := p.folder()
	if err != nil {
		return ListResult{}, err
	}
	defer dir.Close()
	names, omitted, err := t.Names.page(dir, r)
	if err != nil {
		return ListResult{}, err
	}
	out := ListResult{Path: p.path, Entries: make([]Info, 0, len(names)), Omitted: omitted}
	for _, name := range names {
		if ctx.Err() != nil {
			return ListResult{}, ctx.Err()
		}
		stat, err := dir.Lstat(name)
		if err != nil {
			continue // it has just gone
		}
		info := infoOf(stat)
		if info.Type == "link" {
			info.Target, _ = dir.Readlink(name)
			t.leads(&info, filepath.Join(p.path, name))
		}
		out.Entries = append(out.Entries, info)
	}
	return out, nil
}

// folder opens the place as a folder.
func (p place) folder() (*opened, error) {
	stat, err := p.root.Stat(p.rel)
	if err != nil {
		return nil, err
	}
	if !stat.IsDir() {
		return nil, errorf(NotDir, "list %s: it is not a folder", p.path)
	}
	return p.root.OpenRoot(asFolder(p.rel))
}

// entriesOf reads what is in a folder, sorted by name, byte by byte.
func entriesOf(dir *opened) ([]fs.DirEntry, error) {
	entries, err := dir.entries()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

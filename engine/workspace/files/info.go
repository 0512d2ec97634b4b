package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// An Info describes a file.
type Info struct {
	Name     string
	Path     string // absolute; empty in listings
	Type     string // file, dir, link, fifo, socket or device
	Target   string // of a link
	ToDir    bool   // a link to a folder inside the roots
	ToFile   bool   // a link to a file inside the roots
	Broken   bool   // a link without a target
	Size     int64
	Mode     string // permission bits in octal: 0644
	Modified time.Time
	Accessed time.Time
	ID       string // of the folder, or of the one that a link leads to; empty in listings
	Owner    string // empty in listings
	Group    string // empty in listings
}

// Stat describes a file, or a link itself.
func (t *Tree) Stat(path string) (info Info, err error) {
	err = t.runConfined(func() (err error) {
		info, err = t.statPath(path)
		return err
	})
	return info, err
}

func (t *Tree) statPath(path string) (Info, error) {
	p, err := t.locate(path, lookup{verb: "look at", noFollow: true})
	if err != nil {
		return Info{}, err
	}
	defer p.close()
	return t.describe(p, "look at")
}

func (t *Tree) describe(p location, verb string) (Info, error) {
	stat, err := p.root.Lstat(p.rel)
	if err != nil {
		return Info{}, fileError(verb, p.path, err)
	}
	info := infoOf(stat)
	info.Name, info.Path = filepath.Base(p.path), p.path
	info.Owner, info.Group = ownerNames(stat)
	switch info.Type {
	case "link":
		info.Target, _ = p.root.Readlink(p.rel) // empty if the link has just been removed
		t.resolveLink(&info, p.path, true)
	case "dir":
		info.ID = p.folderID(stat)
	}
	return info, nil
}

func infoOf(stat fs.FileInfo) Info {
	return Info{
		Name:     stat.Name(),
		Type:     typeOf(stat.Mode()),
		Size:     stat.Size(),
		Mode:     fmt.Sprintf("%04o", permissionBits(stat.Mode())),
		Modified: stat.ModTime(),
		Accessed: accessTime(stat),
	}
}

// permissionBits returns the bits as chmod(1) accepts them.
func permissionBits(mode fs.FileMode) uint32 {
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

// folderID returns the ID of the folder described by stat; "" if it cannot be opened or was replaced
// meanwhile.
func (p location) folderID(stat fs.FileInfo) string {
	dir, err := p.root.OpenRoot(asFolder(p.rel))
	if err != nil {
		return ""
	}
	defer dir.Close()
	if opened, err := dir.Stat("."); err != nil || !os.SameFile(stat, opened) {
		return ""
	}
	return identify(dir.Root)
}

// resolveLink sets ToDir, ToFile and Broken for the link at path. If id is set, it also sets the ID
// of the folder that the link leads to. They stay unset if the target is outside.
func (t *Tree) resolveLink(info *Info, path string, id bool) {
	p, err := t.locate(path, lookup{verb: "follow"})
	if err != nil {
		info.Broken = errors.Is(err, NotFound) || errors.Is(err, PathNotDir) || errors.Is(err, Invalid)
		return
	}
	defer p.close()
	stat, err := p.root.Stat(p.rel)
	info.Broken = err != nil
	info.ToDir = err == nil && stat.IsDir()
	info.ToFile = err == nil && stat.Mode().IsRegular()
	if info.ToDir && id {
		info.ID = p.folderID(stat)
	}
}

// A ListRequest selects entries of a folder.
type ListRequest struct {
	Path   string
	Hidden bool   // include names with a leading dot
	Match  string // only names with all these words, ignoring case; !word excludes
	After  string // only names after this one
	Limit  int    // maximum number of entries; 0 is no limit
}

// A ListResult is the listing of a folder, sorted by name.
type ListResult struct {
	Path    string
	Entries []Info
	Omitted int // matching entries beyond the limit
}

// List lists a folder or a part of it.
func (t *Tree) List(ctx context.Context, r ListRequest) (out ListResult, err error) {
	err = t.runConfined(func() (err error) {
		out, err = t.listFolder(ctx, r)
		return err
	})
	return out, err
}

func (t *Tree) listFolder(ctx context.Context, r ListRequest) (ListResult, error) {
	if r.Limit < 0 {
		return ListResult{}, errorf(Invalid, "list %s: limit cannot be negative", r.Path)
	}
	p, err := t.locate(r.Path, lookup{verb: "list"})
	if err != nil {
		return ListResult{}, err
	}
	defer p.close()
	out, err := t.listEntries(ctx, p, r)
	return out, fileError("list", p.path, err)
}

func (t *Tree) listEntries(ctx context.Context, p location, r ListRequest) (ListResult, error) {
	dir, err := p.openAsDir()
	if err != nil {
		return ListResult{}, err
	}
	defer dir.Close()
	names, omitted, err := t.Names.listPage(dir, r)
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
			continue // just removed
		}
		info := infoOf(stat)
		if info.Type == "link" {
			info.Target, _ = dir.Readlink(name)
			t.resolveLink(&info, filepath.Join(p.path, name), false)
		}
		out.Entries = append(out.Entries, info)
	}
	return out, nil
}

// openAsDir opens the location as a directory.
func (p location) openAsDir() (*openDir, error) {
	stat, err := p.root.Stat(p.rel)
	if err != nil {
		return nil, err
	}
	if !stat.IsDir() {
		return nil, errorf(NotDir, "list %s: it is not a folder", p.path)
	}
	return p.root.OpenRoot(asFolder(p.rel))
}

// sortEntries returns the visible entries of a folder, sorted bytewise by name.
func sortEntries(dir *openDir) ([]fs.DirEntry, error) {
	entries, err := dir.readEntries()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, nil
}

package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// A Relation is how the two ends of a copy or move lie to each other.
type Relation int

// The relations.
const (
	Apart  Relation = iota
	Same            // both are one file, by whatever names
	Inside          // where it is to go lies in what goes
	Holds           // what is there is a folder that what goes lies in
)

// Relate tells how the ends of a copy or move lie to each other: by what is
// there, and not by the paths alone, which links and mounts can lead anywhere.
// Links at the ends are meant themselves.
func (t *Tree) Relate(from, to string) (relation Relation, err error) {
	err = t.confined(func() (err error) {
		relation, err = t.relate(from, to)
		return err
	})
	return relation, err
}

func (t *Tree) relate(from, to string) (Relation, error) {
	if t.plainlyApart(from, to) {
		return Apart, nil
	}
	a, err := t.end(from)
	if err != nil {
		return Apart, err
	}
	b, err := t.end(to)
	if err != nil {
		return Apart, err
	}
	return relation(a, b), nil
}

// plainlyApart reports what two looks suffice for: that no folder is at either
// end, and not one file at both. In a tree with roots, or where something is closed, nothing is plain.
func (t *Tree) plainlyApart(from, to string) bool {
	a, errA := t.absolute("look at", from)
	b, errB := t.absolute("look at", to)
	if len(t.Roots) > 0 || len(t.Closed) > 0 || errA != nil || errB != nil || a == b {
		return false
	}
	source, err := os.Lstat(a)
	if err != nil || source.IsDir() {
		return false
	}
	there, err := os.Lstat(b)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !there.IsDir() && !os.SameFile(source, there)
}

// An end is what is at a path without links; info is nil for nothing.
type end struct {
	real string
	info fs.FileInfo
}

func (t *Tree) end(path string) (end, error) {
	p, err := t.locate(path, way{verb: "look at", link: true})
	if err != nil {
		return end{}, err
	}
	defer p.close()
	info, err := p.root.Lstat(p.rel)
	if err != nil {
		return end{real: p.real}, unlessMissing(err)
	}
	return end{p.real, info}, nil
}

func relation(from, to end) Relation {
	switch {
	case from.info == nil:
		return Apart
	case from.real == to.real || to.info != nil && os.SameFile(from.info, to.info):
		return Same
	case from.info.IsDir() && isAbove(from.info, to.real):
		return Inside
	case to.info != nil && to.info.IsDir() && isAbove(to.info, from.real):
		return Holds
	}
	return Apart
}

// isAbove reports whether a folder is one of those on the way to path.
func isAbove(folder fs.FileInfo, path string) bool {
	dir := filepath.Dir(path)
	real, err := filepath.EvalSymlinks(dir)
	for err != nil && dir != "/" { // that part of the way is not there yet
		dir = filepath.Dir(dir)
		real, err = filepath.EvalSymlinks(dir)
	}
	for dir = real; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && os.SameFile(info, folder) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

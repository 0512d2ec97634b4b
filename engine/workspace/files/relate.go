package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// A Relation describes how the source and target of a copy or move are related.
type Relation int

// The relations.
const (
	Apart    Relation = iota
	Same              // both are the same file, under any names
	Inside            // the target lies inside the source
	Contains          // the target is a folder that contains the source
)

// Relate returns how the source and target of a copy or move are related. It compares the files
// found, not just the paths, as links and mounts can lead anywhere. Links as the last element are
// not followed.
func (t *Tree) Relate(from, to string) (relation Relation, err error) {
	err = t.runConfined(func() (err error) {
		relation, err = t.relatePaths(from, to)
		return err
	})
	return relation, err
}

func (t *Tree) relatePaths(from, to string) (Relation, error) {
	if t.clearlyApart(from, to) {
		return Apart, nil
	}
	a, err := t.statEnd(from)
	if err != nil {
		return Apart, err
	}
	b, err := t.statEnd(to)
	if err != nil {
		return Apart, err
	}
	return compareEnds(a, b), nil
}

// clearlyApart is a fast path: two calls of lstat suffice if neither path is a folder and they are
// not the same file. With roots or off-limits paths it returns false.
func (t *Tree) clearlyApart(from, to string) bool {
	a, errA := t.absolute("look at", from)
	b, errB := t.absolute("look at", to)
	if len(t.Roots) > 0 || len(t.OffLimits) > 0 || errA != nil || errB != nil || a == b {
		return false
	}
	source, err := os.Lstat(a)
	if err != nil || source.IsDir() {
		return false
	}
	target, err := os.Lstat(b)
	return errors.Is(err, fs.ErrNotExist) || err == nil && !target.IsDir() && !os.SameFile(source, target)
}

// A pathInfo is a path with its links resolved; info is nil if nothing is there.
type pathInfo struct {
	real string
	info fs.FileInfo
}

func (t *Tree) statEnd(path string) (pathInfo, error) {
	p, err := t.locate(path, lookup{verb: "look at", noFollow: true})
	if err != nil {
		return pathInfo{}, err
	}
	defer p.close()
	info, err := p.root.Lstat(p.rel)
	if err != nil {
		return pathInfo{real: p.real}, unlessMissing(err)
	}
	return pathInfo{p.real, info}, nil
}

func compareEnds(from, to pathInfo) Relation {
	switch {
	case from.info == nil:
		return Apart
	case from.real == to.real || to.info != nil && os.SameFile(from.info, to.info):
		return Same
	case from.info.IsDir() && isAbove(from.info, to.real):
		return Inside
	case to.info != nil && to.info.IsDir() && isAbove(to.info, from.real):
		return Contains
	}
	return Apart
}

// isAbove reports whether folder is one of the parents of path.
func isAbove(folder fs.FileInfo, path string) bool {
	dir := filepath.Dir(path)
	real, err := filepath.EvalSymlinks(dir)
	// The target's parent may not exist yet.
	for err != nil && dir != "/" {
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

package files

import (
	"io/fs"
	"time"
)

// Attributes are what a copy keeps of a file beside its content.
type Attributes struct {
	Mode     *fs.FileMode // permission bits; nil: as they are
	Modified time.Time    // zero: as it is
	Target   string       // of a link that is made; "" for none
}

// Set gives a file or folder its attributes, or makes a link where nothing is.
func (t *Tree) Set(path string, a Attributes) (info Info, err error) {
	err = t.confined(func() (err error) {
		info, err = a.set(t, path)
		return err
	})
	return info, err
}

func (a Attributes) set(t *Tree, path string) (Info, error) {
	p, err := t.locate(path, way{verb: "set", link: true})
	if err != nil {
		return Info{}, err
	}
	defer p.close()
	dir, name, err := p.parent(false)
	if err == nil {
		defer dir.Close()
		err = a.apply(dir, name)
	}
	if err != nil {
		return Info{}, failure("set", p.path, err)
	}
	return t.stat(p, "set")
}

func (a Attributes) apply(dir *opened, name string) error {
	if a.Target != "" {
		return dir.Symlink(a.Target, name)
	}
	info, err := dir.Lstat(name)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return notRegular{info.Mode()}
	}
	if dir.closed.lieIn(idOf(info)) {
		return errClosed
	}
	if !a.Modified.IsZero() {
		if err := dir.Chtimes(name, accessed(info), a.Modified); err != nil {
			return err
		}
	}
	if a.Mode == nil {
		return nil
	}
	return dir.Chmod(name, a.Mode.Perm())
}

package files

import (
	"io/fs"
	"time"
)

// Attributes are the properties a copy preserves besides the content.
type Attributes struct {
	Mode     *fs.FileMode // permission bits; nil leaves them unchanged
	Modified time.Time    // zero leaves it unchanged
	Target   string       // of a link to create; "" for none
}

// Set sets the attributes of a file or folder, or creates a link if Target is set.
func (t *Tree) Set(path string, a Attributes) (info Info, err error) {
	err = t.runConfined(func() (err error) {
		info, err = a.setPath(t, path)
		return err
	})
	return info, err
}

func (a Attributes) setPath(t *Tree, path string) (Info, error) {
	p, err := t.locate(path, lookup{verb: "set", noFollow: true})
	if err != nil {
		return Info{}, err
	}
	defer p.close()
	dir, name, err := p.openParent(false)
	if err == nil {
		defer dir.Close()
		err = a.applyTo(dir, name)
	}
	if err != nil {
		return Info{}, fileError("set", p.path, err)
	}
	return t.describe(p, "set")
}

func (a Attributes) applyTo(dir *openDir, name string) error {
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
	if dir.offLimits.anyBelow(idOf(info)) {
		return errOffLimits
	}
	// Set the time first, because a mode without write permission could prevent it.
	if !a.Modified.IsZero() {
		if err := dir.Chtimes(name, accessTime(info), a.Modified); err != nil {
			return err
		}
	}
	if a.Mode == nil {
		return nil
	}
	return dir.Chmod(name, a.Mode.Perm())
}

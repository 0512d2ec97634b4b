package files

import (
	"context"
	"fmt"
	"time"

	"tandem/engine/sleep"
)

// gather is how long a watch gathers changes that come together.
const gather = 60 * time.Millisecond

// Watch waits until an entry of a folder changes, comes or goes, or for as long
// as ctx lasts. The stamp stands for what the folder is; if it is not the one
// that was seen, Watch returns at once.
func (t *Tree) Watch(ctx context.Context, path, seen string) (stamp string, changed bool, err error) {
	var w watch
	err = t.confined(func() (err error) {
		w, stamp, err = t.startWatch(path)
		return err
	})
	if err != nil {
		return "", false, err
	}
	defer w.close()
	if seen != "" && seen != stamp {
		return stamp, true, nil
	}
	if !w.wait(ctx) {
		return stamp, false, nil
	}
	_ = sleep.For(ctx, gather)
	err = t.confined(func() (err error) {
		stamp, err = t.stamp(path)
		return err
	})
	return stamp, true, err
}

// startWatch begins to watch a folder, and tells what it is then.
func (t *Tree) startWatch(path string) (w watch, stamp string, err error) {
	p, err := t.locate(path, way{verb: "watch"})
	if err != nil {
		return watch{}, "", err
	}
	defer p.close()
	dir, err := p.root.Open(asFolder(p.rel))
	if err != nil {
		return watch{}, "", failure("watch", p.path, err)
	}
	defer dir.Close()
	if w, err = startWatch(dir); err != nil {
		return watch{}, "", failure("watch", p.path, err)
	}
	if stamp, err = t.stamp(path); err != nil {
		w.close()
		return watch{}, "", err
	}
	return w, stamp, nil
}

// stamp changes when names come to a folder or go.
func (t *Tree) stamp(path string) (string, error) {
	p, err := t.locate(path, way{verb: "watch"})
	if err != nil {
		return "", err
	}
	defer p.close()
	info, err := p.root.Lstat(p.rel)
	if err != nil {
		return "", failure("watch", p.path, err)
	}
	return fmt.Sprintf("%x-%x", idOf(info).ino, info.ModTime().UnixNano()), nil
}

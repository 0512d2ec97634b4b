package files

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"time"

	"tandem/engine/base/sleep"
	"tandem/persist/inotify"
)

// batchTime is how long to wait for further changes after the first one.
const batchTime = 60 * time.Millisecond

// Watch waits until an entry of a folder is changed, added or removed, or until ctx is done. The
// stamp identifies the state of the folder; if it differs from seen, Watch returns at once.
func (t *Tree) Watch(ctx context.Context, path, seen string) (stamp string, changed bool, err error) {
	var w watch
	err = t.runConfined(func() (err error) {
		w, stamp, err = t.startWatch(path)
		return err
	})
	if err != nil {
		return "", false, err
	}
	defer w.Close()
	if seen != "" && seen != stamp {
		return stamp, true, nil
	}
	if !w.wait(ctx) {
		return stamp, false, nil
	}
	_ = sleep.For(ctx, batchTime)
	err = t.runConfined(func() (err error) {
		stamp, err = t.stamp(path)
		return err
	})
	return stamp, true, err
}

// startWatch starts watching a folder and returns its current stamp.
func (t *Tree) startWatch(path string) (w watch, stamp string, err error) {
	p, err := t.locate(path, lookup{verb: "watch"})
	if err != nil {
		return watch{}, "", err
	}
	defer p.close()
	dir, err := p.root.Open(asFolder(p.rel))
	if err != nil {
		return watch{}, "", fileError("watch", p.path, err)
	}
	defer dir.Close()
	if w, err = startWatch(dir, cmp.Or(t.Watches, new(inotify.Pool))); err != nil {
		return watch{}, "", fileError("watch", p.path, err)
	}
	// Take the stamp after the watch has begun. Otherwise a change between the two would go
	// unnoticed.
	if stamp, err = t.stamp(path); err != nil {
		w.Close()
		return watch{}, "", err
	}
	return w, stamp, nil
}

// maxStamped is the number of entries up to which a stamp covers changes of them.
const maxStamped = 10_000

// stamp returns a value that changes when an entry is added to the folder, changed or removed. In a
// larger folder, changes of entries are noticed only while Watch waits.
func (t *Tree) stamp(path string) (string, error) {
	p, err := t.locate(path, lookup{verb: "watch"})
	if err != nil {
		return "", err
	}
	defer p.close()
	info, err := p.root.Lstat(p.rel)
	if err != nil {
		return "", fileError("watch", p.path, err)
	}
	return fmt.Sprintf("%x-%x-%x", idOf(info).ino, info.ModTime().UnixNano(), sumEntries(p)), nil
}

// sumEntries returns a number that changes with the entries of a folder; 0 if it has too many or
// cannot be read.
func sumEntries(p location) (sum uint64) {
	dir, err := p.openAsDir()
	if err != nil {
		return 0
	}
	defer dir.Close()
	f, err := dir.Open(".")
	if err != nil {
		return 0
	}
	defer f.Close()
	entries, err := f.ReadDir(maxStamped + 1)
	if err != nil || len(entries) > maxStamped {
		return 0
	}
	for _, e := range entries {
		if info, err := dir.Lstat(e.Name()); err == nil {
			one := fnv.New64a()
			fmt.Fprintf(one, "%q %x %x %x", e.Name(), idOf(info).ino, info.Size(), info.ModTime().UnixNano())
			sum += one.Sum64() // in any order
		}
	}
	return sum
}

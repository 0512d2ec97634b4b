package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Trash puts a file, link or folder into the person's trash, as the trash
// specification of freedesktop.org (1.0) has it: that of the home folder, or of
// the file system that it lies on. It returns the path in the trash.
func (t *Tree) Trash(path string, now time.Time) (string, error) {
	if len(t.Roots) > 0 {
		return "", errorf(Outside, "put %s into the trash: the trash is outside the allowed folders", path)
	}
	abs, err := t.absolute("put into the trash", path)
	if err != nil {
		return "", err
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
		abs = filepath.Join(dir, filepath.Base(abs))
	}
	if err := t.trashable(abs); err != nil {
		return "", err
	}
	trash, shown, err := t.trashFor(abs)
	if err != nil {
		return "", failure("put into the trash", abs, err)
	}
	return discard(trash, abs, shown, now)
}

// trashable refuses what could not be taken out again.
func (t *Tree) trashable(abs string) error {
	if _, err := os.Lstat(abs); err != nil {
		return failure("put into the trash", abs, err)
	}
	if _, holds := below(abs, t.homeTrash()); holds || abs == "/" {
		return errorf(Invalid, "put %s into the trash: it holds the trash", abs)
	}
	if _, within := below(t.homeTrash(), abs); within {
		return errorf(Invalid, "put %s into the trash: it is there already", abs).hint("delete it for good")
	}
	return nil
}

func (t *Tree) homeTrash() string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "Trash")
	}
	return filepath.Join(t.Home, ".local/share/Trash")
}

// trashFor is the trash on the file system of a path, and the path as its
// record tells it.
func (t *Tree) trashFor(abs string) (dir, shown string, err error) {
	home := t.homeTrash()
	if t.Home != "" || filepath.IsAbs(home) {
		if err := makeTrash(home); err == nil && sameDevice(home, filepath.Dir(abs)) {
			return home, abs, nil
		}
	}
	top := filepath.Dir(abs)
	for top != "/" && sameDevice(top, filepath.Dir(top)) {
		top = filepath.Dir(top)
	}
	dir = filepath.Join(top, fmt.Sprintf(".Trash-%d", os.Getuid()))
	shown, _ = below(top, abs)
	return dir, shown, makeTrash(dir)
}

func makeTrash(dir string) error {
	for _, part := range []string{"files", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, part), 0o700); err != nil {
			return err
		}
	}
	return nil
}

func sameDevice(a, b string) bool {
	var x, y syscall.Stat_t
	return syscall.Stat(a, &x) == nil && syscall.Stat(b, &y) == nil && x.Dev == y.Dev
}

// discard moves a path into a trash folder: first its record, which reserves
// the name, then what it is about.
func discard(trash, abs, shown string, now time.Time) (string, error) {
	record := fmt.Sprintf("[Trash Info]\nPath=%s\nDeletionDate=%s\n", (&url.URL{Path: shown}).EscapedPath(), now.Format("2006-01-02T15:04:05"))
	for n := 1; ; n++ {
		name := Numbered(filepath.Base(abs), n)
		to := filepath.Join(trash, "files", name)
		info := filepath.Join(trash, "info", name+".trashinfo")
		f, err := os.OpenFile(info, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, syscall.ENAMETOOLONG) {
			name = Numbered(shortName(filepath.Base(abs)), n)
			to, info = filepath.Join(trash, "files", name), filepath.Join(trash, "info", name+".trashinfo")
			f, err = os.OpenFile(info, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		}
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", failure("put into the trash", abs, err)
		}
		_, err = f.WriteString(record)
		err = errors.Join(err, f.Close())
		if err == nil {
			err = renamePath(abs, to)
		}
		if err == nil {
			return to, nil
		}
		os.Remove(info)
		if !errors.Is(err, fs.ErrExist) {
			return "", failure("put into the trash", abs, err)
		}
	}
}

// shortName leaves room in a name for what the trash adds.
func shortName(name string) string {
	const room = 200
	cut := name[:min(len(name), room)]
	return cut[:wholeRunes([]byte(cut))]
}

// renamePath renames where nothing is in the way.
func renamePath(from, to string) error {
	a, err := os.OpenRoot(asFolder(filepath.Dir(from)))
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := os.OpenRoot(asFolder(filepath.Dir(to)))
	if err != nil {
		return err
	}
	defer b.Close()
	return rename(a, filepath.Base(from), b, filepath.Base(to), false)
}

// Restore takes something out of the trash and puts it where it was, or
// elsewhere, and tells about it there.
func (t *Tree) Restore(ctx context.Context, trashed, to string, overwrite bool) (Info, error) {
	if len(t.Roots) > 0 {
		return Info{}, errorf(Outside, "take %s out of the trash: the trash is outside the allowed folders", trashed)
	}
	trashed, err := t.absolute("take out of the trash", trashed)
	if err != nil {
		return Info{}, err
	}
	dir := filepath.Dir(trashed)
	if filepath.Base(dir) != "files" {
		return Info{}, errorf(Invalid, "take %s out of the trash: it is not in one", trashed)
	}
	if _, err := t.Mkdir(filepath.Dir(to), true); err != nil {
		return Info{}, err
	}
	info, err := t.Move(ctx, trashed, to, overwrite)
	if err != nil {
		return Info{}, err
	}
	// Without what it is about, a record says nothing.
	_ = os.Remove(filepath.Join(filepath.Dir(dir), "info", filepath.Base(trashed)+".trashinfo"))
	return info, nil
}

// Numbered is a name with a number, before its extension; 1 is the name itself.
func Numbered(name string, n int) string {
	if n <= 1 {
		return name
	}
	ext := filepath.Ext(name)
	if ext == name {
		ext = ""
	}
	return fmt.Sprintf("%s (%d)%s", strings.TrimSuffix(name, ext), n, ext)
}

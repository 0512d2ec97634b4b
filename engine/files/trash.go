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

	"tandem/engine/vt/scan"
)

// Trash puts a file, link or folder into the person's trash, as the trash
// specification of freedesktop.org (1.0) has it: that of the home folder, or of
// the file system that it lies on. It returns the path in the trash.
func (t *Tree) Trash(path string, now time.Time) (trashed string, err error) {
	err = t.confined(func() (err error) {
		trashed, err = t.trash(path, now)
		return err
	})
	return trashed, err
}

func (t *Tree) trash(path string, now time.Time) (string, error) {
	if len(t.Roots) > 0 {
		return "", errorf(Outside, "move %s to the trash: the trash is outside the allowed folders", path)
	}
	p, err := t.locate(path, way{verb: "move to the trash", link: true})
	if err != nil {
		return "", err
	}
	defer p.close()
	if err := trashable(p, homeTrash(t.Home)); err != nil {
		return "", err
	}
	can, shown, err := t.trashFor(p.real)
	if err != nil {
		return "", failure("move to the trash", p.real, err)
	}
	to, err := can.discard(p, shown, now)
	return to, failure("move to the trash", p.real, err)
}

// trashable refuses what could not be taken out again.
func trashable(p place, home string) error {
	abs := p.real
	info, err := p.root.Lstat(p.rel)
	if err != nil {
		return failure("move to the trash", abs, err)
	}
	if p.root.closed.lieIn(idOf(info)) {
		return holdsClosed("move to the trash", abs)
	}
	if _, holds := below(abs, home); holds || abs == "/" {
		return errorf(Invalid, "move %s to the trash: it contains the trash", abs)
	}
	if _, within := below(home, abs); within {
		return errorf(Invalid, "move %s to the trash: it already exists", abs).hint("delete it permanently")
	}
	return nil
}

func homeTrash(home string) string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "Trash")
	}
	return filepath.Join(home, ".local/share/Trash")
}

// A trashFolder is a folder that a trash keeps things and their records in.
type trashFolder struct {
	tree *Tree
	dir  string
}

// trashFor is the trash on the file system of a path, and the path as its
// record tells it.
func (t *Tree) trashFor(abs string) (can trashFolder, shown string, err error) {
	home := homeTrash(t.Home)
	if t.Home != "" || filepath.IsAbs(home) {
		can = trashFolder{t, home}
		if err := can.make(); err == nil && sameDevice(home, filepath.Dir(abs)) {
			return can, abs, nil
		}
	}
	top := filepath.Dir(abs)
	for top != "/" && sameDevice(top, filepath.Dir(top)) {
		top = filepath.Dir(top)
	}
	can = trashFolder{t, filepath.Join(top, fmt.Sprintf(".Trash-%d", os.Getuid()))}
	shown, _ = below(top, abs)
	return can, shown, can.make()
}

func (c trashFolder) make() error {
	for _, part := range []string{"files", "info"} {
		if err := c.tree.mkdirAll("make folder", filepath.Join(c.dir, part), 0o700); err != nil {
			return err
		}
	}
	return nil
}

func sameDevice(a, b string) bool {
	var x, y syscall.Stat_t
	return syscall.Stat(a, &x) == nil && syscall.Stat(b, &y) == nil && x.Dev == y.Dev
}

// discard moves what is at a place into the trash: first its record, which
// reserves the name, then what it is about.
func (c trashFolder) discard(p place, shown string, now time.Time) (string, error) {
	from, base, err := p.parent(false)
	if err != nil {
		return "", err
	}
	defer from.Close()
	held, err := c.open("files")
	if err != nil {
		return "", err
	}
	defer held.Close()
	records, err := c.open("info")
	if err != nil {
		return "", err
	}
	defer records.Close()
	record := fmt.Sprintf("[Trash Info]\nPath=%s\nDeletionDate=%s\n", (&url.URL{Path: shown}).EscapedPath(), now.Format("2006-01-02T15:04:05"))
	for n := 1; ; n++ {
		name, err := reserve(records, base, n, record)
		if err == nil {
			if err = rename(from, base, held, name, false); err == nil {
				return filepath.Join(c.dir, "files", name), nil
			}
			_ = records.Remove(name + ".trashinfo") // what matters is why it could not be used
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
}

// reserve writes the nth record of a name that is in the trash, perhaps of one
// that is shorter.
func reserve(records *opened, base string, n int, record string) (name string, err error) {
	name = Numbered(base, n)
	f, err := records.OpenFile(name+".trashinfo", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, syscall.ENAMETOOLONG) {
		name = Numbered(shortName(base), n)
		f, err = records.OpenFile(name+".trashinfo", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(record)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = records.Remove(name + ".trashinfo")
	}
	return name, err
}

// open opens one of the two parts of the trash.
func (c trashFolder) open(part string) (*opened, error) {
	p, err := c.tree.locate(filepath.Join(c.dir, part), way{verb: "open"})
	if err != nil {
		return nil, err
	}
	defer p.close()
	return p.root.OpenRoot(asFolder(p.rel))
}

// shortName leaves room in a name for what the trash adds.
func shortName(name string) string {
	const room = 200
	cut := name[:min(len(name), room)]
	return cut[:scan.CompleteLen([]byte(cut))]
}

// Restore takes something out of the trash and puts it where it was, or
// elsewhere, and tells about it there.
func (t *Tree) Restore(ctx context.Context, trashed, to string, overwrite bool) (info Info, err error) {
	err = t.confined(func() (err error) {
		info, err = t.restore(ctx, trashed, to, overwrite)
		return err
	})
	return info, err
}

func (t *Tree) restore(ctx context.Context, trashed, to string, overwrite bool) (Info, error) {
	if len(t.Roots) > 0 {
		return Info{}, errorf(Outside, "restore %s from the trash: the trash is outside the allowed folders", trashed)
	}
	trashed, err := t.absolute("restore from the trash", trashed)
	if err != nil {
		return Info{}, err
	}
	dir := filepath.Dir(trashed)
	if filepath.Base(dir) != "files" {
		return Info{}, errorf(Invalid, "restore %s from the trash: it is not in the trash", trashed)
	}
	if _, err := t.mkdir(filepath.Dir(to), true); err != nil {
		return Info{}, err
	}
	info, err := t.move(ctx, trashed, to, overwrite)
	if err != nil {
		return Info{}, err
	}
	// Without what it is about, a record says nothing.
	_ = t.delete(ctx, filepath.Join(filepath.Dir(dir), "info", filepath.Base(trashed)+".trashinfo"), false)
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

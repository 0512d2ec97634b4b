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

	"tandem/engine/screen/vt/scan"
)

// A Trash is the user's trash, for the files of a Tree without roots.
type Trash struct{ Tree *Tree }

// Put moves a file, link or folder to the user's trash as specified by freedesktop.org (Trash
// specification 1.0): to the one in the home folder, or to one on the same file system. It returns
// the path in the trash.
func (t Trash) Put(path string, now time.Time) (trashed string, err error) {
	err = t.Tree.runConfined(func() (err error) {
		trashed, err = t.putPath(path, now)
		return err
	})
	return trashed, err
}

func (t Trash) putPath(path string, now time.Time) (string, error) {
	if len(t.Tree.Roots) > 0 {
		return "", errorf(Outside, "move %s to the trash: the trash is outside the allowed folders", path)
	}
	p, err := t.Tree.locate(path, lookup{verb: "move to the trash", noFollow: true})
	if err != nil {
		return "", err
	}
	defer p.close()
	if err := checkTrashable(p, homeTrash(t.Tree.Home)); err != nil {
		return "", err
	}
	bin, recordPath, err := t.folderFor(p.real)
	if err != nil {
		return "", fileError("move to the trash", p.real, err)
	}
	to, err := bin.moveInto(p, recordPath, now)
	return to, fileError("move to the trash", p.real, err)
}

// checkTrashable rejects anything that could not be restored.
func checkTrashable(p location, home string) error {
	abs := p.real
	info, err := p.root.Lstat(p.rel)
	if err != nil {
		return fileError("move to the trash", abs, err)
	}
	if p.root.offLimits.anyBelow(idOf(info)) {
		return holdsOffLimits("move to the trash", abs)
	}
	if _, holds := relBelow(abs, home); holds || abs == "/" {
		return errorf(Invalid, "move %s to the trash: it contains the trash", abs)
	}
	if _, within := relBelow(home, abs); within {
		return errorf(Invalid, "move %s to the trash: it already exists", abs).withHint("delete it permanently")
	}
	return nil
}

func homeTrash(home string) string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "Trash")
	}
	return filepath.Join(home, ".local/share/Trash")
}

// A trashFolder is a folder with trashed files and their records.
type trashFolder struct {
	tree *Tree
	dir  string
}

// folderFor returns the trash on the file system of abs, and the path to write to the record.
func (t Trash) folderFor(abs string) (bin trashFolder, recordPath string, err error) {
	home := homeTrash(t.Tree.Home)
	if t.Tree.Home != "" || filepath.IsAbs(home) {
		bin = trashFolder{t.Tree, home}
		if err := bin.makeFolders(); err == nil && sameDevice(home, filepath.Dir(abs)) {
			return bin, abs, nil
		}
	}
	top := filepath.Dir(abs)
	// The top of the file system holds a trash that a rename can reach.
	for top != "/" && sameDevice(top, filepath.Dir(top)) {
		top = filepath.Dir(top)
	}
	bin = trashFolder{t.Tree, filepath.Join(top, fmt.Sprintf(".Trash-%d", os.Getuid()))}
	recordPath, _ = relBelow(top, abs)
	return bin, recordPath, bin.makeFolders()
}

func (c trashFolder) makeFolders() error {
	for _, part := range []string{"files", "info"} {
		if err := c.tree.makeFolders("make folder", filepath.Join(c.dir, part), 0o700); err != nil {
			return err
		}
	}
	return nil
}

func sameDevice(a, b string) bool {
	var x, y syscall.Stat_t
	return syscall.Stat(a, &x) == nil && syscall.Stat(b, &y) == nil && x.Dev == y.Dev
}

// moveInto moves a file to the trash. Its record is written first, because that reserves the name.
func (c trashFolder) moveInto(p location, recordPath string, now time.Time) (string, error) {
	from, base, err := p.openParent(false)
	if err != nil {
		return "", err
	}
	defer from.Close()
	held, err := c.openPart("files")
	if err != nil {
		return "", err
	}
	defer held.Close()
	records, err := c.openPart("info")
	if err != nil {
		return "", err
	}
	defer records.Close()
	record := fmt.Sprintf("[Trash Info]\nPath=%s\nDeletionDate=%s\n", (&url.URL{Path: recordPath}).EscapedPath(), now.Format("2006-01-02T15:04:05"))
	for n := 1; ; n++ {
		name, err := reserveName(records, base, n, record)
		if err == nil {
			if err = renameEntry(from, base, held, name, false); err == nil {
				return filepath.Join(c.dir, "files", name), nil
			}
			// The first error is the one to report.
			_ = records.Remove(name + ".trashinfo")
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
}

// reserveName creates the nth record for a name, shortened if it is too long.
func reserveName(records *openDir, base string, n int, record string) (name string, err error) {
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

// openPart opens one of the two parts of the trash.
func (c trashFolder) openPart(part string) (*openDir, error) {
	p, err := c.tree.locate(filepath.Join(c.dir, part), lookup{verb: "open"})
	if err != nil {
		return nil, err
	}
	defer p.close()
	return p.root.OpenRoot(asFolder(p.rel))
}

// shortName shortens a name to leave room for the suffixes of the trash.
func shortName(name string) string {
	const room = 200
	cut := name[:min(len(name), room)]
	return cut[:scan.CompleteLen([]byte(cut))]
}

// Restore moves an item from the trash to a path and describes it there.
func (t Trash) Restore(ctx context.Context, trashed, to string, overwrite bool) (info Info, err error) {
	err = t.Tree.runConfined(func() (err error) {
		info, err = t.restoreItem(ctx, trashed, to, overwrite)
		return err
	})
	return info, err
}

func (t Trash) restoreItem(ctx context.Context, trashed, to string, overwrite bool) (Info, error) {
	if len(t.Tree.Roots) > 0 {
		return Info{}, errorf(Outside, "restore %s from the trash: the trash is outside the allowed folders", trashed)
	}
	trashed, err := t.Tree.absolute("restore from the trash", trashed)
	if err != nil {
		return Info{}, err
	}
	p, err := t.Tree.locate(trashed, lookup{verb: "restore from the trash", noFollow: true})
	if err != nil {
		return Info{}, err
	}
	p.close()
	bin, ok := t.folderOf(trashed)
	if !ok {
		return Info{}, errorf(Invalid, "restore %s from the trash: it is not in the trash", trashed)
	}
	if _, err := t.Tree.makeFolder(filepath.Dir(to), true); err != nil {
		return Info{}, err
	}
	info, err := t.Tree.movePath(ctx, trashed, to, overwrite)
	if err != nil {
		return Info{}, err
	}
	// A record without its file is useless.
	_ = t.Tree.deletePath(ctx, filepath.Join(bin, "info", filepath.Base(trashed)+".trashinfo"), false)
	return info, nil
}

// Numbered inserts a number before the extension of name; for n = 1 it returns name itself.
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

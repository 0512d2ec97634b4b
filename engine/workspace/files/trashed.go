package files

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A TrashItem is an item in the trash.
type TrashItem struct {
	Path    string    // in the trash
	From    string    // original path; empty if there is no record
	Deleted time.Time // zero if there is no record
	Info    Info
}

// maxRecord limits how many bytes of a record are read.
const maxRecord = 16 << 10

// List lists the items of the user's trash, including those of other local file systems, most
// recently deleted first.
func (t Trash) List() (all []TrashItem, err error) {
	err = t.Tree.runConfined(func() error {
		if len(t.Tree.Roots) > 0 {
			return errorf(Outside, "list the trash: it is outside the allowed folders")
		}
		for _, bin := range t.folders() {
			all = append(all, bin.listItems()...)
		}
		slices.SortStableFunc(all, func(a, b TrashItem) int { return b.Deleted.Compare(a.Deleted) })
		return nil
	})
	return all, err
}

// folders returns all possible trash folders.
func (t Trash) folders() (bins []trashFolder) {
	if home := homeTrash(t.Tree.Home); t.Tree.Home != "" || filepath.IsAbs(home) {
		bins = append(bins, trashFolder{t.Tree, home})
	}
	for _, top := range localMounts() {
		bin := trashFolder{t.Tree, filepath.Join(top, fmt.Sprintf(".Trash-%d", os.Getuid()))}
		if info, err := os.Lstat(bin.dir); err == nil && info.IsDir() {
			bins = append(bins, bin)
		}
	}
	return bins
}

// localMounts returns the mount points of local file systems. Others, such as those of a network,
// may not respond.
func localMounts() (tops []string) {
	text, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil
	}
	const local = " btrfs bcachefs exfat ext2 ext3 ext4 f2fs fuseblk hfsplus ntfs ntfs3 overlay tmpfs vfat xfs zfs "
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 2 && strings.Contains(local, " "+fields[2]+" ") {
			top := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(fields[1])
			if !slices.Contains(tops, top) {
				tops = append(tops, top)
			}
		}
	}
	return tops
}

// listItems lists one trash; unreadable items are left out.
func (c trashFolder) listItems() (all []TrashItem) {
	held, err := c.openPart("files")
	if err != nil {
		return nil
	}
	defer held.Close()
	entries, err := held.readEntries()
	if err != nil {
		return nil
	}
	records, err := c.openPart("info")
	if err == nil {
		defer records.Close()
	}
	for _, e := range entries {
		info, err := c.tree.statPath(filepath.Join(c.dir, "files", e.Name()))
		if err != nil {
			continue
		}
		one := TrashItem{Path: info.Path, Info: info}
		if records != nil {
			one.From, one.Deleted = c.readRecord(records, e.Name())
		}
		all = append(all, one)
	}
	return all
}

// readRecord returns the record of a name in the trash.
func (c trashFolder) readRecord(records *openDir, name string) (from string, deleted time.Time) {
	f, _, err := openIn(records, name+".trashinfo")
	if err != nil {
		return "", deleted
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxRecord)) // up to the first error
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "Path":
			if from, err = url.PathUnescape(value); err != nil {
				from = ""
			} else if from != "" && !filepath.IsAbs(from) { // relative to the top of its file system
				from = filepath.Join(filepath.Dir(c.dir), from)
			}
		case "DeletionDate":
			deleted, _ = time.ParseInLocation("2006-01-02T15:04:05", value, time.Local)
		}
	}
	return from, deleted
}

// dropRecord removes the record of an item just deleted from the trash.
func (t Trash) dropRecord(path string) {
	abs, err := t.Tree.absolute("delete", path)
	if err != nil {
		return
	}
	if dir, ok := t.folderOf(abs); ok {
		_ = os.Remove(filepath.Join(dir, "info", filepath.Base(abs)+".trashinfo")) // there may be no record
	}
}

// folderOf returns the trash folder with an item. ok is false if the path is not in the trash.
func (t Trash) folderOf(item string) (dir string, ok bool) {
	dir = filepath.Dir(filepath.Dir(item))
	if filepath.Base(filepath.Dir(item)) != "files" {
		return "", false
	}
	if slices.ContainsFunc(t.folders(), func(c trashFolder) bool { return c.dir == dir }) {
		return dir, true
	}
	top := filepath.Dir(dir) // of a file system that is not local
	return dir, filepath.Base(dir) == fmt.Sprintf(".Trash-%d", os.Getuid()) && (top == "/" || !sameDevice(top, filepath.Dir(top)))
}

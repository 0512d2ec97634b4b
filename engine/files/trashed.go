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

// A Trashed is something in the trash.
type Trashed struct {
	Path    string    // in the trash
	From    string    // where it was; empty if no record says so
	Deleted time.Time // zero if no record says so
	Info    Info
}

// mostRecord is how much of a record is read.
const mostRecord = 16 << 10

// ListTrash lists what is in the person's trash, that of the home folder and those
// of other file systems of this machine, what was deleted last first.
func ListTrash(t *Tree) (all []Trashed, err error) {
	err = t.confined(func() error {
		if len(t.Roots) > 0 {
			return errorf(Outside, "list the trash: it is outside the allowed folders")
		}
		for _, can := range trashesOf(t) {
			all = append(all, can.list()...)
		}
		slices.SortStableFunc(all, func(a, b Trashed) int { return b.Deleted.Compare(a.Deleted) })
		return nil
	})
	return all, err
}

// trashesOf are the folders of the trash that there may be.
func trashesOf(t *Tree) (cans []trashFolder) {
	if home := homeTrash(t.Home); t.Home != "" || filepath.IsAbs(home) {
		cans = append(cans, trashFolder{t, home})
	}
	for _, top := range localMounts() {
		can := trashFolder{t, filepath.Join(top, fmt.Sprintf(".Trash-%d", os.Getuid()))}
		if info, err := os.Lstat(can.dir); err == nil && info.IsDir() {
			cans = append(cans, can)
		}
	}
	return cans
}

// localMounts are where file systems of this machine are mounted; others may not
// answer.
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

// list lists one trash; what cannot be read is not in it.
func (c trashFolder) list() (all []Trashed) {
	held, err := c.open("files")
	if err != nil {
		return nil
	}
	defer held.Close()
	entries, err := held.entries()
	if err != nil {
		return nil
	}
	records, err := c.open("info")
	if err == nil {
		defer records.Close()
	}
	for _, e := range entries {
		info, err := c.tree.lookAt(filepath.Join(c.dir, "files", e.Name()))
		if err != nil {
			continue
		}
		one := Trashed{Path: info.Path, Info: info}
		if records != nil {
			one.From, one.Deleted = c.record(records, e.Name())
		}
		all = append(all, one)
	}
	return all
}

// record reads what is recorded of a name.
func (c trashFolder) record(records *opened, name string) (from string, deleted time.Time) {
	f, _, err := openIn(records, name+".trashinfo")
	if err != nil {
		return "", deleted
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, mostRecord)) // as far as it can be read
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "Path":
			if from, err = url.PathUnescape(value); err != nil {
				from = ""
			} else if from != "" && !filepath.IsAbs(from) { // below the top of its file system
				from = filepath.Join(filepath.Dir(c.dir), from)
			}
		case "DeletionDate":
			deleted, _ = time.ParseInLocation("2006-01-02T15:04:05", value, time.Local)
		}
	}
	return from, deleted
}

// dropRecord removes the record of what was in the trash and is not there any
// more; without that it says nothing.
func dropRecord(t *Tree, path string) {
	abs, err := t.absolute("delete", path)
	if err != nil || filepath.Base(filepath.Dir(abs)) != "files" {
		return
	}
	dir := filepath.Dir(filepath.Dir(abs))
	if slices.ContainsFunc(trashesOf(t), func(c trashFolder) bool { return c.dir == dir }) {
		_ = os.Remove(filepath.Join(dir, "info", filepath.Base(abs)+".trashinfo")) // it may have none
	}
}

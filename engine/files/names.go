package files

import (
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Names keep the names in the folder that is being listed in parts, so that it
// is not read for each of them. The zero value is ready for use.
type Names struct {
	mu     sync.Mutex
	folder os.FileInfo // as it was then
	read   time.Time   // when that was
	names  []string
}

// unsure is how long after a change a folder can change again without another
// time of change.
const unsure = 100 * time.Millisecond

// Forget lets go of the names.
func (n *Names) Forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.folder, n.names = nil, nil
}

// find are the names that were kept, if the folder is as it was; surely, or as
// far as its time of change tells.
func (n *Names) find(folder os.FileInfo, surely bool) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.folder == nil || !os.SameFile(n.folder, folder) || !n.folder.ModTime().Equal(folder.ModTime()) ||
		surely && n.read.Sub(folder.ModTime()) < unsure {
		return nil
	}
	return n.names
}

func (n *Names) keep(folder os.FileInfo, read time.Time, names []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.folder, n.read, n.names = folder, read, names
}

// page is the part of a folder's names that is wanted, in order, and how many
// follow. The first part is always read again, unless only names that match are
// wanted, as while somebody types.
func (n *Names) page(dir *opened, r ListRequest) (names []string, omitted int, err error) {
	if names, err = n.namesFor(dir, r); err != nil {
		return nil, 0, err
	}
	names = dir.visible(names) // others are told of them, and the names are kept for all
	if !r.Hidden || r.Match != "" {
		names = r.wanted(names)
	}
	if r.After != "" {
		at, found := slices.BinarySearch(names, r.After)
		if found {
			at++
		}
		names = names[at:]
	}
	if r.After == "" {
		slices.Sort(names)
	}
	if r.Limit > 0 && len(names) > r.Limit {
		omitted = len(names) - r.Limit
		names = names[:r.Limit]
	}
	return names, omitted, nil
}

// wanted are those of names that are asked for.
func (r ListRequest) wanted(names []string) []string {
	words := strings.Fields(strings.ToLower(r.Match))
	wanted := make([]string, 0, min(len(names), 1024))
	for _, name := range names {
		if (r.Hidden || name[0] != '.') && holdsWords(name, words) {
			wanted = append(wanted, name)
		}
	}
	return wanted
}

// holdsWords reports whether a name holds words, which are in lower case, and
// none of those behind a "!".
func holdsWords(name string, words []string) bool {
	if len(words) == 0 {
		return true
	}
	name = strings.ToLower(name)
	for _, word := range words {
		bare, inverse := strings.CutPrefix(word, "!")
		if bare != "" && strings.Contains(name, bare) == inverse {
			return false
		}
	}
	return true
}

// namesFor are the names in a folder: in order for a part that is not the
// first, and then kept for the next one, unless n is nil.
func (n *Names) namesFor(dir *opened, r ListRequest) ([]string, error) {
	if r.After == "" && r.Match == "" {
		return namesIn(dir)
	}
	read := time.Now()
	folder, err := dir.Stat(".")
	if err != nil {
		return nil, err
	}
	if n != nil {
		if names := n.find(folder, r.After == ""); names != nil {
			return names, nil
		}
	}
	names, err := namesIn(dir)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	if n != nil {
		n.keep(folder, read, names)
	}
	return names, nil
}

// namesIn reads the names in a folder.
func namesIn(dir *opened) ([]string, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

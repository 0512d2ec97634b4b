package files

import (
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Names cache the names of a folder that is listed page by page, so that it is not read again for
// every page. The zero value is ready for use.
type Names struct {
	mu     sync.Mutex
	folder os.FileInfo // as of reading
	read   time.Time   // time of reading
	names  []string
}

// timestampSlack is how long after a change a folder can change again without getting a new
// modification time.
const timestampSlack = 100 * time.Millisecond

// Forget drops the cached names.
func (n *Names) Forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.folder, n.names = nil, nil
}

// lookupNames returns the cached names if the folder has not changed since, judged by its modification
// time. surely also rules out a change within the same time stamp.
func (n *Names) lookupNames(folder os.FileInfo, surely bool) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.folder == nil || !os.SameFile(n.folder, folder) || !n.folder.ModTime().Equal(folder.ModTime()) ||
		surely && n.read.Sub(folder.ModTime()) < timestampSlack {
		return nil
	}
	return n.names
}

func (n *Names) cacheNames(folder os.FileInfo, read time.Time, names []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.folder, n.read, n.names = folder, read, names
}

// listPage returns the requested names, sorted, and the number of names after them. The first page is
// always read again, except when filtering by Match, as while the user types.
func (n *Names) listPage(dir *openDir, r ListRequest) (names []string, omitted int, err error) {
	if names, err = n.namesFor(dir, r); err != nil {
		return nil, 0, err
	}
	// Filter after caching: the names are shared with trees without off-limits paths.
	names = dir.visibleNames(names)
	if !r.Hidden || r.Match != "" {
		names = r.filterNames(names)
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

// filterNames returns the names that the request selects.
func (r ListRequest) filterNames(names []string) []string {
	words := strings.Fields(strings.ToLower(r.Match))
	selected := make([]string, 0, min(len(names), 1024))
	for _, name := range names {
		if (r.Hidden || name[0] != '.') && matchesWords(name, words) {
			selected = append(selected, name)
		}
	}
	return selected
}

// matchesWords reports whether a name contains all words, given in lower case, and none of those
// after a "!".
func matchesWords(name string, words []string) bool {
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

// namesFor returns all names in a folder. For a page after the first they are sorted and cached for
// the next one, unless n is nil.
func (n *Names) namesFor(dir *openDir, r ListRequest) ([]string, error) {
	if r.After == "" && r.Match == "" {
		return readNames(dir)
	}
	// Taken before reading, so that a later change is not missed.
	read := time.Now()
	folder, err := dir.Stat(".")
	if err != nil {
		return nil, err
	}
	if n != nil {
		if names := n.lookupNames(folder, r.After == ""); names != nil {
			return names, nil
		}
	}
	names, err := readNames(dir)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	if n != nil {
		n.cacheNames(folder, read, names)
	}
	return names, nil
}

// readNames reads the names in a directory.
func readNames(dir *openDir) ([]string, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

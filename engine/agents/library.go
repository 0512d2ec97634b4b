package agents

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tandem/engine/files"
)

//go:embed rules/*.toml
var embedded embed.FS

const (
	// rulesLook is the least time between two looks whether the person's rules have changed.
	rulesLook = time.Second
	maxRule   = 256 << 10 // bytes of one of the person's files
)

// A Library has the rules: those of this package, and the person's own, which take the
// place of those with the same name.
type Library struct {
	dir  string            // of the person's; "" for none
	tell func(wrong error) // what is wrong with them, once for each change

	mu     sync.Mutex
	looked time.Time
	seen   string // the person's files as they were read
	own    []Rule // those of this package
	rules  []Rule
	number int // counts the changes
}

// NewLibrary makes the library with the person's rules in dir, which need not be there.
// tell must not block.
func NewLibrary(dir string, tell func(error)) *Library { return &Library{dir: dir, tell: tell} }

// Rules are those that hold now. number is another one after each change.
func (l *Library) Rules() (rules []Rule, number int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.own == nil {
		l.own = ownRules()
		l.rules = l.own
	}
	if l.dir != "" && time.Since(l.looked) >= rulesLook {
		l.looked = time.Now()
		l.refresh()
	}
	return l.rules, l.number
}

// ownRules are those of this package; a test reads them all.
func ownRules() (rules []Rule) {
	names, _ := fs.Glob(embedded, "rules/*.toml")
	for _, name := range names {
		text, _ := embedded.ReadFile(name)
		if rule, err := Parse(text); err == nil {
			rules = append(rules, rule)
		}
	}
	return rules
}

// refresh reads the person's rules if they are others than before. A file with a mistake
// is told of, and what stands in the others holds.
func (l *Library) refresh() {
	paths, _ := filepath.Glob(filepath.Join(l.dir, "*.toml"))
	slices.Sort(paths)
	var now strings.Builder
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintln(&now, path, info.Size(), info.ModTime().UnixNano())
		}
	}
	if now.String() == l.seen {
		return
	}
	l.seen = now.String()
	l.number++
	l.rules = l.own
	for _, path := range paths {
		rule, err := readRule(path)
		if err != nil {
			l.tell(fmt.Errorf("%s: %w", path, err))
			continue
		}
		l.rules = slices.DeleteFunc(slices.Clone(l.rules), func(r Rule) bool { return r.Name == rule.Name })
		l.rules = append([]Rule{rule}, l.rules...)
	}
}

func readRule(path string) (Rule, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil { // dotfiles are often links
		path = real
	}
	text, _, err := files.ReadRegular(&files.Tree{}, path, maxRule)
	if err != nil {
		return Rule{}, err
	}
	return Parse(text)
}

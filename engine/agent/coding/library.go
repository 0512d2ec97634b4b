package coding

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

	"tandem/engine/workspace/files"
)

//go:embed rules/*.toml
var embeddedFiles embed.FS

const (
	// rulesCheckInterval is the minimum time between checks for changed rules.
	rulesCheckInterval = time.Second
	maxRuleFile        = 256 << 10 // size of a user's file in bytes
)

// A Library holds the embedded rules and the user's own, which replace embedded ones of the same
// name.
type Library struct {
	dir     string            // of the user's rules; "" for none
	onError func(wrong error) // called once per change of a file with a mistake

	mu         sync.Mutex
	checked    time.Time // time of the last check
	fileStates string    // names, sizes and times of the user's files when read
	embedded   []Rule    // rules in this package
	rules      []Rule
	version    int // incremented by every change
}

// NewLibrary returns a library with the user's rules in dir, which need not exist. tell receives
// errors and must not block.
func NewLibrary(dir string, tell func(error)) *Library { return &Library{dir: dir, onError: tell} }

// Rules returns the current rules. number differs after each change.
func (l *Library) Rules() (rules []Rule, number int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.embedded == nil {
		l.embedded = parseEmbedded()
		l.rules = l.embedded
	}
	if l.dir != "" && time.Since(l.checked) >= rulesCheckInterval {
		l.checked = time.Now()
		l.reloadChanged()
	}
	return l.rules, l.version
}

// parseEmbedded parses the embedded rules; a test checks them all.
func parseEmbedded() (rules []Rule) {
	names, _ := fs.Glob(embeddedFiles, "rules/*.toml")
	for _, name := range names {
		text, _ := embeddedFiles.ReadFile(name)
		if rule, err := Parse(text); err == nil {
			rules = append(rules, rule)
		}
	}
	return rules
}

// reloadChanged reads the user's rules if their files have changed. A file with a mistake is
// reported and skipped.
func (l *Library) reloadChanged() {
	paths, _ := filepath.Glob(filepath.Join(l.dir, "*.toml"))
	slices.Sort(paths)
	var now strings.Builder
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintln(&now, path, info.Size(), info.ModTime().UnixNano())
		}
	}
	if now.String() == l.fileStates {
		return
	}
	l.fileStates = now.String()
	l.version++
	l.rules = l.embedded
	for _, path := range paths {
		rule, err := readRule(path)
		if err != nil {
			l.onError(fmt.Errorf("%s: %w", path, err))
			continue
		}
		l.rules = slices.DeleteFunc(slices.Clone(l.rules), func(r Rule) bool { return r.Name == rule.Name })
		// The first match counts, so the user's rules go first.
		l.rules = append([]Rule{rule}, l.rules...)
	}
}

func readRule(path string) (Rule, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil { // dotfiles are often links
		path = real
	}
	text, _, err := new(files.Tree).ReadRegular(path, maxRuleFile)
	if err != nil {
		return Rule{}, err
	}
	return Parse(text)
}

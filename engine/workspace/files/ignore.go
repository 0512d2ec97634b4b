package files

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/git-pkgs/gitignore"
)

const maxIgnoreFile = 1 << 20 // size limit of a rules file, in bytes

// ignoreRules are the ignore rules of one folder, linked to those of the folders above. The nearest
// rule wins.
type ignoreRules struct {
	rules  *gitignore.Matcher
	above  *ignoreRules
	folder string // relative to the folder searched, with a trailing slash; "" for the folder searched and those above
	prefix string // for a folder above: the path from it to the folder searched, with a trailing slash
}

// ignores reports whether rel is ignored. It is relative to the folder searched, which is "".
func (g *ignoreRules) ignores(rel string, dir bool) bool {
	if dir && rel != "" {
		rel += "/"
	}
	for ; g != nil; g = g.above {
		if r := g.rules.MatchDetail(g.prefix + strings.TrimPrefix(rel, g.folder)); r.Matched {
			return r.Ignored
		}
	}
	return false
}

// enterFolder returns the rules for dir, given its entries. A nested repository does not inherit the
// rules around it.
func (g *ignoreRules) enterFolder(dir *openDir, rel string, from ruleFiles, entries []fs.DirEntry) *ignoreRules {
	var files, git bool
	for _, e := range entries {
		switch e.Name() {
		case ".gitignore", ".ignore", from.own:
			files = true
		case ".git":
			git = true
		}
	}
	if !files && !git {
		return g
	}
	next := from.readRules(dir, git)
	if next.folder = rel; rel != "" {
		next.folder += "/"
	}
	if !git {
		next.above = g
	}
	return next
}

// ruleFiles says where rules are, besides .gitignore and .ignore.
type ruleFiles struct {
	home string // its .config/git/ignore applies in repositories; "" for none
	own  string // name of a further file, of the program whose work is done: .rgignore or .fdignore
}

// readRules reads the rules in a folder, in ascending order of precedence.
func (from ruleFiles) readRules(dir *openDir, git bool) *ignoreRules {
	g := &ignoreRules{rules: &gitignore.Matcher{}}
	if git {
		if root, err := openGuarded(from.home, dir.offLimits); err == nil && from.home != "" {
			g.addFile(root, ".config/git/ignore")
			root.Close()
		}
		g.addFile(dir, ".git/info/exclude")
	}
	g.addFile(dir, ".gitignore")
	g.addFile(dir, ".ignore")
	g.addFile(dir, from.own)
	return g
}

// addFile adds the rules in a file, if it exists and is readable.
func (g *ignoreRules) addFile(dir *openDir, name string) {
	f, info, err := openIn(dir, name)
	if err != nil {
		return
	}
	defer f.Close()
	if !info.Mode().IsRegular() {
		return
	}
	if data, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile)); err == nil {
		g.rules.AddPatterns(bytes.TrimPrefix(data, []byte(bom)), "")
	}
}

// rulesAbove returns the rules of the folders above p, up to its repository's root. It returns nil
// if p is not in a repository or the root cannot be reached, and if p itself is ignored: everything
// in it would be ignored too, but the caller has named it.
func (s Searcher) rulesAbove(p location, from ruleFiles) *ignoreRules {
	if hasEntry(p.root, filepath.Join(p.rel, ".git")) {
		return nil
	}
	var all []*ignoreRules // innermost first
	prefix := ""
	for dir := p.real; dir != "/"; {
		prefix = filepath.Base(dir) + "/" + prefix
		dir = filepath.Dir(dir)
		g, git, err := s.rulesAt(dir, from)
		if err != nil {
			return nil
		}
		g.prefix = prefix
		if len(all) > 0 {
			all[len(all)-1].above = g
		}
		all = append(all, g)
		switch {
		case git && all[0].ignores("", true):
			return nil
		case git:
			return all[0]
		}
	}
	return nil
}

func (s Searcher) rulesAt(path string, from ruleFiles) (*ignoreRules, bool, error) {
	p, err := s.Tree.locate(path, lookup{verb: "read rules"})
	if err != nil {
		return nil, false, err
	}
	defer p.close()
	dir, err := p.root.OpenRoot(asFolder(p.rel))
	if err != nil {
		return nil, false, err
	}
	defer dir.Close()
	git := hasEntry(dir, ".git")
	return from.readRules(dir, git), git, nil
}

func hasEntry(dir *openDir, name string) bool {
	_, err := dir.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

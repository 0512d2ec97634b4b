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

const mostIgnore = 1 << 20 // bytes of a file of rules

// ignores are the rules of one folder and, behind them, of those above it. Rules
// nearer to a file count first.
type ignores struct {
	rules  *gitignore.Matcher
	above  *ignores
	folder string // below the folder searched, with a slash at its end; "" for that itself and those above
	prefix string // for a folder above: the way from it to the folder searched, with a slash at its end
}

// match reports whether git leaves out what lies at rel below the folder
// searched.
func (g *ignores) match(rel string, dir bool) bool {
	if dir {
		rel += "/"
	}
	for ; g != nil; g = g.above {
		if r := g.rules.MatchDetail(g.prefix + strings.TrimPrefix(rel, g.folder)); r.Matched {
			return r.Ignored
		}
	}
	return false
}

// enter is what counts in a folder whose entries these are. A repository of its
// own knows nothing of what is around it.
func (g *ignores) enter(dir *opened, rel, home string, entries []fs.DirEntry) *ignores {
	var files, git bool
	for _, e := range entries {
		switch e.Name() {
		case ".gitignore", ".ignore":
			files = true
		case ".git":
			git = true
		}
	}
	if !files && !git {
		return g
	}
	next := rulesOf(dir, git, home)
	if next.folder = rel; rel != "" {
		next.folder += "/"
	}
	if !git {
		next.above = g
	}
	return next
}

// rulesOf reads the rules in a folder; those that count more come last.
func rulesOf(dir *opened, git bool, home string) *ignores {
	g := &ignores{rules: &gitignore.Matcher{}}
	if git {
		if root, err := openGuarded(home, dir.closed); err == nil && home != "" {
			g.add(root, ".config/git/ignore")
			root.Close()
		}
		g.add(dir, ".git/info/exclude")
	}
	g.add(dir, ".gitignore")
	g.add(dir, ".ignore")
	return g
}

// add reads a file of rules, if there is one that can be read.
func (g *ignores) add(dir *opened, name string) {
	f, info, err := openIn(dir, name)
	if err != nil {
		return
	}
	defer f.Close()
	if !info.Mode().IsRegular() {
		return
	}
	if data, err := io.ReadAll(io.LimitReader(f, mostIgnore)); err == nil {
		g.rules.AddPatterns(bytes.TrimPrefix(data, []byte(bom)), "")
	}
}

// ignoresAbove are the rules of the folders above p, up to the one that holds
// the repository, if p lies in one and that is inside.
func (t *Tree) ignoresAbove(p place) *ignores {
	if has(p.root, filepath.Join(p.rel, ".git")) {
		return nil
	}
	var all []*ignores // innermost first
	prefix := ""
	for dir := p.real; dir != "/"; {
		prefix = filepath.Base(dir) + "/" + prefix
		dir = filepath.Dir(dir)
		g, git, err := t.rulesAt(dir)
		if err != nil {
			return nil
		}
		g.prefix = prefix
		if len(all) > 0 {
			all[len(all)-1].above = g
		}
		if all = append(all, g); git {
			return all[0]
		}
	}
	return nil
}

func (t *Tree) rulesAt(path string) (*ignores, bool, error) {
	p, err := t.locate(path, way{verb: "read rules"})
	if err != nil {
		return nil, false, err
	}
	defer p.close()
	dir, err := p.root.OpenRoot(asFolder(p.rel))
	if err != nil {
		return nil, false, err
	}
	defer dir.Close()
	git := has(dir, ".git")
	return rulesOf(dir, git, t.Home), git, nil
}

func has(dir *opened, name string) bool {
	_, err := dir.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

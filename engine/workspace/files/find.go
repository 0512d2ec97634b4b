package files

import (
	"context"
	"errors"

	"tandem/engine/record/search"
)

const defaultFind = 1000

// A FindResult lists the entries found.
type FindResult struct {
	Paths   []string // relative to the folder searched, sorted; folders end with /
	Limited bool     // more entries match
}

// A Searcher finds files of a Tree, and text in them.
type Searcher struct{ Tree *Tree }

// Find returns the files, links and folders whose names match a glob; if the glob has a slash,
// their paths must match. A glob without capitals ignores case. Hidden entries are included;
// entries ignored by git, .git and node_modules are not.
func (s Searcher) Find(ctx context.Context, pattern, path string, limit int) (out FindResult, err error) {
	err = s.Tree.runConfined(func() (err error) {
		out, err = s.findPaths(ctx, pattern, path, limit)
		return err
	})
	return out, err
}

func (s Searcher) findPaths(ctx context.Context, pattern, path string, limit int) (FindResult, error) {
	if limit < 0 {
		return FindResult{}, errorf(Invalid, "find %s: limit cannot be negative", pattern)
	}
	if limit == 0 {
		limit = defaultFind
	}
	g, err := compileGlob(pattern, search.Smart(pattern))
	if err != nil {
		return FindResult{}, err
	}
	out, size := FindResult{Paths: []string{}}, 0
	visit := func(e entry) error {
		if !g.Match(e.rel, e.mode.IsDir()) {
			return nil
		}
		if len(out.Paths) == limit || size > maxBytes {
			out.Limited = true
			return errEnough
		}
		rel := e.rel
		if e.mode.IsDir() {
			rel += "/"
		}
		out.Paths, size = append(out.Paths, rel), size+len(rel)
		return nil
	}
	skip := func(_, name string, _, ignored bool) bool {
		return ignored || name == ".git" || name == "node_modules"
	}
	err = s.walkFolder(ctx, "find in", path, ".fdignore", skip, visit)
	if errors.Is(err, errTooMany) {
		out.Limited, err = true, nil
	}
	if err != nil {
		return FindResult{}, err
	}
	return out, nil
}

// compileGlob compiles a caller's glob, with an Error for an invalid one.
func compileGlob(pattern string, fold bool) (search.Glob, error) {
	g, err := search.CompileGlob(pattern, fold)
	if err != nil {
		return g, errorf(Invalid, "read glob %q: %v", pattern, err)
	}
	return g, nil
}

// walkFolder visits everything below the folder at path. ignoreFile is the name of a file with rules
// besides .gitignore and .ignore.
func (s Searcher) walkFolder(ctx context.Context, verb, path, ignoreFile string, skip filter, visit func(entry) error) error {
	p, err := s.Tree.locate(path, lookup{verb: verb})
	if err != nil {
		return err
	}
	defer p.close()
	info, err := p.root.Stat(p.rel)
	if err != nil {
		return fileError(verb, p.path, err)
	}
	if !info.IsDir() {
		return errorf(NotDir, "%s %s: it is not a folder", verb, p.path)
	}
	f, err := openSharedDir(p.root, p.rel)
	if err != nil {
		return fileError(verb, p.path, err)
	}
	defer f.release()
	w := walk{ctx: ctx, rules: ruleFiles{home: s.Tree.Home, own: ignoreFile}, skip: skip, visit: visit}
	err = w.walkDir(f, "", s.rulesAbove(p, w.rules))
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

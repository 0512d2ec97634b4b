package files

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	mostGitFile = 1 << 20   // bytes of a small file of git's
	mostRefs    = 256 << 20 // bytes of the file that holds all packed references
	mostSymrefs = 5         // references that only name another one, as in git
)

// A repository is where git keeps what it knows of a folder
// (gitrepository-layout(5)).
type repository struct {
	worktree string // absolute and without links, as all of them
	dir      string // of this worktree: HEAD, index
	common   string // of all its worktrees: config, objects, refs; mostly dir itself
}

// A gitReader reads what git keeps, as far as that is inside a tree.
type gitReader struct{ tree *Tree }

// repository finds the one that a folder lies in. It must lie inside, as must
// all of it.
func (g gitReader) repository(folder string) (repository, bool) {
	_, first, err := g.at(folder)
	for dir := folder; err == nil; dir = filepath.Dir(dir) {
		_, info, err := g.at(dir)
		if err != nil || deviceOf(info) != deviceOf(first) {
			break
		}
		git, info, err := g.at(filepath.Join(dir, ".git"))
		switch {
		case err == nil && info.Mode().IsRegular():
			text, _ := g.text(git)
			target, ok := strings.CutPrefix(text, "gitdir: ")
			if !ok {
				return repository{}, false
			}
			return g.repositoryOf(dir, absoluteIn(dir, target))
		case err == nil && info.IsDir():
			if repo, ok := g.repositoryOf(dir, git); ok {
				return repo, true
			}
		}
		if _, bare := g.repositoryOf(dir, dir); bare || dir == "/" {
			break
		}
	}
	return repository{}, false
}

// repositoryOf is the repository of a worktree if one is at dir.
func (g gitReader) repositoryOf(worktree, dir string) (repository, bool) {
	if _, err := g.text(filepath.Join(dir, "HEAD")); err != nil {
		return repository{}, false
	}
	dir, _, err := g.at(dir)
	if err != nil {
		return repository{}, false
	}
	common := dir
	if text, err := g.text(filepath.Join(dir, "commondir")); err == nil {
		common = absoluteIn(dir, text)
	}
	for _, part := range []string{"refs", "objects", "."} {
		real, info, err := g.at(filepath.Join(common, part))
		if err != nil || !info.IsDir() {
			return repository{}, false
		}
		if part == "." {
			common = real
		}
	}
	return repository{worktree: worktree, dir: dir, common: common}, true
}

// ours reports whether all of a repository belongs to this user.
func (g gitReader) ours(r repository) bool {
	for _, path := range []string{r.worktree, r.dir, r.common} {
		_, info, err := g.at(path)
		if err != nil {
			return false
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
			return false
		}
	}
	return true
}

// head is the branch that is checked out, or "", and the commit, or "" if there
// is none yet.
func (g gitReader) head(r repository) (branch, commit string, err error) {
	text, err := g.text(filepath.Join(r.dir, "HEAD"))
	if err != nil || isHash(text) {
		return "", text, err
	}
	name := ""
	for range mostSymrefs {
		next, symbolic := strings.CutPrefix(text, "ref:")
		if next = strings.TrimSpace(next); !symbolic || !strings.HasPrefix(next, "refs/") || !filepath.IsLocal(next) {
			break
		}
		if name = next; branch == "" {
			branch = strings.TrimPrefix(name, "refs/heads/")
		}
		if text, err = g.text(filepath.Join(r.common, name)); err != nil {
			commit, err = g.packed(r, name)
			return branch, commit, err
		}
		if isHash(text) {
			return branch, text, nil
		}
	}
	return "", "", errors.New("HEAD names neither a branch nor a commit")
}

// packed is the commit of a reference among those that are kept in one file.
func (g gitReader) packed(r repository, name string) (string, error) {
	p, err := g.tree.locate(filepath.Join(r.common, "packed-refs"), way{verb: "read references"})
	if err != nil {
		return "", err
	}
	defer p.close()
	f, info, err := p.open("read references")
	if errors.Is(err, NotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info.Size() > mostRefs {
		return "", errorf(TooLarge, "read references %s: it is larger than %d MB", p.path, mostRefs>>20)
	}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if hash, ok := strings.CutSuffix(lines.Text(), " "+name); ok && isHash(hash) {
			return hash, nil
		}
	}
	return "", lines.Err()
}

func isHash(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// at is what a path leads to, links followed.
func (g gitReader) at(path string) (real string, info fs.FileInfo, err error) {
	p, err := g.tree.locate(path, way{verb: "look at"})
	if err != nil {
		return "", nil, err
	}
	defer p.close()
	info, err = p.root.Lstat(p.rel)
	return p.real, info, err
}

// bytes reads one of git's small files.
func (g gitReader) bytes(path string) ([]byte, error) {
	p, err := g.tree.locate(path, way{verb: "read"})
	if err != nil {
		return nil, err
	}
	defer p.close()
	data, _, err := p.whole("read", mostGitFile)
	return data, err
}

// text is a small file of one line, without the line's ending.
func (g gitReader) text(path string) (string, error) {
	data, err := g.bytes(path)
	return strings.TrimRight(string(data), "\r\n"), err
}

func absoluteIn(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func deviceOf(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Dev)
	}
	return 0
}

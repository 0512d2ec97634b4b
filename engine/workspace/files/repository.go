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
	maxGitFile    = 1 << 20   // size limit of git's small files, in bytes
	maxPackedRefs = 256 << 20 // size limit of packed-refs, in bytes
	maxSymrefs    = 5         // maximum chain of symbolic references, as in git
)

// A repository is the location of git's data for a folder (gitrepository-layout(5)). All paths are
// absolute, without links.
type repository struct {
	worktree string
	dir      string // data of this worktree: HEAD, index
	common   string // data shared by all worktrees: config, objects, refs; usually equal to dir
}

// Git reads the repositories inside a Tree.
type Git struct{ Tree *Tree }

// findRepository returns the repository around folder. All of it must be inside the tree, and, as in git, on
// one file system.
func (g Git) findRepository(folder string) (repository, bool) {
	_, first, err := g.statPath(folder)
	for dir := folder; err == nil; dir = filepath.Dir(dir) {
		_, info, err := g.statPath(dir)
		if err != nil || deviceOf(info) != deviceOf(first) {
			break
		}
		git, info, err := g.statPath(filepath.Join(dir, ".git"))
		switch {
		case err == nil && info.Mode().IsRegular():
			text, _ := g.readLine(git)
			target, ok := strings.CutPrefix(text, "gitdir: ")
			if !ok {
				return repository{}, false
			}
			return g.openRepository(dir, absoluteIn(dir, target))
		case err == nil && info.IsDir():
			if repo, ok := g.openRepository(dir, git); ok {
				return repo, true
			}
		}
		// Inside a bare repository, or in a repository's own folder, git looks no further up.
		if _, bare := g.openRepository(dir, dir); bare || dir == "/" {
			break
		}
	}
	return repository{}, false
}

// openRepository returns the repository at dir with the given worktree, if there is one.
func (g Git) openRepository(worktree, dir string) (repository, bool) {
	if _, err := g.readLine(filepath.Join(dir, "HEAD")); err != nil {
		return repository{}, false
	}
	dir, _, err := g.statPath(dir)
	if err != nil {
		return repository{}, false
	}
	common := dir
	if text, err := g.readLine(filepath.Join(dir, "commondir")); err == nil {
		common = absoluteIn(dir, text)
	}
	for _, part := range []string{"refs", "objects", "."} {
		real, info, err := g.statPath(filepath.Join(common, part))
		if err != nil || !info.IsDir() {
			return repository{}, false
		}
		if part == "." {
			common = real
		}
	}
	return repository{worktree: worktree, dir: dir, common: common}, true
}

// isOwn reports whether the whole repository belongs to this user.
func (g Git) isOwn(r repository) bool {
	for _, path := range []string{r.worktree, r.dir, r.common} {
		_, info, err := g.statPath(path)
		if err != nil {
			return false
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != os.Geteuid() {
			return false
		}
	}
	return true
}

// readHead returns the branch that is checked out and its commit. The branch is "" for a detached
// HEAD, and the commit is "" for a branch without commits. A reference may be symbolic, that is,
// name another one; readHead follows up to maxSymrefs of them, and returns the name of the first.
func (g Git) readHead(r repository) (branch, commit string, err error) {
	text, err := g.readLine(filepath.Join(r.dir, "HEAD"))
	if err != nil || isHash(text) {
		return "", text, err
	}
	for range maxSymrefs {
		name, symbolic := strings.CutPrefix(text, "ref:")
		name = strings.TrimSpace(name)
		if !symbolic || !strings.HasPrefix(name, "refs/") || !filepath.IsLocal(name) {
			break
		}
		if branch == "" {
			branch = strings.TrimPrefix(name, "refs/heads/")
		}
		if text, err = g.readLine(filepath.Join(r.common, name)); err != nil {
			commit, err = g.packedRef(r, name)
			return branch, commit, err
		}
		if isHash(text) {
			return branch, text, nil
		}
	}
	return "", "", errors.New("HEAD names neither a branch nor a commit")
}

// packedRef returns the commit of a reference stored in packed-refs, or "".
func (g Git) packedRef(r repository, name string) (string, error) {
	p, err := g.Tree.locate(filepath.Join(r.common, "packed-refs"), lookup{verb: "read references"})
	if err != nil {
		return "", err
	}
	defer p.close()
	f, info, err := p.openRegular("read references")
	if errors.Is(err, NotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info.Size() > maxPackedRefs {
		return "", errorf(TooLarge, "read references %s: it is larger than %d MB", p.path, maxPackedRefs>>20)
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

// statPath returns the real path and the file info of path, following links.
func (g Git) statPath(path string) (real string, info fs.FileInfo, err error) {
	p, err := g.Tree.locate(path, lookup{verb: "look at"})
	if err != nil {
		return "", nil, err
	}
	defer p.close()
	info, err = p.root.Lstat(p.rel)
	return p.real, info, err
}

// readFile reads one of git's small files.
func (g Git) readFile(path string) ([]byte, error) {
	p, err := g.Tree.locate(path, lookup{verb: "read"})
	if err != nil {
		return nil, err
	}
	defer p.close()
	data, _, err := p.readWhole("read", maxGitFile)
	return data, err
}

// readLine reads a file of one line, without its line ending.
func (g Git) readLine(path string) (string, error) {
	data, err := g.readFile(path)
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

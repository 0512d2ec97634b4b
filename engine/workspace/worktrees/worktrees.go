package worktrees

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// gitTimeout bounds a run of git: checking out a large repository takes a while.
const gitTimeout = 5 * time.Minute

// maxNames is the maximum number of names tried for a worktree without one.
const maxNames = 1000

// Trees creates and removes worktrees.
type Trees struct {
	Private string // a directory only this user can write
}

// A Worktree is a directory of a repository with its own branch.
type Worktree struct {
	Repository string // the repository's main directory
	Path       string
	Branch     string // "" for none
	Ahead      int    // number of commits missing in the main directory's branch
}

// Dir returns the directory for the worktrees of a repository, beside it.
func Dir(repository string) string { return repository + ".worktrees" }

// Add creates a worktree of the repository containing dir, with a new branch from base. If base is
// empty, the branch starts at the commit checked out in dir. If name is empty, Add chooses one.
func (t Trees) Add(ctx context.Context, dir, name, base string) (w Worktree, err error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	if w.Repository, err = t.mainDir(ctx, dir); err != nil {
		return w, err
	}
	if base == "" {
		base = "HEAD"
	}
	commit, err := t.git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", base+"^{commit}")
	if err != nil {
		return w, fmt.Errorf("%s is not a commit", base)
	}
	if name == "" {
		name = t.freeName(ctx, w.Repository)
	}
	if _, err := t.git(ctx, dir, "check-ref-format", "--branch", name); err != nil || strings.HasPrefix(name, "-") {
		return w, fmt.Errorf("%s is not a valid branch name", name)
	}
	w.Branch, w.Path = name, pathOf(w.Repository, name)
	if _, err := os.Lstat(w.Path); err == nil {
		return w, fmt.Errorf("the folder of branch %s: %w", name, os.ErrExist)
	}
	if _, err := t.git(ctx, w.Repository, "worktree", "add", "--no-checkout", "--no-track", "-b", name, "--", w.Path, commit); err != nil {
		return w, err
	}
	if err := t.checkOutCommit(ctx, w.Path, commit); err != nil {
		// Leave neither a half-filled directory nor its branch behind.
		_, undo := t.git(ctx, w.Repository, "worktree", "remove", "--force", "--", w.Path)
		if undo == nil {
			_, undo = t.git(ctx, w.Repository, "branch", "-D", "--", name)
		}
		return w, errors.Join(err, undo)
	}
	return w, nil
}

func pathOf(repository, name string) string {
	return filepath.Join(Dir(repository), strings.ReplaceAll(name, "/", "-"))
}

// freeName returns a name that no branch or directory has.
func (t Trees) freeName(ctx context.Context, repository string) string {
	for n := 1; ; n++ {
		name := "work-" + strconv.Itoa(n)
		// Check both: a directory may remain after its branch was deleted.
		_, taken := t.git(ctx, repository, "rev-parse", "--verify", "--quiet", "refs/heads/"+name)
		_, there := os.Lstat(pathOf(repository, name))
		if taken != nil && there != nil || n == maxNames {
			return name
		}
	}
}

// mainDir returns the main directory of the repository containing dir.
func (t Trees) mainDir(ctx context.Context, dir string) (string, error) {
	all, err := t.listAll(ctx, dir)
	if err != nil {
		return "", err
	}
	return all[0].Path, nil
}

// List returns the worktrees of the repository containing dir, except its main directory.
func (t Trees) List(ctx context.Context, dir string) ([]Worktree, error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	all, err := t.listAll(ctx, dir)
	if err != nil {
		return nil, err
	}
	main := all[0].Path
	for i := range all {
		all[i].Repository = main
		if all[i].Branch != "" && i > 0 {
			n, err := t.git(ctx, main, "rev-list", "--count", "HEAD..refs/heads/"+all[i].Branch, "--")
			if err != nil {
				return nil, err
			}
			all[i].Ahead, _ = strconv.Atoi(n) // git counts
		}
	}
	return all[1:], nil
}

// listAll returns all worktrees, the main one first; see Porcelain Format in git-worktree(1).
func (t Trees) listAll(ctx context.Context, dir string) (all []Worktree, err error) {
	out, err := t.git(ctx, dir, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	for field := range strings.SplitSeq(out, "\x00") {
		name, value, _ := strings.Cut(field, " ")
		switch {
		case name == "worktree":
			all = append(all, Worktree{Path: value})
		case name == "branch" && len(all) > 0:
			all[len(all)-1].Branch = strings.TrimPrefix(value, "refs/heads/")
		case name == "bare" && len(all) == 1:
			return nil, errors.New("the repository is bare: it has no files of its own")
		}
	}
	if len(all) == 0 {
		return nil, errors.New("git lists no worktrees")
	}
	return all, nil
}

// FindMoved returns where a directory of a worktree made by Add is now, after the worktree was moved
// with git; false if that is unknown.
func (t Trees) FindMoved(ctx context.Context, path string) (moved string, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	for dir := filepath.Clean(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		repository, ok := strings.CutSuffix(filepath.Dir(dir), Dir(""))
		if !ok {
			continue
		}
		all, _ := t.listAll(ctx, repository) // fails if there is no such repository
		for _, w := range all {
			if w.Branch != "" && w.Path != dir && pathOf(repository, w.Branch) == dir {
				return w.Path + strings.TrimPrefix(path, dir), true
			}
		}
	}
	return "", false
}

// Remove deletes a worktree with its contents. It deletes the branch too if the main directory's
// branch has all its commits, and reports whether it did.
func (t Trees) Remove(ctx context.Context, w Worktree) (branch bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	if _, err := t.git(ctx, w.Repository, "worktree", "remove", "--force", "--", w.Path); err != nil {
		return false, err
	}
	_ = os.Remove(Dir(w.Repository)) // succeeds only if it is empty
	if w.Branch == "" || w.Ahead > 0 {
		return false, nil
	}
	_, err = t.git(ctx, w.Repository, "branch", "-D", "--", w.Branch)
	return err == nil, err
}

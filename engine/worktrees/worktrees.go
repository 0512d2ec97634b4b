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

// patience bounds how long git may take: a checkout of a large repository takes its time.
const patience = 5 * time.Minute

// mostNames is how many names are tried for a worktree that has been given none.
const mostNames = 1000

// Trees makes and removes worktrees.
type Trees struct {
	Private string // a folder that nobody else writes
}

// A Worktree is a folder of a repository with a branch of its own.
type Worktree struct {
	Repository string // its main folder
	Path       string
	Branch     string // "" for none
	Ahead      int    // commits that the main folder's branch does not have
}

// Dir is where the worktrees of a repository are made: beside it.
func Dir(repository string) string { return repository + ".worktrees" }

// Add makes a worktree of the repository that a folder is in, with a new branch from base
// ("" for what is checked out there). Without a name it gets one.
func (t Trees) Add(ctx context.Context, dir, name, base string) (w Worktree, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if w.Repository, err = t.repository(ctx, dir); err != nil {
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
	if err := t.checkOut(ctx, w.Path, commit); err != nil {
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

// freeName is a name that no branch and no folder has.
func (t Trees) freeName(ctx context.Context, repository string) string {
	for n := 1; ; n++ {
		name := "work-" + strconv.Itoa(n)
		_, taken := t.git(ctx, repository, "rev-parse", "--verify", "--quiet", "refs/heads/"+name)
		_, there := os.Lstat(pathOf(repository, name))
		if taken != nil && there != nil || n == mostNames {
			return name
		}
	}
}

// repository is the main folder of the repository that a folder is in.
func (t Trees) repository(ctx context.Context, dir string) (string, error) {
	all, err := t.all(ctx, dir)
	if err != nil {
		return "", err
	}
	return all[0].Path, nil
}

// List gives the worktrees of the repository that a folder is in, but not its main folder.
func (t Trees) List(ctx context.Context, dir string) ([]Worktree, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	all, err := t.all(ctx, dir)
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

// all are the worktrees, the main one first (git-worktree(1), Porcelain Format).
func (t Trees) all(ctx context.Context, dir string) (all []Worktree, err error) {
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
			return nil, errors.New("the repository has no files of its own")
		}
	}
	if len(all) == 0 {
		return nil, errors.New("git tells no worktrees")
	}
	return all, nil
}

// Remove deletes a worktree, whatever is in it, and its branch if all commits of that are
// in the main folder's too.
func (t Trees) Remove(ctx context.Context, w Worktree) (branch bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := t.git(ctx, w.Repository, "worktree", "remove", "--force", "--", w.Path); err != nil {
		return false, err
	}
	_ = os.Remove(Dir(w.Repository)) // if it was the last
	if w.Branch == "" || w.Ahead > 0 {
		return false, nil
	}
	_, err = t.git(ctx, w.Repository, "branch", "-D", "--", w.Branch)
	return err == nil, err
}

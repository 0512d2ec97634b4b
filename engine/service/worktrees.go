package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/files"
	"tandem/engine/names"
	"tandem/engine/supervise"
	"tandem/engine/worktrees"
)

// Worktrees serves the operations on git's worktrees.
type Worktrees struct {
	Trees   worktrees.Trees
	Files   *Files
	Control *supervise.Control
}

// Handle serves the operations.
func (s *Worktrees) Handle(m *server.Mux) {
	server.Handle(m, api.WorktreeAdd, s.add)
	server.Handle(m, api.WorktreeList, s.list)
	server.Handle(m, api.WorktreeRemove, s.remove)
}

func (s *Worktrees) add(ctx context.Context, in api.WorktreeAddInput) (api.Worktree, error) {
	if !filepath.IsAbs(in.CWD) {
		return api.Worktree{}, notAbsolute("add worktree", in.CWD)
	}
	w, err := s.Trees.Add(ctx, in.CWD, in.Name, in.Base)
	if errors.Is(err, fs.ErrExist) {
		return api.Worktree{}, api.Errorf(api.CodeInvalid, "add worktree: the folder of branch %s already exists", names.Shown(w.Branch)).
			WithHint("start a session in it (--cwd " + w.Path + "), or choose another name")
	}
	if err != nil {
		return api.Worktree{}, api.Errorf(api.CodeInvalid, "add worktree: %s", names.Shown(err.Error()))
	}
	return api.Worktree{Path: w.Path, Branch: w.Branch, Repository: w.Repository}, nil
}

func notAbsolute(doing, path string) error {
	return api.Errorf(api.CodeInvalid, "%s: %s is not an absolute path", doing, names.ShownPath(path))
}

func (s *Worktrees) list(ctx context.Context, in api.WorktreeListInput) (out api.WorktreeListOutput, err error) {
	if !filepath.IsAbs(in.CWD) {
		return out, notAbsolute("list worktrees", in.CWD)
	}
	all, err := s.Trees.List(ctx, in.CWD)
	if err != nil {
		return out, api.Errorf(api.CodeInvalid, "list worktrees: %s", names.Shown(err.Error()))
	}
	out.Worktrees = []api.Worktree{}
	for _, w := range all {
		known, err := s.describe(ctx, w)
		if err != nil {
			return out, err
		}
		out.Worktrees = append(out.Worktrees, known)
	}
	return out, nil
}

// describe tells what there is in a worktree. What git does not tell of counts as changed.
func (s *Worktrees) describe(ctx context.Context, w worktrees.Worktree) (api.Worktree, error) {
	out := api.Worktree{Path: w.Path, Branch: w.Branch, Repository: w.Repository, Unmerged: w.Ahead}
	if _, err := os.Lstat(w.Path); errors.Is(err, fs.ErrNotExist) {
		out.Gone = true
		return out, nil
	}
	status, err := onFiles(ctx, s.Files, api.FileScope{}, func(t *files.Tree) (files.GitStatus, error) { return t.Git(ctx, w.Path) })
	out.Uncommitted = status.Changed
	out.Dirty = err != nil || status.Branch == "" || status.Changed > 0
	all, err := s.Control.ListProcesses(ctx)
	for _, p := range all {
		if !p.State.Ended() && (p.CWD == w.Path || strings.HasPrefix(p.CWD, w.Path+"/")) {
			out.Sessions = append(out.Sessions, p.ID)
		}
	}
	return out, err
}

func running(n int) string {
	if n == 1 {
		return "a session or process runs"
	}
	return fmt.Sprintf("%d sessions or processes run", n)
}

func (s *Worktrees) remove(ctx context.Context, in api.WorktreeRemoveInput) (out api.WorktreeRemoveOutput, err error) {
	if !filepath.IsAbs(in.Path) {
		return out, notAbsolute("remove worktree", in.Path)
	}
	if in.CWD != "" && !filepath.IsAbs(in.CWD) {
		return out, notAbsolute("remove worktree", in.CWD)
	}
	all, err := s.Trees.List(ctx, cmp.Or(in.CWD, in.Path))
	if err != nil {
		return out, api.Errorf(api.CodeInvalid, "remove worktree: %s", names.Shown(err.Error()))
	}
	for _, w := range all {
		if w.Path != filepath.Clean(in.Path) {
			continue
		}
		known, err := s.describe(ctx, w)
		switch {
		case err != nil:
			return out, err
		case len(known.Sessions) > 0:
			return out, api.Errorf(api.CodeConflict, "remove worktree %s: %s in it", names.ShownPath(w.Path), running(len(known.Sessions))).
				WithHint("stop what runs in it first")
		case known.Dirty && !in.Discard:
			return out, api.Errorf(api.CodeConflict, "remove worktree %s: it has changes that are not committed", names.ShownPath(w.Path)).
				WithHint("commit them, or discard them with the worktree")
		}
		out.Branch = w.Branch
		if out.BranchRemoved, err = s.Trees.Remove(ctx, w); err != nil {
			return out, api.Errorf(api.CodeInvalid, "remove worktree: %s", names.Shown(err.Error()))
		}
		return out, nil
	}
	return out, api.Errorf(api.CodeNotFound, "remove worktree %s: no such worktree", names.ShownPath(in.Path))
}

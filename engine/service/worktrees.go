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
	"tandem/engine/base/names"
	"tandem/engine/control/supervise"
	"tandem/engine/workspace/files"
	"tandem/engine/workspace/worktrees"
)

// Worktrees serves the operations on git's worktrees.
type Worktrees struct {
	Trees   worktrees.Trees
	Files   *Files
	Control *supervise.Control
}

// Handle registers the operations.
func (s *Worktrees) Handle(m *server.Mux) {
	server.Handle(m, api.WorktreeAdd, s.addWorktree)
	server.Handle(m, api.WorktreeList, s.listWorktrees)
	server.Handle(m, api.WorktreeRemove, s.removeWorktree)
}

func (s *Worktrees) addWorktree(ctx context.Context, in api.WorktreeAddInput) (api.Worktree, error) {
	if !filepath.IsAbs(in.CWD) {
		return api.Worktree{}, errNotAbsolute("add worktree", in.CWD)
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

func errNotAbsolute(doing, path string) error {
	return api.Errorf(api.CodeInvalid, "%s: %s is not an absolute path", doing, names.ShownPath(path))
}

func (s *Worktrees) listWorktrees(ctx context.Context, in api.WorktreeListInput) (out api.WorktreeListOutput, err error) {
	if !filepath.IsAbs(in.CWD) {
		return out, errNotAbsolute("list worktrees", in.CWD)
	}
	all, err := s.Trees.List(ctx, in.CWD)
	if err != nil {
		return out, api.Errorf(api.CodeInvalid, "list worktrees: %s", names.Shown(err.Error()))
	}
	out.Worktrees = []api.Worktree{}
	for _, w := range all {
		known, err := s.describeWorktree(ctx, w)
		if err != nil {
			return out, err
		}
		out.Worktrees = append(out.Worktrees, known)
	}
	return out, nil
}

// describeWorktree returns the state of a worktree. If git cannot tell, the worktree counts as
// changed.
func (s *Worktrees) describeWorktree(ctx context.Context, w worktrees.Worktree) (api.Worktree, error) {
	out := api.Worktree{Path: w.Path, Branch: w.Branch, Repository: w.Repository, Unmerged: w.Ahead}
	if _, err := os.Lstat(w.Path); errors.Is(err, fs.ErrNotExist) {
		out.Gone = true
		return out, nil
	}
	status, err := onFiles(ctx, s.Files, api.FileScope{}, func(t *files.Tree) (files.GitStatus, error) { return files.Git{Tree: t}.Status(ctx, w.Path) })
	out.Uncommitted = status.Changed
	// If the status is unknown, assume changes: they would be lost with the worktree.
	out.Dirty = err != nil || status.Branch == "" || status.Changed > 0
	all, err := s.Control.ListProcesses(ctx)
	for _, p := range all {
		if !p.State.Ended() && (p.CWD == w.Path || strings.HasPrefix(p.CWD, w.Path+"/")) {
			out.Sessions = append(out.Sessions, p.ID)
		}
	}
	return out, err
}

func runningPhrase(n int) string {
	if n == 1 {
		return "a session or process is running"
	}
	return fmt.Sprintf("%d sessions or processes are running", n)
}

func (s *Worktrees) removeWorktree(ctx context.Context, in api.WorktreeRemoveInput) (out api.WorktreeRemoveOutput, err error) {
	if !filepath.IsAbs(in.Path) {
		return out, errNotAbsolute("remove worktree", in.Path)
	}
	if in.CWD != "" && !filepath.IsAbs(in.CWD) {
		return out, errNotAbsolute("remove worktree", in.CWD)
	}
	all, err := s.Trees.List(ctx, cmp.Or(in.CWD, in.Path))
	if err != nil {
		return out, api.Errorf(api.CodeInvalid, "remove worktree: %s", names.Shown(err.Error()))
	}
	for _, w := range all {
		if w.Path != filepath.Clean(in.Path) {
			continue
		}
		known, err := s.describeWorktree(ctx, w)
		switch {
		case err != nil:
			return out, err
		case len(known.Sessions) > 0:
			return out, api.Errorf(api.CodeConflict, "remove worktree %s: %s in it", names.ShownPath(w.Path), runningPhrase(len(known.Sessions))).
				WithHint("stop what is running in it first")
		case known.Dirty && !in.Discard:
			return out, api.Errorf(api.CodeConflict, "remove worktree %s: it has uncommitted changes", names.ShownPath(w.Path)).
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

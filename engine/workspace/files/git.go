package files

import (
	"cmp"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"tandem/engine/workspace/git"
)

// gitTimeout limits how long git may run.
const gitTimeout = 10 * time.Second

// maxGitOutput limits the output of git, in bytes.
const maxGitOutput = 16 << 20

// A GitStatus is git's status of the entries of a folder.
type GitStatus struct {
	Branch  string
	Marks   map[string]string // the two letters of git status, by entry name
	Changed int               // number of files and new folders that differ from the last commit
	All     string            // letters for all other entries, if the folder lies in an untracked or ignored one
}

// Status returns the status of a folder. It is empty outside a repository, without git, and in a
// repository of another user not listed in the user's safe.directory.
//
// Git runs nothing: it is given a repository in a private folder, and so reads neither the
// configuration nor the hooks of the real one. Filters do not run either; a file that differs only
// by its filter is marked as changed until git itself has refreshed its index. A confined tree is
// an error: a sandboxed agent could write to the private folder.
func (g Git) Status(ctx context.Context, path string) (GitStatus, error) {
	// git trusts the private repository made for this call. A sandboxed agent could change it.
	if g.Tree.Confine != nil {
		return GitStatus{}, errorf(Denied, "ask git about %s: not available to agents in a sandbox", path).withHint("run git status")
	}
	p, err := g.Tree.locate(path, lookup{verb: "ask git about"})
	if err != nil {
		return GitStatus{}, err
	}
	p.close()
	program, err := exec.LookPath("git")
	if err != nil {
		return GitStatus{}, nil
	}
	repo, ok := g.findRepository(p.real)
	if !ok {
		return GitStatus{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	view, err := g.newView(ctx, program, repo)
	if err != nil {
		return GitStatus{}, gitError(ctx, err)
	}
	defer view.removeView()
	rel, _ := relBelow(repo.worktree, p.real)
	prefix := ""
	if rel != "." {
		prefix = rel + "/"
	}
	out, err := view.runStatus(ctx, prefix)
	if err != nil {
		return GitStatus{}, gitError(ctx, err)
	}
	status := parseGit(out, prefix)
	if view.branch != "" {
		status.Branch = view.branch
	}
	return status, nil
}

// Branch returns the checked-out branch of the repository around a folder, or the beginning of the
// commit's hash if HEAD is detached; "" outside a repository. It reads a few small files and runs
// nothing.
func (g Git) Branch(path string) (string, error) {
	if g.Tree.Confine != nil {
		return "", errorf(Denied, "find the branch of %s: not available to agents in a sandbox", path).withHint("run git status")
	}
	p, err := g.Tree.locate(path, lookup{verb: "find the branch of"})
	if err != nil {
		return "", err
	}
	p.close()
	repo, ok := g.findRepository(p.real)
	if !ok {
		return "", nil
	}
	branch, commit, err := g.readHead(repo)
	// A damaged repository has no branch.
	if err != nil {
		return "", nil
	}
	return cmp.Or(branch, commit[:min(len(commit), 8)]), nil
}

// gitError returns the error to report if git gave no answer, or nil for an empty status.
func gitError(ctx context.Context, err error) error {
	var e *Error
	switch {
	case errors.Is(err, git.ErrPipe):
		return errorf(Failed, "ask git: %v", err).withHint("remove the pipe")
	case ctx.Err() == nil && errors.As(err, &e):
		return e
	}
	return ctx.Err()
}

// parseGit parses the output of "git status --porcelain=v2 -z --branch" for the folder prefix
// (git-status(1), Porcelain Format Version 2).
func parseGit(out []byte, prefix string) GitStatus {
	status := GitStatus{Marks: map[string]string{}}
	commit := ""
	fields := strings.Split(string(out), "\x00")
	for i := 0; i < len(fields); i++ {
		line := fields[i]
		if len(line) < 3 {
			continue
		}
		if strings.IndexByte("12u?", line[0]) >= 0 {
			status.Changed++
		}
		switch line[0] {
		case '#':
			if name, ok := strings.CutPrefix(line, "# branch.head "); ok {
				status.Branch = name
			} else if id, ok := strings.CutPrefix(line, "# branch.oid "); ok {
				commit = id
			}
		case '1':
			status.mark(prefix, skipFields(line, 8), line[2:])
		case '2':
			status.mark(prefix, skipFields(line, 9), line[2:])
			i++ // skip the old name
		case 'u':
			status.mark(prefix, skipFields(line, 10), line[2:])
		case '?':
			status.mark(prefix, line[2:], "??")
		case '!':
			status.mark(prefix, line[2:], "!!")
		}
	}
	if status.Branch == "(detached)" {
		status.Branch = commit[:min(len(commit), 8)]
	}
	return status
}

// skipFields returns line without its first n fields.
func skipFields(line string, n int) string {
	for range n {
		_, rest, ok := strings.Cut(line, " ")
		if !ok {
			return ""
		}
		line = rest
	}
	return line
}

// mark records a path's letters for the entry of the folder it belongs to. For a subfolder, the
// first change wins; ignored and untracked files in it count less.
func (s *GitStatus) mark(prefix, path, letters string) {
	if len(letters) < 2 {
		return
	}
	letters = letters[:2]
	if strings.HasSuffix(path, "/") && strings.HasPrefix(prefix, path) {
		s.All = letters
		return
	}
	rel, ok := strings.CutPrefix(path, prefix)
	if !ok || rel == "" {
		return
	}
	rel = strings.TrimSuffix(rel, "/")
	name, _, inside := strings.Cut(filepath.ToSlash(rel), "/")
	old, seen := s.Marks[name]
	switch {
	case inside && letters == "!!":
	case !seen, old == "??" && letters != "!!":
		s.Marks[name] = letters
	}
}

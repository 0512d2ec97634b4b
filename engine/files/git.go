package files

import (
	"cmp"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"tandem/engine/git"
)

// gitPatience bounds how long git may take.
const gitPatience = 10 * time.Second

// mostGit bounds what is read of git's answer, in bytes.
const mostGit = 16 << 20

// A GitStatus is what git says of the entries of a folder.
type GitStatus struct {
	Branch  string
	Marks   map[string]string // the two letters of git status by name
	Changed int               // files and new folders that are not as they were committed
	All     string            // those of every other entry: the folder lies in one that git does not know, or ignores
}

// Git asks git about a folder. Outside a repository, in one that is somebody
// else's and that the person did not name as safe, and without git, the status is
// empty. Git is shown a repository that lies in a folder of ours, and so reads
// neither the configuration nor the hooks of the one that is looked at: there is
// nothing that it could be made to run. Filters are not run either; what differs
// from what they would make of it is marked until git has looked at it itself.
// A tree that is confined has no status.
func (t *Tree) Git(ctx context.Context, path string) (GitStatus, error) {
	if t.Confine != nil { // what git is to believe would lie where the sandbox can change it
		return GitStatus{}, errorf(Denied, "ask git about %s: not available to agents in a sandbox", path).hint("run git status")
	}
	p, err := t.locate(path, way{verb: "ask git about"})
	if err != nil {
		return GitStatus{}, err
	}
	p.close()
	program, err := exec.LookPath("git")
	if err != nil {
		return GitStatus{}, nil
	}
	repo, ok := gitReader{t}.repository(p.real)
	if !ok {
		return GitStatus{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, gitPatience)
	defer cancel()
	view, err := newGitView(ctx, t, program, repo)
	if err != nil {
		return GitStatus{}, unlessNone(ctx, err)
	}
	defer view.remove()
	rel, _ := below(repo.worktree, p.real)
	prefix := ""
	if rel != "." {
		prefix = rel + "/"
	}
	out, err := view.status(ctx, prefix)
	if err != nil {
		return GitStatus{}, unlessNone(ctx, err)
	}
	status := parseGit(out, prefix)
	if view.branch != "" {
		status.Branch = view.branch
	}
	return status, nil
}

// Branch is the branch that is checked out where a folder of a tree lies, or the beginning of
// the commit; "" outside a repository. It reads a few small files and runs nothing.
func Branch(t *Tree, path string) (string, error) {
	if t.Confine != nil {
		return "", errorf(Denied, "find the branch of %s: not available to agents in a sandbox", path).hint("run git status")
	}
	p, err := t.locate(path, way{verb: "find the branch of"})
	if err != nil {
		return "", err
	}
	p.close()
	g := gitReader{t}
	repo, ok := g.repository(p.real)
	if !ok {
		return "", nil
	}
	branch, commit, err := g.head(repo)
	if err != nil { // a damaged one has none
		return "", nil
	}
	return cmp.Or(branch, commit[:min(len(commit), 8)]), nil
}

// unlessNone is the error to tell when git has no answer, which is one itself.
func unlessNone(ctx context.Context, err error) error {
	var e *Error
	switch {
	case errors.Is(err, git.ErrPipe):
		return errorf(Failed, "ask git: %v", err).hint("remove the pipe")
	case ctx.Err() == nil && errors.As(err, &e):
		return e
	}
	return ctx.Err()
}

// parseGit reads "git status --porcelain=v2 -z --branch" of the folder that
// prefix leads to (git-status(1), Porcelain Format Version 2).
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
			status.mark(prefix, behind(line, 8), line[2:])
		case '2':
			status.mark(prefix, behind(line, 9), line[2:])
			i++ // the name before
		case 'u':
			status.mark(prefix, behind(line, 10), line[2:])
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

// behind is what follows n fields.
func behind(line string, n int) string {
	for range n {
		_, rest, ok := strings.Cut(line, " ")
		if !ok {
			return ""
		}
		line = rest
	}
	return line
}

// mark notes a path at the entry of the folder that it lies in. Of a folder the
// first change counts, and less what is ignored or not known in it.
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

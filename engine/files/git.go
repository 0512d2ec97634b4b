package files

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// gitPatience bounds how long git may take.
const gitPatience = 10 * time.Second

// mostGit bounds what is read of git's answer, in bytes.
const mostGit = 16 << 20

// A GitStatus is what git says of the entries of a folder.
type GitStatus struct {
	Branch string
	Marks  map[string]string // the two letters of git status by name
	All    string            // those of every other entry: the folder lies in one that git does not know, or ignores
}

// Git asks git about a folder. Outside a repository, and without git, the
// status is empty. Git is kept from running what the repository's
// configuration names, and from taking locks that another git would wait for.
func (t *Tree) Git(ctx context.Context, path string) (GitStatus, error) {
	p, err := t.locate(path, way{verb: "ask git about"})
	if err != nil {
		return GitStatus{}, err
	}
	p.close()
	ctx, cancel := context.WithTimeout(ctx, gitPatience)
	defer cancel()
	prefix, err := gitOutput(ctx, p.real, "rev-parse", "--show-prefix")
	if err != nil {
		return GitStatus{}, ctx.Err()
	}
	if runsPrograms(ctx, p.real) {
		return GitStatus{}, nil
	}
	out, err := gitOutput(ctx, p.real, "status", "--porcelain=v2", "--branch", "--ignored", "--ignore-submodules=dirty", "-z", "--", ".")
	if err != nil {
		return GitStatus{}, ctx.Err()
	}
	return parseGit(out, strings.TrimSuffix(string(prefix), "\n")), nil
}

// runsPrograms reports whether the repository itself says which programs git
// runs on files to compare them: nobody asked for that by looking at a folder.
// Those of Git LFS are well known, and what the person configured is theirs.
func runsPrograms(ctx context.Context, dir string) bool {
	out, err := gitOutput(ctx, dir, "config", "--show-scope", "-z", "--get-regexp", `^filter\..*\.(clean|process|smudge)$`)
	var failed *exec.ExitError
	if err != nil {
		return !errors.As(err, &failed) || failed.ExitCode() != 1 // which means that there is none
	}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		name, command, _ := strings.Cut(fields[i+1], "\n")
		own := fields[i] != "system" && fields[i] != "global" && fields[i] != "command"
		if own && !(strings.HasPrefix(name, "filter.lfs.") && strings.HasPrefix(command, "git-lfs ") && !strings.ContainsAny(command, ";&|`$<>\n")) {
			return true
		}
	}
	return false
}

func gitOutput(ctx context.Context, dir string, args ...string) ([]byte, error) {
	args = append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "submodule.recurse=false"}, args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out := &bounded{most: mostGit}
	cmd.Stdout = out
	err := cmd.Run()
	return out.Bytes(), err
}

// A bounded buffer lets go of what is too much.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:max(min(len(p), b.most-b.Len()), 0)])
	return len(p), nil
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

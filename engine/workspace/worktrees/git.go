// Package worktrees creates and removes git worktrees: directories beside a repository, each with
// its own branch. git runs as the user, but an agent may control the repository, so git executes
// nothing the repository configures: no hooks, filters, fsmonitor or fetches. Callers check for
// uncommitted changes.
package worktrees

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"tandem/engine/workspace/git"
)

// maxAnswer bounds git's output, in bytes.
const maxAnswer = 4 << 20

// git runs git in a directory and returns its output. It disables all configuration of the
// repository that these commands would execute. worktree add --no-checkout, branch, rev-parse and
// rev-list run no filters; options here override the rest.
func (t Trees) git(ctx context.Context, dir string, args ...string) (string, error) {
	env, err := t.withoutHooks(ctx, dir)
	if err != nil {
		return "", err
	}
	return t.runGit(ctx, dir, env, append([]string{
		"--no-pager", "-c", "core.hooksPath=" + git.Nowhere, "-c", "core.fsmonitor=false", "-c", "protocol.allow=never",
		"-c", "core.attributesFile=" + git.Nowhere, "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "submodule.recurse=false",
	}, args...)...)
}

// withoutHooks returns an environment that disables hooks named in a repository's configuration
// (hook.NAME.command, git 2.54). NAME may contain any character, so -c could not override it.
func (t Trees) withoutHooks(ctx context.Context, dir string) ([]string, error) {
	keys, err := t.runGit(ctx, dir, nil, "config", "--list", "--name-only", "-z")
	if err != nil {
		return nil, err
	}
	var env []string
	n := 0
	set := func(key, value string) {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
		n++
	}
	for key := range strings.SplitSeq(keys, "\x00") {
		if strings.HasPrefix(key, "hook.") && strings.HasSuffix(key, ".command") {
			set(key, ":")
			set(strings.TrimSuffix(key, "command")+"enabled", "false")
		}
	}
	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n)), nil
}

func (t Trees) runGit(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return "", errors.New("git is not installed")
	}
	c := git.Command{Program: program, Dir: dir, Env: slices.Concat(git.Alone(), []string{"PATH=" + filepath.Dir(program)}, env), Most: maxAnswer}
	out, complaint, err := c.Run(ctx, args...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && ctx.Err() == nil {
		if said := lastLine(string(complaint)); said != "" {
			return "", errors.New(said)
		}
	}
	return strings.TrimRight(string(out), "\n"), err
}

// lastLine returns the last line of git's stderr without its prefix.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	text = strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	text = strings.TrimPrefix(strings.TrimPrefix(text, "fatal: "), "error: ")
	// The rest of this message names directories of no use to the user.
	if strings.HasPrefix(text, "not a git repository") {
		return "not in a git repository"
	}
	return text
}

// checkOutCommit writes the files of a commit to a new worktree. It gives git a temporary repository
// with the same objects but without configuration, so there are no filters to run.
func (t Trees) checkOutCommit(ctx context.Context, path, commit string) error {
	place, err := t.git(ctx, path, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--show-object-format")
	if err != nil {
		return err
	}
	lines := strings.Split(place, "\n")
	if len(lines) != 3 {
		return errors.New("git reports no folder for the repository")
	}
	view, err := os.MkdirTemp(t.Private, "worktree-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(view)
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
	if lines[2] == "sha256" {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = sha256\n"
	}
	// A repository needs refs, HEAD and config to be recognised.
	err = errors.Join(os.Mkdir(filepath.Join(view, "refs"), 0o700),
		os.WriteFile(filepath.Join(view, "HEAD"), []byte(commit+"\n"), 0o600),
		os.WriteFile(filepath.Join(view, "config"), []byte(config), 0o600))
	if err != nil {
		return err
	}
	_, err = t.runGit(ctx, path, []string{
		"GIT_DIR=" + view, "GIT_WORK_TREE=" + path, "GIT_OBJECT_DIRECTORY=" + filepath.Join(lines[1], "objects"),
		"GIT_INDEX_FILE=" + filepath.Join(lines[0], "index"),
	}, "-c", "core.hooksPath="+git.Nowhere, "read-tree", "--reset", "-u", commit)
	return err
}

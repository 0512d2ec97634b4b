// Package worktrees makes and removes git's worktrees: folders beside a repository, each
// with a branch of its own. git runs for the person and yet executes nothing that the
// repository names, as an agent may have written that: no hooks, no filters, no monitor,
// no fetching. What a worktree holds uncommitted is for the caller to know.
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

	"tandem/engine/git"
)

// maxAnswer bounds what is read of git's answer, in bytes.
const maxAnswer = 4 << 20

// git runs git in a folder and gives its answer. Of a repository's configuration nothing is
// left that these commands would execute: worktree add --no-checkout, branch, rev-parse and
// rev-list run no filters, and the rest is overridden here.
func (t Trees) git(ctx context.Context, dir string, args ...string) (string, error) {
	env, err := t.withoutHooks(ctx, dir)
	if err != nil {
		return "", err
	}
	return t.run(ctx, dir, env, append([]string{
		"--no-pager", "-c", "core.hooksPath=" + git.Nowhere, "-c", "core.fsmonitor=false", "-c", "protocol.allow=never",
		"-c", "core.attributesFile=" + git.Nowhere, "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "submodule.recurse=false",
	}, args...)...)
}

// withoutHooks is the environment in which the hooks that a repository's configuration names
// (hook.NAME.command, git 2.54) do nothing. NAME may be anything, so that -c could not name it.
func (t Trees) withoutHooks(ctx context.Context, dir string) ([]string, error) {
	keys, err := t.run(ctx, dir, nil, "config", "--list", "--name-only", "-z")
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

func (t Trees) run(ctx context.Context, dir string, env []string, args ...string) (string, error) {
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

// lastLine is the last line of what git complains of.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	text = strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	return strings.TrimPrefix(strings.TrimPrefix(text, "fatal: "), "error: ")
}

// checkOut puts the files of a commit into a new worktree. git is shown a repository of
// ours, which has the objects alone: with no configuration there are no filters to run.
func (t Trees) checkOut(ctx context.Context, path, commit string) error {
	place, err := t.git(ctx, path, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--show-object-format")
	if err != nil {
		return err
	}
	lines := strings.Split(place, "\n")
	if len(lines) != 3 {
		return errors.New("git tells no folder of the repository")
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
	err = errors.Join(os.Mkdir(filepath.Join(view, "refs"), 0o700),
		os.WriteFile(filepath.Join(view, "HEAD"), []byte(commit+"\n"), 0o600),
		os.WriteFile(filepath.Join(view, "config"), []byte(config), 0o600))
	if err != nil {
		return err
	}
	_, err = t.run(ctx, path, []string{
		"GIT_DIR=" + view, "GIT_WORK_TREE=" + path, "GIT_OBJECT_DIRECTORY=" + filepath.Join(lines[1], "objects"),
		"GIT_INDEX_FILE=" + filepath.Join(lines[0], "index"),
	}, "-c", "core.hooksPath="+git.Nowhere, "read-tree", "--reset", "-u", commit)
	return err
}

// Package worktrees makes and removes git's worktrees: folders beside a repository, each
// with a branch of its own. git runs for the person and yet executes nothing that the
// repository names, as an agent may have written that: no hooks, no filters, no monitor,
// no fetching. What a worktree holds uncommitted is for the caller to know.
package worktrees

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

// nowhere is a path in which nothing can be found.
const nowhere = "/dev/null"

// maxAnswer bounds what is read of git's answer, in bytes.
const maxAnswer = 4 << 20

// git runs git in a folder and gives its answer. Of a repository's configuration nothing is
// left that these commands would execute: worktree add --no-checkout, branch, rev-parse and
// rev-list run no filters, and the rest is overridden here.
func (t Trees) git(ctx context.Context, dir string, args ...string) (string, error) {
	return t.run(ctx, dir, nil, append([]string{
		"--no-pager", "-c", "core.hooksPath=" + nowhere, "-c", "core.fsmonitor=false", "-c", "protocol.allow=never",
		"-c", "core.attributesFile=" + nowhere, "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "submodule.recurse=false",
	}, args...)...)
}

func (t Trees) run(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return "", errors.New("git is not installed")
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"LC_ALL=C", "PATH=" + filepath.Dir(program), "HOME=" + nowhere, "XDG_CONFIG_HOME=" + nowhere,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + nowhere, "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=", "GIT_TERMINAL_PROMPT=0",
		"GIT_LITERAL_PATHSPECS=1", "GIT_OPTIONAL_LOCKS=0",
	}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out, wrong bounded
	cmd.Stdout, cmd.Stderr = &out, &wrong
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && ctx.Err() == nil {
		if said := lastLine(wrong.String()); said != "" {
			return "", errors.New(said)
		}
	}
	return strings.TrimRight(out.String(), "\n"), err
}

// A bounded buffer lets go of what is too much.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:max(min(len(p), maxAnswer-b.Len()), 0)])
	return len(p), nil
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
	}, "-c", "core.hooksPath="+nowhere, "read-tree", "--reset", "-u", commit)
	return err
}

package worktrees

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// userGit runs the system's git with the user's own configuration.
func userGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// repository is one with a commit.
func repository(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "my app")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	userGit(t, dir, "init", "-q", "-b", "main")
	write(t, filepath.Join(dir, "sub", "file"), "one\n")
	userGit(t, dir, "add", ".")
	userGit(t, dir, "commit", "-qm", "first")
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestAddAndRemoveIncludeTheBranch(t *testing.T) {
	dir, trees := repository(t), Trees{Private: t.TempDir()}
	w, err := trees.Add(t.Context(), filepath.Join(dir, "sub"), "fix/login", "")
	if err != nil || w.Path != dir+".worktrees/fix-login" || w.Branch != "fix/login" || w.Repository != dir {
		t.Fatalf("%+v, %v", w, err)
	}
	if text, err := os.ReadFile(filepath.Join(w.Path, "sub", "file")); err != nil || string(text) != "one\n" {
		t.Errorf("%q, %v", text, err)
	}
	if out := userGit(t, w.Path, "status", "--porcelain", "--branch"); out != "## fix/login" {
		t.Errorf("it is %q", out)
	}
	write(t, filepath.Join(w.Path, "more"), "x")
	userGit(t, w.Path, "add", ".")
	userGit(t, w.Path, "commit", "-qm", "second")
	all, err := trees.List(t.Context(), w.Path)
	if err != nil || len(all) != 1 || all[0].Ahead != 1 || all[0].Path != w.Path || all[0].Repository != dir {
		t.Fatalf("%+v, %v", all, err)
	}
	second, err := trees.Add(t.Context(), w.Path, "", "fix/login")
	if err != nil || second.Branch != "work-1" || second.Path != dir+".worktrees/work-1" {
		t.Fatalf("%+v, %v", second, err)
	}
	if removed, err := trees.Remove(t.Context(), all[0]); err != nil || removed {
		t.Errorf("the branch with a commit of its own: %v, %v", removed, err)
	}
	userGit(t, dir, "merge", "-q", "fix/login")
	all, err = trees.List(t.Context(), dir)
	if err != nil || len(all) != 1 || all[0].Ahead != 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	if removed, err := trees.Remove(t.Context(), all[0]); err != nil || !removed {
		t.Errorf("the merged branch: %v, %v", removed, err)
	}
	if _, err := os.Stat(Dir(dir)); err == nil {
		t.Error("the folder of the worktrees was left")
	}
	if left, _ := os.ReadDir(trees.Private); len(left) != 0 {
		t.Errorf("%v was left", left)
	}
}

func TestAddRejectsInvalidNamesAndCommits(t *testing.T) {
	dir, trees := repository(t), Trees{Private: t.TempDir()}
	for _, c := range []struct{ dir, name, base, want string }{
		{t.TempDir(), "x", "", "not in a git repository"},
		{dir, "main", "", "already exists"},
		{dir, "a..b", "", "not a valid branch name"},
		{dir, "-b", "", "not a valid branch name"},
		{dir, "x", "nosuch", "nosuch is not a commit"},
		{dir, "x", "--all", "--all is not a commit"},
	} {
		if _, err := trees.Add(t.Context(), c.dir, c.name, c.base); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := os.Stat(Dir(dir)); err == nil {
		t.Error("something was made")
	}
}

func TestGitRunsNothingTheRepositoryConfigures(t *testing.T) {
	dir, trees := repository(t), Trees{Private: t.TempDir()}
	ran := filepath.Join(t.TempDir(), "ran")
	touch := filepath.Join(t.TempDir(), "touch")
	write(t, touch, "#!/bin/sh\necho \"$0 $*\" >>'"+ran+"'\ncat\n")
	write(t, filepath.Join(dir, ".gitattributes"), "* filter=evil merge=evil diff=evil\n")
	userGit(t, dir, "add", ".")
	userGit(t, dir, "commit", "-qm", "attributes")
	hooks := filepath.Join(dir, ".git", "hooks")
	for _, hook := range []string{"post-checkout", "reference-transaction", "pre-commit", "post-index-change"} {
		write(t, filepath.Join(hooks, hook), "#!/bin/sh\ntouch '"+ran+"'\n")
	}
	for _, key := range []string{"filter.evil.smudge", "filter.evil.clean", "filter.evil.process", "merge.evil.driver", "diff.evil.textconv",
		"core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "diff.external", "gpg.program", "credential.helper", "core.alternateRefsCommand"} {
		userGit(t, dir, "config", key, touch)
	}
	userGit(t, dir, "config", "commit.gpgSign", "true")
	userGit(t, dir, "config", "alias.worktree", "!"+touch)
	userGit(t, dir, "config", "filter.evil.required", "true")
	os.Remove(ran) // by the person's own git above
	w, err := trees.Add(t.Context(), dir, "x", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trees.List(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(w.Path, "sub", "file")); err != nil || string(text) != "one\n" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := trees.Remove(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("it ran: %s", text)
	}
}

// From git 2.54 on, hooks may be named in the configuration, whatever core.hooksPath says.
func TestGitDisablesConfiguredHooks(t *testing.T) {
	dir, trees := repository(t), Trees{Private: t.TempDir()}
	for _, name := range []string{"plain", "a=b", "a.b c"} {
		userGit(t, dir, "config", "hook."+name+".event", "post-checkout")
		userGit(t, dir, "config", "hook."+name+".command", "touch hooked")
		for key, want := range map[string]string{".command": ":", ".enabled": "false"} {
			if got, err := trees.git(t.Context(), dir, "config", "hook."+name+key); err != nil || got != want {
				t.Errorf("hook.%s%s is %q: %v", name, key, got, err)
			}
		}
	}
	w, err := trees.Add(t.Context(), dir, "new", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{dir, w.Path} {
		if _, err := os.Stat(filepath.Join(folder, "hooked")); err == nil {
			t.Error("a hook was run in " + folder)
		}
	}
}

func TestMovedWorktreeIsFoundByItsOldPath(t *testing.T) {
	dir, trees := repository(t), Trees{Private: t.TempDir()}
	w, err := trees.Add(t.Context(), dir, "fix/login", "")
	if err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(w.Path, "sub")
	if moved, ok := trees.FindMoved(t.Context(), old); ok {
		t.Errorf("before the move it is in %s", moved)
	}
	now := filepath.Join(filepath.Dir(dir), "elsewhere")
	userGit(t, dir, "worktree", "move", w.Path, now)
	if moved, ok := trees.FindMoved(t.Context(), old); !ok || moved != filepath.Join(now, "sub") {
		t.Errorf("after the move it is in %q", moved)
	}
	for _, path := range []string{dir, "/", filepath.Join(t.TempDir(), "x.worktrees", "y")} {
		if moved, ok := trees.FindMoved(t.Context(), path); ok {
			t.Errorf("%s is in %s", path, moved)
		}
	}
}

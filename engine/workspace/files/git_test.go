package files

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/tests/needs"
)

// A gitTree is a test tree whose root is a repository with one commit.
type gitTree struct {
	*testTree
	canary string // created by programs that must not run
}

// newGitTree returns nil if git is not installed.
func newGitTree(t *testing.T) *gitTree {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		return nil
	}
	g := &gitTree{testTree: newTestTree(t)}
	g.canary = filepath.Join(g.outside, "ran")
	t.Setenv("HOME", g.outside)
	t.Setenv("XDG_CONFIG_HOME", "")
	g.Private = t.TempDir()
	g.git("init", "-q", "-b", "main")
	g.addFile("f", "one")
	g.git("add", ".")
	g.git("commit", "-q", "-m", "x")
	return g
}

func (g *gitTree) git(args ...string) { g.Helper(); g.gitIn(g.root, args...) }

func (g *gitTree) gitIn(dir string, args ...string) {
	g.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		g.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// addScript adds a program that creates the canary and copies its input to its output.
func (g *gitTree) addScript() string {
	g.Helper()
	path := filepath.Join(g.outside, "script")
	if err := os.WriteFile(path, []byte("#!/bin/sh\ntouch "+g.canary+"\ncat\n"), 0o755); err != nil {
		g.Fatal(err)
	}
	return path
}

// checkNothingRan fails if the canary exists or the private folder is not empty.
func (g *gitTree) checkNothingRan() {
	g.Helper()
	if _, err := os.Stat(g.canary); err == nil {
		g.Error("a program was run")
	}
	if left, err := os.ReadDir(g.Private); err != nil || len(left) > 0 {
		g.Errorf("private folder still contains %v, %v", left, err)
	}
}

// checkMarks compares the branch and the marks of a folder.
func (g *gitTree) checkMarks(dir, branch string, want map[string]string) {
	g.Helper()
	status, err := Git{g.Tree}.Status(g.Context(), dir)
	if err != nil || status.Branch != branch {
		g.Errorf("%s: on %q, %v; want %q", dir, status.Branch, err, branch)
	}
	if diff := cmp.Diff(want, status.Marks); diff != "" {
		g.Errorf("%s: %s", dir, diff)
	}
	if alone, err := (Git{g.Tree}).Branch(dir); err != nil || branch != "" && alone != branch {
		g.Errorf("%s: Branch = %q, %v; want %q", dir, alone, err, branch)
	}
}

func TestParseGitGroupsChangesByEntry(t *testing.T) {
	out := strings.Join([]string{
		"# branch.oid 0123456789abcdef", "# branch.head main",
		"1 .M N... 100644 100644 100644 a b sub/changed file",
		"1 A. N... 000000 100644 100644 a b sub/dir/added",
		"2 R. N... 100644 100644 100644 a b R100 sub/new", "sub/old",
		"u UU N... 100644 100644 100644 100644 a b c sub/both",
		"? sub/un\nknown", "? sub/dir/more", "! sub/ignored/", "! sub/other/ignored", "1 .M N... 1 1 1 a b elsewhere", "",
	}, "\x00")
	got := parseGit([]byte(out), "sub/")
	want := map[string]string{"changed file": ".M", "dir": "A.", "new": "R.", "both": "UU", "un\nknown": "??", "ignored": "!!"}
	if got.Branch != "main" || len(got.Marks) != len(want) {
		t.Errorf("got %+v", got)
	}
	for name, letters := range want {
		if got.Marks[name] != letters {
			t.Errorf("%q is %q, want %q", name, got.Marks[name], letters)
		}
	}
	detached := parseGit([]byte("# branch.oid 0123456789abcdef\x00# branch.head (detached)\x00"), "")
	if detached.Branch != "01234567" {
		t.Errorf("without a branch: %q", detached.Branch)
	}
}

func TestGitMarksChangedUntrackedAndIgnoredFiles(t *testing.T) {
	g := newGitTree(t)
	if g == nil {
		return
	}
	g.addFile("f", "two")
	g.addFile("sub/new", "")
	status, err := Git{g.Tree}.Status(t.Context(), "")
	if err != nil || status.Branch != "main" || status.Marks["f"] != ".M" || status.Marks["sub"] != "??" {
		t.Fatalf("got %+v, %v", status, err)
	}
	g.addFile(".gitignore", "*.log\nbuilt/")
	g.addFile("sub/deep/new", "")
	g.addFile("sub/deep/x.log", "")
	g.addFile("built/deep/f", "")
	if status, err = (Git{g.Tree}).Status(t.Context(), "sub/deep"); err != nil || status.All != "??" || status.Marks["x.log"] != "!!" {
		t.Errorf("in an untracked folder: %+v, %v", status, err)
	}
	if status, err = (Git{g.Tree}).Status(t.Context(), "built/deep"); err != nil || status.All != "!!" {
		t.Errorf("in an ignored folder: %+v, %v", status, err)
	}
	if status, err = (Git{g.Tree}).Status(t.Context(), ""); err != nil || status.All != "" || status.Marks["built"] != "!!" {
		t.Errorf("above them: %+v, %v", status, err)
	}
}

// changeTime changes the time of a file so that git reads it again.
func (g *gitTree) changeTime(rel string) {
	g.Helper()
	if err := os.Chtimes(filepath.Join(g.root, rel), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		g.Fatal(err)
	}
}

// hashOf returns the hash of a revision.
func (g *gitTree) hashOf(name string) string {
	g.Helper()
	cmd := exec.Command("git", "rev-parse", name)
	cmd.Dir = g.root
	out, err := cmd.Output()
	if err != nil {
		g.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestGitStatusReadsEveryKindOfRepository(t *testing.T) {
	needs.FullRun(t)
	for name, test := range map[string]func(g *gitTree){
		"a detached HEAD": func(g *gitTree) {
			g.git("checkout", "-q", "--detach")
			g.checkMarks("", g.hashOf("HEAD")[:8], map[string]string{"f": ".M"})
		},
		"no commit": func(g *gitTree) {
			g.git("checkout", "-q", "--orphan", "new")
			g.checkMarks("", "new", map[string]string{"f": "AM", ".keep": "A."})
		},
		"no index": func(g *gitTree) {
			g.gitIn(g.outside, "init", "-q", "-b", "trunk")
			g.Roots = nil
			g.checkMarks(g.outside, "trunk", map[string]string{"secret": "??"})
		},
		"packed references": func(g *gitTree) {
			g.git("branch", "aaa/main")
			g.git("pack-refs", "--all")
			g.git("gc", "-q")
			g.checkMarks("", "main", map[string]string{"f": ".M"})
		},
		"a branch with a slash": func(g *gitTree) {
			g.git("checkout", "-q", "-b", "a/b")
			g.checkMarks("", "a/b", map[string]string{"f": ".M"})
		},
		"a worktree": func(g *gitTree) {
			g.git("worktree", "add", "-q", "-b", "side", "tree")
			g.addFile("tree/f", "three")
			g.addFile("tree/sub/new", "")
			g.checkMarks("tree", "side", map[string]string{"f": ".M", "sub": "??"})
			g.checkMarks("", "main", map[string]string{"f": ".M", "tree": "??"})
		},
		"a worktree of a bare repository": func(g *gitTree) {
			g.git("clone", "-q", "--bare", ".", "bare")
			g.gitIn(filepath.Join(g.root, "bare"), "worktree", "add", "-q", "../tree", "main")
			g.addFile("tree/f", "three")
			g.checkMarks("tree", "main", map[string]string{"f": ".M"})
			g.checkMarks("bare", "", nil)
			g.checkMarks("bare/refs", "", nil)
		},
		"a submodule": func(g *gitTree) {
			g.git("clone", "-q", ".", "../root-outside/origin")
			g.git("submodule", "--quiet", "add", g.outside+"/origin", "sub")
			g.git("commit", "-q", "-m", "sub", "sub", ".gitmodules")
			g.addFile("sub/f", "three")
			g.checkMarks("sub", "main", map[string]string{"f": ".M"})
			g.checkMarks("", "main", map[string]string{"f": ".M"})
			g.gitIn(filepath.Join(g.root, "sub"), "commit", "-q", "-a", "-m", "y")
			g.checkMarks("", "main", map[string]string{"f": ".M", "sub": ".M"})
		},
		"a submodule with its own repository": func(g *gitTree) {
			g.git("clone", "-q", ".", "sub")
			g.git("add", "sub")
			g.git("commit", "-q", "-m", "sub", "sub")
			g.checkMarks("", "main", map[string]string{"f": ".M"})
			g.checkMarks("sub", "main", map[string]string{})
		},
		"info/exclude and the user's ignore file": func(g *gitTree) {
			g.addBeside("root/.git/info/exclude", "*.own\n")
			g.addBeside("root-outside/.config/git/ignore", "*.mine\n")
			g.addFile("x.own", "")
			g.addFile("x.mine", "")
			g.checkMarks("", "main", map[string]string{"f": ".M", "x.own": "!!", "x.mine": "!!"})
			g.addBeside("root-outside/.gitconfig", "[core]\n\texcludesFile = ~/ignores\n")
			g.addBeside("root-outside/ignores", "*.other\n")
			g.checkMarks("", "main", map[string]string{"f": ".M", "x.own": "!!", "x.mine": "??"})
		},
		"CRLF line endings": func(g *gitTree) {
			g.addFile("text", "a\nb\n")
			g.git("add", "text")
			g.git("commit", "-q", "-m", "text", "text")
			_ = os.Remove(g.root + "/text")
			g.git("-c", "core.autocrlf=true", "checkout", "text")
			g.changeTime("text")
			g.checkMarks("", "main", map[string]string{"f": ".M", "text": ".M"})
			g.git("config", "core.autocrlf", "true")
			g.checkMarks("", "main", map[string]string{"f": ".M"})
			g.git("config", "--unset", "core.autocrlf")
			g.addBeside("root-outside/.gitconfig", "[include]\n\tpath = more\n")
			g.addBeside("root-outside/more", "[core]\n\tautocrlf = input\n")
			g.checkMarks("", "main", map[string]string{"f": ".M"})
			g.git("config", "core.autocrlf", "false")
			g.checkMarks("", "main", map[string]string{"f": ".M", "text": ".M"})
			g.addBeside("root/.git/info/attributes", "text text\n")
			g.checkMarks("", "main", map[string]string{"f": ".M"})
		},
		"core.filemode disabled": func(g *gitTree) {
			if err := os.Chmod(filepath.Join(g.root, ".keep"), 0o755); err != nil {
				g.Fatal(err)
			}
			g.checkMarks("", "main", map[string]string{"f": ".M", ".keep": ".M"})
			g.git("config", "core.filemode", "false")
			g.checkMarks("", "main", map[string]string{"f": ".M"})
		},
		"untracked files disabled": func(g *gitTree) {
			g.addFile("new", "")
			g.git("config", "status.showUntrackedFiles", "no")
			g.checkMarks("", "main", map[string]string{"f": ".M"})
		},
		"a split index": func(g *gitTree) {
			g.git("update-index", "--split-index")
			g.checkMarks("", "main", map[string]string{"f": ".M"})
		},
		"a sparse checkout": func(g *gitTree) {
			g.addFile("a/x/f", "")
			g.addFile("b/x/f", "")
			g.git("add", "a", "b")
			g.git("commit", "-q", "-m", "more", "a", "b")
			g.git("sparse-checkout", "set", "--cone", "--sparse-index", "a")
			g.addFile("a/x/f", "new")
			g.checkMarks("", "main", map[string]string{"f": ".M", "a": ".M"})
		},
		"SHA-256 objects": func(g *gitTree) {
			g.gitIn(g.outside, "init", "-q", "-b", "trunk", "--object-format=sha256", g.root+"/other")
			g.addFile("other/f", "one")
			g.gitIn(g.root+"/other", "add", ".")
			g.gitIn(g.root+"/other", "commit", "-q", "-m", "x")
			g.addFile("other/f", "two")
			g.checkMarks("other", "trunk", map[string]string{"f": ".M"})
		},
		"a shared object store": func(g *gitTree) {
			g.git("clone", "-q", "--shared", ".", "clone")
			g.addFile("clone/f", "two")
			g.checkMarks("clone", "main", map[string]string{"f": ".M"})
		},
		"a renamed file, and a folder below": func(g *gitTree) {
			g.addFile("f", "one")
			g.addFile("sub/deep/g", "")
			g.git("mv", "f", "sub/deep/h")
			g.checkMarks("", "main", map[string]string{"sub": "R."})
			g.checkMarks("sub/deep", "main", map[string]string{"g": "??", "h": "A."})
		},
		"files elsewhere": func(g *gitTree) {
			g.git("config", "core.worktree", g.outside)
			g.checkMarks("", "", nil)
		},
		"no files": func(g *gitTree) {
			g.git("config", "core.bare", "true")
			g.checkMarks("", "", nil)
		},
		"inside .git": func(g *gitTree) { g.checkMarks(".git", "", nil); g.checkMarks(".git/refs/heads", "", nil) },
		"an invalid .git": func(g *gitTree) {
			g.addFile("sub/.git/x", "")
			g.checkMarks("sub", "main", map[string]string{})
			g.addFile("other/.git", "no gitdir")
			g.checkMarks("other", "", nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if g := newGitTree(t); g != nil {
				g.addFile("f", "two")
				test(g)
				g.checkNothingRan()
			}
		})
	}
}

func TestGitStatusRunsNoPrograms(t *testing.T) {
	needs.FullRun(t)
	for name, attack := range map[string]func(g *gitTree, script string){
		"filter.clean": func(g *gitTree, script string) {
			g.addFile(".gitattributes", "* filter=evil")
			g.git("config", "filter.evil.clean", script)
		},
		"filter.process": func(g *gitTree, script string) {
			g.addFile(".gitattributes", "* filter=lfs")
			g.git("config", "filter.lfs.process", script)
			g.git("config", "filter.lfs.required", "true")
		},
		"filter.clean of the user": func(g *gitTree, _ string) {
			g.addFile(".gitattributes", "* filter=mine")
			g.addFile("tool", "#!/bin/sh\ntouch "+g.canary+"\n")
			g.addBeside("root-outside/.gitconfig", "[filter \"mine\"]\n\tclean = sh ./tool\n")
		},
		"core.fsmonitor": func(g *gitTree, script string) { g.git("config", "core.fsmonitor", script) },
		"include.path": func(g *gitTree, script string) {
			g.addFile("more", "[core]\n\tfsmonitor = "+script+"\n")
			g.git("config", "include.path", "../more")
		},
		"includeIf": func(g *gitTree, script string) {
			g.addFile("more", "[core]\n\tfsmonitor = "+script+"\n")
			g.git("config", "includeIf.gitdir:/.path", "../more")
		},
		"config.worktree": func(g *gitTree, script string) {
			g.git("config", "extensions.worktreeConfig", "true")
			g.git("config", "--worktree", "core.fsmonitor", script)
		},
		"hooks": func(g *gitTree, script string) {
			if err := os.MkdirAll(g.root+"/.git/hooks", 0o755); err != nil {
				g.Fatal(err)
			}
			for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "reference-transaction"} {
				if err := os.Symlink(script, filepath.Join(g.root, ".git/hooks", hook)); err != nil {
					g.Fatal(err)
				}
			}
			g.git("config", "core.hooksPath", g.root+"/.git/hooks")
		},
		"alias, diff.external, textconv, core.pager, core.editor": func(g *gitTree, script string) {
			g.addFile(".gitattributes", "* diff=evil")
			for _, name := range []string{"alias.status", "alias.config", "diff.external", "diff.evil.textconv", "diff.evil.command", "core.pager", "pager.status", "core.editor", "core.askPass", "core.gitProxy", "core.alternateRefsCommand", "gpg.program", "credential.helper"} {
				g.git("config", name, "!"+script)
			}
		},
		"a promisor's uploadpack": func(g *gitTree, script string) { g.makePartialClone(g.outside, script) },
		"a promisor over ext::":   func(g *gitTree, script string) { g.makePartialClone("ext::"+script, "") },
		"core.sshCommand": func(g *gitTree, script string) {
			g.git("config", "core.sshCommand", script)
			g.makePartialClone("ssh://host/repository", "")
		},
		"a submodule": func(g *gitTree, script string) {
			g.git("clone", "-q", ".", "sub")
			g.git("add", "sub")
			g.gitIn(g.root+"/sub", "config", "core.fsmonitor", script)
			g.gitIn(g.root+"/sub", "config", "filter.evil.clean", script)
			g.addFile("sub/.gitattributes", "* filter=evil")
			g.addFile("sub/f", "six")
		},
		"gitdir elsewhere": func(g *gitTree, script string) {
			g.git("config", "core.fsmonitor", script)
			if err := os.Rename(g.root+"/.git", g.outside+"/git"); err != nil {
				g.Fatal(err)
			}
			g.addFile(".git", "gitdir: "+g.outside+"/git\n")
			g.Roots = nil
		},
		"variables of the engine": func(g *gitTree, script string) {
			g.Setenv("GIT_CONFIG_COUNT", "1")
			g.Setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
			g.Setenv("GIT_CONFIG_VALUE_0", script)
			g.Setenv("GIT_EXTERNAL_DIFF", script)
			g.Setenv("GIT_PAGER", script)
			g.Setenv("GIT_TRACE", g.canary)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGitTree(t)
			if g == nil {
				return
			}
			attack(g, g.addScript())
			_ = os.Remove(g.canary) // created by the preparation
			g.addFile("f", "six")
			status, err := Git{g.Tree}.Status(t.Context(), g.root)
			if err != nil || status.Branch != "main" || status.Marks["f"] == "" {
				t.Errorf("got %+v, %v", status, err)
			}
			g.checkNothingRan()
		})
	}
}

// makePartialClone turns the repository into a partial clone without the objects needed to detect
// renames.
func (g *gitTree) makePartialClone(url, uploadpack string) {
	g.Helper()
	g.addFile("old", strings.Repeat("many lines\n", 100))
	g.git("add", "old")
	g.git("commit", "-q", "-m", "old", "old")
	hash := g.hashOf("HEAD:old")
	g.git("mv", "old", "new")
	g.addFile("new", strings.Repeat("many lines\n", 100)+"one more\n")
	g.git("add", "new")
	if err := os.Remove(filepath.Join(g.root, ".git/objects", hash[:2], hash[2:])); err != nil {
		g.Fatal(err)
	}
	for name, value := range map[string]string{
		"core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "protocol.ext.allow": "always",
		"remote.origin.url": url, "remote.origin.promisor": "true", "remote.origin.uploadpack": uploadpack,
	} {
		if value != "" {
			g.git("config", name, value)
		}
	}
}

// A filter is configured between any check and its use.
func TestGitStatusRunsNoProgramsWhileConfigChanges(t *testing.T) {
	needs.FullRun(t)
	g := newGitTree(t)
	if g == nil {
		return
	}
	script := g.addScript()
	g.addFile(".gitattributes", "* filter=evil")
	path := filepath.Join(g.root, ".git/config")
	plain, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	evil := string(plain) + "[filter \"evil\"]\n\tclean = " + script + "\n[core]\n\tfsmonitor = " + script + "\n"
	ctx, stop := context.WithCancel(t.Context())
	swapped := make(chan error, 1)
	go func() {
		var err error
		for n := 0; ctx.Err() == nil && err == nil; n++ {
			if err = os.WriteFile(path+".new", []byte([]string{evil, string(plain)}[n%2]), 0o600); err == nil {
				err = os.Rename(path+".new", path)
			}
		}
		swapped <- err
	}()
	for range 40 {
		g.addFile("f", "six")
		if status, err := (Git{g.Tree}).Status(t.Context(), ""); err != nil || status.Marks["f"] != ".M" {
			t.Errorf("got %+v, %v", status, err)
		}
	}
	stop()
	if err := <-swapped; err != nil {
		t.Error(err)
	}
	g.checkNothingRan()
}

func TestGitSkipsRepositoryOfAnotherUser(t *testing.T) {
	g := newGitTree(t)
	if g == nil {
		return
	}
	if os.Geteuid() != 0 {
		return // only root can change owners
	}
	for _, path := range []string{"", ".git"} {
		path = filepath.Join(g.root, path)
		if err := os.Chown(path, 12345, -1); err != nil {
			t.Fatal(err)
		}
		g.checkMarks("", "", nil)
		g.addBeside("root-outside/.gitconfig", "[safe]\n\tdirectory = "+g.root+"\n")
		g.checkMarks("", "main", map[string]string{})
		g.addBeside("root-outside/.gitconfig", "[safe]\n\tdirectory = *\n\tdirectory =\n")
		g.checkMarks("", "", nil)
		if err := os.Chown(path, 0, -1); err != nil {
			t.Fatal(err)
		}
	}
	g.git("config", "safe.directory", "*") // has no effect in a repository's configuration
	if err := os.Chown(g.root, 12345, -1); err != nil {
		t.Fatal(err)
	}
	g.checkMarks("", "", nil)
	g.checkNothingRan()
}

func FuzzGit(f *testing.F) {
	f.Add([]byte("1 .M N... 1 1 1 a b x\x00? y\x002 R"), "")
	f.Fuzz(func(_ *testing.T, out []byte, prefix string) { parseGit(out, prefix) })
}

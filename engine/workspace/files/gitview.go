package files

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"tandem/engine/workspace/git"
)

// A gitView is a stand-in for a repository: a private folder with a configuration of our own,
// pointing git to the real objects, index and files. The real configuration can name programs for
// git to run, and checking it first would not help, as it can change between the check and its use.
// Nobody else can write to this one.
type gitView struct {
	Git
	repository
	program  string
	dir      string
	files    *os.File // the worktree, kept open
	branch   string
	settings gitSettings
}

// newView creates a view of a repository. An error other than an *Error means that git would not
// recognize the folder either.
func (g Git) newView(ctx context.Context, program string, repo repository) (*gitView, error) {
	p, err := g.Tree.locate(repo.worktree, lookup{verb: "ask git about"})
	if err != nil {
		return nil, err
	}
	defer p.close()
	tree, err := p.root.Open(asFolder(p.rel))
	if err != nil {
		return nil, fileError("ask git about", p.path, err)
	}
	if info, err := tree.Stat(); err != nil || p.root.offLimits.anyBelow(idOf(info)) {
		tree.Close()
		return nil, errors.New("git would also read files that are off limits")
	}
	v := &gitView{Git: g, repository: repo, program: program, files: tree}
	if v.dir, err = os.MkdirTemp(g.Tree.Private, "git-"); err != nil {
		tree.Close()
		return nil, fileError("ask git about", p.path, err)
	}
	if err := v.fillView(ctx); err != nil {
		v.removeView()
		return nil, err
	}
	return v, nil
}

func (v *gitView) removeView() {
	v.files.Close()
	// Nothing in it is worth keeping.
	_ = os.RemoveAll(v.dir)
}

// fillView writes the files git needs into the view.
func (v *gitView) fillView(ctx context.Context) error {
	branch, commit, err := v.readHead(v.repository)
	if err != nil {
		return err
	}
	if v.branch = branch; commit == "" {
		commit = "ref: refs/heads/none" // a branch without commits
	}
	if err := errors.Join(os.Mkdir(filepath.Join(v.dir, "refs"), 0o700), os.Mkdir(filepath.Join(v.dir, "info"), 0o700)); err != nil {
		return err
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
	if err := errors.Join(v.writeFile("HEAD", commit+"\n"), v.writeFile("config", config)); err != nil {
		return err
	}
	if err := v.readConfig(ctx); err != nil {
		return err
	}
	if v.settings.sha256 {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = sha256\n"
		if err := v.writeFile("config", config); err != nil {
			return err
		}
	}
	for _, name := range []string{"info/exclude", "info/attributes"} {
		if data, err := v.readFile(filepath.Join(v.common, name)); err == nil {
			if err := v.writeFile(name, string(data)); err != nil {
				return err
			}
		}
	}
	return v.linkSharedIndexes()
}

func (v *gitView) writeFile(name, text string) error {
	return os.WriteFile(filepath.Join(v.dir, name), []byte(text), 0o600)
}

// linkSharedIndexes links the shared parts of a split index, which git expects next to its
// configuration.
func (v *gitView) linkSharedIndexes() error {
	p, err := v.Tree.locate(v.repository.dir, lookup{verb: "read"})
	if err != nil {
		return err
	}
	defer p.close()
	dir, err := p.openAsDir()
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := readNames(dir)
	for _, name := range names {
		if strings.HasPrefix(name, "sharedindex.") && err == nil {
			err = os.Symlink(filepath.Join(v.repository.dir, name), filepath.Join(v.dir, name))
		}
	}
	return err
}

// readConfig reads the user's and the repository's configuration. It rejects repositories of other
// users, unless the user trusts them.
func (v *gitView) readConfig(ctx context.Context) error {
	out, err := v.runGit(ctx, nil, "config", "-z", "--list", "--includes")
	if err != nil {
		return err
	}
	v.settings.parse(out, true)
	if !v.isOwn(v.repository) && !v.settings.trustsFolder(v.worktree) {
		return errors.New("the repository belongs to another user")
	}
	config, err := v.readFile(filepath.Join(v.common, "config"))
	if err != nil && !errors.Is(err, NotFound) {
		return err
	}
	if own, err := v.readFile(filepath.Join(v.repository.dir, "config.worktree")); err == nil {
		config = append(append(config, '\n'), own...)
	}
	out, err = v.runGit(ctx, config, "config", "--file", "-", "--no-includes", "-z", "--list")
	if err != nil {
		return err
	}
	v.settings.parse(out, false)
	if v.settings.foreignRefs {
		return errors.New("the references are stored in a format that only git reads")
	}
	if v.common == v.repository.dir && !v.isWorktree() {
		return errors.New("the repository has no work tree, or has it elsewhere")
	}
	return nil
}

// isWorktree reports whether the worktree that git would use is the folder found for the
// repository.
func (v *gitView) isWorktree() bool {
	if v.settings.worktree == "" {
		return !v.settings.bare
	}
	_, configured, err := v.statPath(absoluteIn(v.repository.dir, v.settings.worktree))
	here, errHere := v.files.Stat()
	return err == nil && errHere == nil && os.SameFile(configured, here)
}

// runStatus returns git's status of everything below prefix, which is empty or ends with a slash.
func (v *gitView) runStatus(ctx context.Context, prefix string) ([]byte, error) {
	if prefix == "" {
		prefix = "."
	}
	var args []string
	for name, value := range v.settings.values {
		args = append(args, "-c", name+"="+value)
	}
	// To detect renames, git would need objects that were not fetched.
	if v.settings.partialClone {
		args = append(args, "-c", "status.renames=false")
	}
	args = append(args, "-c", "core.fsmonitor=false", "-c", "core.hooksPath="+git.Nowhere, "-c", "protocol.allow=never",
		"status", "--porcelain=v2", "--branch", "--ignored", "--ignore-submodules=dirty", "-z", "--", prefix)
	return v.runGit(ctx, nil, args...)
}

// runGit runs git on the view with an empty environment except for the variables set here. Only "git
// config" learns the user's home folder; for all other commands there is no user configuration.
func (v *gitView) runGit(ctx context.Context, in []byte, args ...string) ([]byte, error) {
	env := []string{
		"PATH=" + git.Nowhere, "GIT_EXEC_PATH=" + git.Nowhere,
		"GIT_DIR=" + v.dir, "GIT_WORK_TREE=.", "GIT_OBJECT_DIRECTORY=" + filepath.Join(v.common, "objects"),
		"GIT_INDEX_FILE=" + filepath.Join(v.repository.dir, "index"),
	}
	if args[0] == "config" {
		env = append(env, "HOME="+os.Getenv("HOME"))
		if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
			env = append(env, "XDG_CONFIG_HOME="+dir)
		}
	} else {
		env = append(env, git.Alone()...)
	}
	out, _, err := git.Command{Program: v.program, Dir: procPath(v.files), Env: env, In: bytes.NewReader(in), Most: maxGitOutput}.Run(ctx, args...)
	return out, err
}

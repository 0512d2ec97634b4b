package files

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"tandem/engine/git"
)

// A gitView is what git is shown in place of a repository: a folder with a
// configuration of ours, and the objects, the index and the files that are there.
// Git looks up what it may run in the configuration, which somebody can change
// between any check and its use; this one nobody else writes.
type gitView struct {
	gitReader
	repository
	program  string
	dir      string
	files    *os.File // the folder that the files are in, as it was found
	branch   string
	settings settings
}

// newGitView makes a view of a repository. An error that is not an *Error means that
// git does not know the folder either.
func newGitView(ctx context.Context, t *Tree, program string, repo repository) (*gitView, error) {
	p, err := t.locate(repo.worktree, way{verb: "ask git about"})
	if err != nil {
		return nil, err
	}
	defer p.close()
	tree, err := p.root.Open(asFolder(p.rel))
	if err != nil {
		return nil, failure("ask git about", p.path, err)
	}
	if info, err := tree.Stat(); err != nil || p.root.closed.lieIn(idOf(info)) {
		tree.Close()
		return nil, errors.New("git would also read what is closed")
	}
	v := &gitView{gitReader: gitReader{t}, repository: repo, program: program, files: tree}
	if v.dir, err = os.MkdirTemp(t.Private, "git-"); err != nil {
		tree.Close()
		return nil, failure("ask git about", p.path, err)
	}
	if err := v.fill(ctx); err != nil {
		v.remove()
		return nil, err
	}
	return v, nil
}

func (v *gitView) remove() {
	v.files.Close()
	_ = os.RemoveAll(v.dir) // it holds nothing of anybody
}

// fill puts into a view what git needs.
func (v *gitView) fill(ctx context.Context) error {
	branch, commit, err := v.head(v.repository)
	if err != nil {
		return err
	}
	if v.branch = branch; commit == "" {
		commit = "ref: refs/heads/none" // which has no commit
	}
	if err := errors.Join(os.Mkdir(filepath.Join(v.dir, "refs"), 0o700), os.Mkdir(filepath.Join(v.dir, "info"), 0o700)); err != nil {
		return err
	}
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
	if err := errors.Join(v.put("HEAD", commit+"\n"), v.put("config", config)); err != nil {
		return err
	}
	if err := v.configure(ctx); err != nil {
		return err
	}
	if v.settings.sha256 {
		config = "[core]\n\trepositoryformatversion = 1\n\tbare = false\n[extensions]\n\tobjectformat = sha256\n"
		if err := v.put("config", config); err != nil {
			return err
		}
	}
	for _, name := range []string{"info/exclude", "info/attributes"} {
		if data, err := v.bytes(filepath.Join(v.common, name)); err == nil {
			if err := v.put(name, string(data)); err != nil {
				return err
			}
		}
	}
	return v.linkShared()
}

func (v *gitView) put(name, text string) error {
	return os.WriteFile(filepath.Join(v.dir, name), []byte(text), 0o600)
}

// linkShared links what an index in two parts is based on, which git looks for
// beside its configuration.
func (v *gitView) linkShared() error {
	p, err := v.tree.locate(v.repository.dir, way{verb: "read"})
	if err != nil {
		return err
	}
	defer p.close()
	dir, err := p.folder()
	if err != nil {
		return err
	}
	defer dir.Close()
	names, err := namesIn(dir)
	for _, name := range names {
		if strings.HasPrefix(name, "sharedindex.") && err == nil {
			err = os.Symlink(filepath.Join(v.repository.dir, name), filepath.Join(v.dir, name))
		}
	}
	return err
}

// configure reads what the person and the repository have configured, and
// refuses a repository that is somebody else's.
func (v *gitView) configure(ctx context.Context) error {
	out, err := v.run(ctx, nil, "config", "-z", "--list", "--includes")
	if err != nil {
		return err
	}
	v.settings.take(out, true)
	if !v.ours(v.repository) && !v.settings.trusts(v.worktree) {
		return errors.New("the repository belongs to another user")
	}
	config, err := v.bytes(filepath.Join(v.common, "config"))
	if err != nil && !errors.Is(err, NotFound) {
		return err
	}
	if own, err := v.bytes(filepath.Join(v.repository.dir, "config.worktree")); err == nil {
		config = append(append(config, '\n'), own...)
	}
	out, err = v.run(ctx, config, "config", "--file", "-", "--no-includes", "-z", "--list")
	if err != nil {
		return err
	}
	v.settings.take(out, false)
	if v.settings.foreign {
		return errors.New("the references are stored in a format that only git reads")
	}
	if v.common == v.repository.dir && !v.isWorktree() {
		return errors.New("the repository has no work tree, or has it elsewhere")
	}
	return nil
}

// isWorktree reports whether the files of a repository are where they were looked
// for.
func (v *gitView) isWorktree() bool {
	if v.settings.worktree == "" {
		return !v.settings.bare
	}
	_, told, err := v.at(absoluteIn(v.repository.dir, v.settings.worktree))
	here, errHere := v.files.Stat()
	return err == nil && errHere == nil && os.SameFile(told, here)
}

// status is what git says of what is below prefix, which ends with a slash.
func (v *gitView) status(ctx context.Context, prefix string) ([]byte, error) {
	if prefix == "" {
		prefix = "."
	}
	var args []string
	for name, value := range v.settings.values {
		args = append(args, "-c", name+"="+value)
	}
	if v.settings.partial { // to find renames, git would need what was not fetched
		args = append(args, "-c", "status.renames=false")
	}
	args = append(args, "-c", "core.fsmonitor=false", "-c", "core.hooksPath="+git.Nowhere, "-c", "protocol.allow=never",
		"status", "--porcelain=v2", "--branch", "--ignored", "--ignore-submodules=dirty", "-z", "--", prefix)
	return v.run(ctx, nil, args...)
}

// run runs git on a view, with nothing in its environment but what is said here.
// To read the person's configuration it is told where that is; otherwise there
// is none.
func (v *gitView) run(ctx context.Context, in []byte, args ...string) ([]byte, error) {
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
	out, _, err := git.Command{Program: v.program, Dir: pinned(v.files), Env: env, In: bytes.NewReader(in), Most: mostGit}.Run(ctx, args...)
	return out, err
}

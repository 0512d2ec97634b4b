package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"tandem/engine/base/shell"
	"tandem/persist/regular"
)

const (
	// backupSuffix is added to the name of a file of the user's for the copy made before it is changed.
	backupSuffix = ".before-tandem"
	// commandTimeout is how long a command of a client may run.
	commandTimeout = time.Minute
	maxOutput      = 1 << 10 // bytes of a failed command's output that are shown
)

// Write makes the change. It fails if the file has changed since it was read.
func (p *Plan) Write(ctx context.Context) error {
	now, err := regular.ReadFile(p.Path)
	if exists := err == nil; exists != p.exists || !bytes.Equal(now, p.before) || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write settings: %s has changed in the meantime; run this again", p.Path)
	}
	switch {
	case len(p.commands) > 0:
		return p.runCommands(ctx)
	case p.deletesFile():
		err = os.Remove(p.Path)
	default:
		err = p.replaceFile()
	}
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	return nil
}

// runCommands runs the plan's commands, and checks that they made the change: some programs ignore
// options that they do not know.
func (p *Plan) runCommands(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	for _, argv := range p.commands {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Dir, cmd.WaitDelay = p.dir, time.Second
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("run %s: %w\n%s", shell.Quote(argv...), err, bytes.TrimSpace(out[max(0, len(out)-maxOutput):]))
		}
	}
	if err := p.check(); err != nil {
		return fmt.Errorf("run %s: %w", shell.Quote(p.commands[len(p.commands)-1]...), err)
	}
	return nil
}

// deletesFile reports whether Write deletes the file: it becomes empty, and was made by setup, because
// there is no copy of an earlier content.
func (p *Plan) deletesFile() bool {
	info, err := os.Lstat(p.Path)
	if err != nil || !info.Mode().IsRegular() || p.ownFile && len(p.after) > 0 {
		return false
	}
	left := string(bytes.TrimSpace(p.after))
	return p.ownFile || (left == "" || left == "{}") && !bytes.Equal(p.before, p.after) && !pathExists(p.Path+backupSuffix)
}

// replaceFile replaces the file, and not a symbolic link to it, and keeps its mode and owner.
func (p *Plan) replaceFile() error {
	target, err := filepath.EvalSymlinks(p.Path)
	if errors.Is(err, fs.ErrNotExist) {
		target, err = p.Path, os.MkdirAll(filepath.Dir(p.Path), 0o755)
	}
	if err != nil {
		return err
	}
	if !p.exists {
		return renameio.WriteFile(target, p.after, p.mode)
	}
	if p.backup && needsBackup(target, p.before) {
		if err := writeLike(target+backupSuffix, p.before, target); err != nil {
			return err
		}
	}
	return writeLike(target, p.after, target)
}

// needsBackup reports whether to back up the file at path before it is replaced; content is what it
// holds now. In a git work tree no backup is needed, because git has the earlier content. If content
// already mentions Tandem, an existing backup is kept, because it is from before Tandem.
func needsBackup(path string, content []byte) bool {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if pathExists(filepath.Join(dir, ".git")) {
			return false
		}
		if dir == filepath.Dir(dir) {
			return !bytes.Contains(content, []byte(serverName)) || !pathExists(path+backupSuffix)
		}
	}
}

// writeLike atomically writes text to path, with the mode and owner of the file at like.
func writeLike(path string, text []byte, like string) error {
	info, err := os.Stat(like)
	if err != nil {
		return err
	}
	f, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o600))
	if err != nil {
		return err
	}
	defer f.Cleanup()
	// The owner comes first: the mode may open the file to a group.
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		err = f.Chown(int(owner.Uid), int(owner.Gid))
	}
	_, err2 := f.Write(text)
	if err := errors.Join(err, f.Chmod(info.Mode().Perm()), err2); err != nil {
		return err
	}
	return f.CloseAtomicallyReplace()
}

package engine

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"tandem/engine/keeper"
	"tandem/engine/shell"
	"tandem/persist/store"
)

// startChild has the keeper start a record's child. A one-shot command line that
// needs no shell is started without one; should that not be possible, the shell
// says why. Through bash, short commands of agents take 1.3 to 1.4 times as long.
func startChild(ctx context.Context, client keeperClient, r store.Record, spec keeper.Spec) (keeper.Child, *os.File, error) {
	if d, ok := direct(r, spec); ok {
		child, master, err := client.Start(ctx, d)
		if err == nil || errors.Is(err, keeper.ErrLost) || ctx.Err() != nil {
			return child, master, err
		}
	}
	return client.Start(ctx, spec)
}

// direct is the program that the shell of a spec would become at once, with
// nothing else to do.
func direct(r store.Record, spec keeper.Spec) (keeper.Spec, bool) {
	if !r.Transient || r.TTY {
		return spec, false
	}
	words, ok := shell.Direct(spec.Argv, spec.Env, spec.CWD)
	if !ok {
		return spec, false
	}
	path, err := keeper.LookPath(words[0], spec.CWD, spec.Env)
	if err != nil || !executes(path) || shadows(words[0], path) {
		return spec, false
	}
	spec.Env = shell.Environ(spec.Env, path)
	spec.Argv, spec.Path = words, path
	return spec, true
}

// shadows reports whether a program stands for a command of the shell's own that
// it may not be like.
func shadows(name, path string) bool {
	return (name == "true" || name == "false") && path != "/bin/"+name && path != "/usr/bin/"+name
}

// executes reports whether the kernel can start a file; a script that does not
// say for whom it is would be the shell's own.
func executes(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // another kind could make opening it wait
		return false
	}
	f, err := os.OpenFile(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0) // it may have been replaced
	if err != nil {
		return false
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return false
	}
	var magic [4]byte
	if _, err := io.ReadFull(f, magic[:]); err != nil {
		return false
	}
	return bytes.Equal(magic[:], []byte("\x7fELF")) || bytes.HasPrefix(magic[:], []byte("#!"))
}

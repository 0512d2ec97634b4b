// Package git runs the system's git where a repository may be an agent's work: it asks
// nobody, fetches nothing, reads no configuration but what its caller lets it, and is killed
// with all that it started when its context ends. What of the repository's own configuration
// would be executed is for the caller to know.
package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"tandem/engine/panics"
)

// Nowhere is a path in which nothing can be found.
const Nowhere = "/dev/null"

// endGrace is how long git's output is waited for when it was killed.
const endGrace = time.Second

// Alone is the environment of a git that reads no configuration of the person or the
// machine.
func Alone() []string {
	return []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + Nowhere, "HOME=" + Nowhere, "XDG_CONFIG_HOME=" + Nowhere}
}

// A Command is git in a folder.
type Command struct {
	Program string   // where git is
	Dir     string   // where it runs
	Env     []string // beside what all have
	In      io.Reader
	Most    int // bytes that are kept of what it prints, and of what it complains of
}

// ErrPipe is why git was killed that would have waited for a writer: somebody has put a
// named pipe where git reads a file.
var ErrPipe = errors.New("a named pipe is in the place of a file that git reads")

// Run runs git with arguments and gives what it prints and what it complains of.
func (c Command) Run(ctx context.Context, args ...string) (out, complaint []byte, err error) {
	cmd := exec.CommandContext(ctx, c.Program, args...)
	cmd.Dir, cmd.Stdin = c.Dir, c.In
	cmd.Env = append([]string{
		"LC_ALL=C", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=", "GIT_TERMINAL_PROMPT=0", "GIT_LITERAL_PATHSPECS=1", "GIT_OPTIONAL_LOCKS=0",
	}, c.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = endGrace
	printed, complained := bounded{most: c.Most}, bounded{most: c.Most}
	cmd.Stdout, cmd.Stderr = &printed, &complained
	if err = cmd.Start(); err == nil {
		var watch panics.Group
		stuck, done := false, make(chan struct{})
		watch.Start(func() { stuck = killIfStuck(cmd, done) })
		err = cmd.Wait()
		close(done)
		if watch.Wait(); stuck {
			err = ErrPipe
		}
	}
	return printed.Bytes(), complained.Bytes(), err
}

// stuckLook is how often git is looked at whether it waits for a pipe's writer.
const stuckLook = 100 * time.Millisecond

// killIfStuck kills git when it opens a named pipe that nobody writes, and reports whether it
// did. Where the kernel does not tell what a thread waits for, the caller's context has to do,
// and so for a pipe that somebody has opened and does not write.
func killIfStuck(cmd *exec.Cmd, done <-chan struct{}) bool {
	look := time.NewTicker(stuckLook)
	defer look.Stop()
	for {
		select {
		case <-done:
			return false
		case <-look.C:
		}
		where, _ := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/wchan") // it may have ended
		if w := string(where); w == "wait_for_partner" || w == "fifo_open" {         // fs/pipe.c
			return cmd.Process.Kill() == nil
		}
	}
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

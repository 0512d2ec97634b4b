// Package git runs the system's git in repositories possibly controlled by an agent. git never
// prompts or fetches, reads only the configuration its caller allows, and is killed with its
// children when its context ends. Callers must disable everything the repository's own
// configuration would execute.
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

	"tandem/engine/base/panics"
)

// Nowhere is a path without files for git to read.
const Nowhere = "/dev/null"

// outputGrace bounds the wait for git's output after it was killed.
const outputGrace = time.Second

// Alone returns an environment in which git ignores the configuration of the user and the system.
func Alone() []string {
	return []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + Nowhere, "HOME=" + Nowhere, "XDG_CONFIG_HOME=" + Nowhere}
}

// A Command describes a run of git in a directory.
type Command struct {
	Program string   // path of git
	Dir     string   // working directory
	Env     []string // additional environment
	In      io.Reader
	Most    int // maximum number of bytes kept of stdout, and of stderr
}

// ErrPipe is returned if git was killed because it waited for the writer of a named pipe, put in
// the place of a file.
var ErrPipe = errors.New("a file that git reads is a named pipe")

// Run runs git with args and returns its stdout and stderr.
func (c Command) Run(ctx context.Context, args ...string) (out, errorOutput []byte, err error) {
	cmd := exec.CommandContext(ctx, c.Program, args...)
	cmd.Dir, cmd.Stdin = c.Dir, c.In
	cmd.Env = append([]string{
		"LC_ALL=C", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=", "GIT_TERMINAL_PROMPT=0", "GIT_LITERAL_PATHSPECS=1", "GIT_OPTIONAL_LOCKS=0",
	}, c.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = outputGrace
	stdout, stderr := boundedBuffer{limit: c.Most}, boundedBuffer{limit: c.Most}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
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
	return stdout.Bytes(), stderr.Bytes(), err
}

// stuckInterval is the interval at which to check whether git waits for a pipe's writer.
const stuckInterval = 100 * time.Millisecond

// killIfStuck kills git if it blocks opening a named pipe without a writer, and reports whether it
// did. The caller's context must end git if the kernel hides what a thread waits for, or if the
// pipe has a silent writer.
func killIfStuck(cmd *exec.Cmd, done <-chan struct{}) bool {
	look := time.NewTicker(stuckInterval)
	defer look.Stop()
	for {
		select {
		case <-done:
			return false
		case <-look.C:
		}
		// Ignore the error: git may have exited.
		where, _ := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/wchan")
		if w := string(where); w == "wait_for_partner" || w == "fifo_open" { // fs/pipe.c
			return cmd.Process.Kill() == nil
		}
	}
}

// A boundedBuffer drops bytes past its limit.
type boundedBuffer struct {
	bytes.Buffer
	limit int
}

func (b *boundedBuffer) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:max(min(len(p), b.limit-b.Len()), 0)])
	return len(p), nil
}

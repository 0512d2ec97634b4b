package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"tandem/engine/base/sleep"
	"tandem/ui/cli/tmux/format"
	"tandem/ui/cli/tmux/server"
)

// scriptCommands implements the commands that run shells, run other commands, or wait.
type scriptCommands struct {
	ctx      context.Context
	stdin    io.Reader
	stderr   io.Writer
	state    *server.State
	targets  *targets
	formats  *formats
	print    *printer
	settings *settings
	run      func(sequence []*command) error // see call.runSequence
	unlocked func(wait func() error) error   // see call.runUnlocked
}

// shellCommand returns a shell running line in the directory and environment of this call, with TMUX
// set.
func (c *scriptCommands) shellCommand(line string) *exec.Cmd {
	cmd := exec.CommandContext(c.ctx, "/bin/sh", "-c", line)
	cmd.Env = c.settings.environ
	if at, err := c.targets.findDefault(); err == nil && c.settings.lookupEnv("TMUX") == "" {
		// Limit the capacity: append must not write into the caller's array.
		cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "TMUX="+c.settings.tmuxVariable(at.Session.ID))
	}
	return cmd
}

func (c *scriptCommands) runShell(cmd *command, _ server.Target) error {
	at, _ := c.targets.find(cmd, 't', server.TargetPane)
	if cmd.has('d') {
		seconds, err := strconv.ParseFloat(cmd.value('d'), 64)
		if err != nil {
			return fmt.Errorf("invalid delay time: %s", cmd.value('d'))
		}
		if err := c.unlocked(func() error { return sleep.For(c.ctx, time.Duration(seconds*float64(time.Second))) }); err != nil {
			return err
		}
	}
	line := c.formats.expand(at, cmd.arg(0))
	switch {
	case line == "":
		return nil
	case cmd.has('C'):
		return c.runText(line)
	}
	shell := c.shellCommand(line)
	if cmd.has('b') {
		// In a session of its own, it survives the closing of this terminal.
		shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		return shell.Start()
	}
	// The command may call tmux, so it must run with the server unlocked.
	var out bytes.Buffer
	shell.Stdout, shell.Stderr = &out, &out
	var status error
	if err := c.unlocked(func() error { status = shell.Run(); return nil }); err != nil {
		return err
	}
	fmt.Fprint(c.print.out, out.String())
	var exit *exec.ExitError
	if errors.As(status, &exit) {
		return exitStatus(exit.ExitCode())
	}
	return status
}

// runText runs commands in the syntax of configuration files.
func (c *scriptCommands) runText(text string) error {
	sequence, err := parseText(text, c.settings.lookupEnv)
	if err != nil {
		return err
	}
	return c.run(sequence)
}

func (c *scriptCommands) ifShell(cmd *command, _ server.Target) error {
	at, _ := c.targets.find(cmd, 't', server.TargetPane)
	condition := c.formats.expand(at, cmd.args[0])
	holds := format.IsTrue(condition)
	if !cmd.has('F') {
		shell := c.shellCommand(condition)
		if err := c.unlocked(func() error { holds = shell.Run() == nil; return nil }); err != nil {
			return err
		}
	}
	if holds {
		return c.runText(cmd.args[1])
	}
	return c.runText(cmd.arg(2))
}

func (c *scriptCommands) sourceFile(cmd *command, _ server.Target) error {
	for _, pattern := range cmd.args {
		paths, _ := filepath.Glob(pattern)
		if paths == nil { // read the pattern itself, for the error of a missing file
			paths = []string{pattern}
		}
		for _, path := range paths {
			text, err := readFile(c.stdin, path)
			if err != nil && cmd.has('q') {
				continue
			}
			if err != nil {
				return err
			}
			if err := c.runSource(path, string(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *scriptCommands) runSource(path, text string) error {
	err := c.runText(text)
	var exit exitStatus
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// runConfig runs a configuration file at the start of a server. Errors are printed, and the remaining
// commands still run.
func (c *scriptCommands) runConfig(path string) {
	text, err := readFile(c.stdin, path)
	if err != nil {
		fmt.Fprintln(c.stderr, err)
		return
	}
	r := lexer{text: string(text), env: c.settings.lookupEnv}
	lines, err := r.splitCommands()
	if err != nil {
		fmt.Fprintf(c.stderr, "%s: %v\n", path, err)
	}
	for _, words := range lines {
		cmd, err := parseCommand(words)
		if err == nil {
			err = c.run([]*command{cmd})
		}
		if err != nil {
			fmt.Fprintf(c.stderr, "%s: %v\n", path, err)
		}
	}
}

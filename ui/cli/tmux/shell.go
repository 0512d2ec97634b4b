package tmux

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"tandem/engine/base/sleep"
	"tandem/ui/cli/tmux/format"
	"tandem/ui/cli/tmux/server"
)

// scriptCommands implements the commands that run shells, run other commands, list them, or wait.
type scriptCommands struct{ *call }

// shellCommand returns a shell running line in the directory and environment of this call, with TMUX
// set.
func (c scriptCommands) shellCommand(line string) *exec.Cmd {
	cmd := exec.CommandContext(c.ctx, "/bin/sh", "-c", line)
	cmd.Env = c.settings.environ
	if at, err := c.targets.findDefault(); err == nil && c.settings.lookupEnv("TMUX") == "" {
		// Limit the capacity: append must not write into the caller's array.
		cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "TMUX="+c.settings.tmuxVariable(at.Session.ID))
	}
	return cmd
}

func (c scriptCommands) runShell(cmd *command, _ server.Target) error {
	at, _ := c.targets.find(cmd, 't', server.TargetPane)
	if cmd.has('d') {
		seconds, err := strconv.ParseFloat(cmd.value('d'), 64)
		if err != nil {
			return fmt.Errorf("invalid delay time: %s", cmd.value('d'))
		}
		if err := c.runUnlocked(func() error { return sleep.For(c.ctx, time.Duration(seconds*float64(time.Second))) }); err != nil {
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
	if err := c.runUnlocked(func() error { status = shell.Run(); return nil }); err != nil {
		return err
	}
	fmt.Fprint(c.print.out, out.String())
	var exit *exec.ExitError
	if errors.As(status, &exit) {
		return exitStatus(exit.ExitCode())
	}
	return status
}

// runText runs the commands in a text.
func (c scriptCommands) runText(text string) error {
	sequence, err := c.table.parseText(text)
	if err != nil {
		return err
	}
	return c.runSequence(sequence)
}

func (c scriptCommands) ifShell(cmd *command, _ server.Target) error {
	at, _ := c.targets.find(cmd, 't', server.TargetPane)
	condition := c.formats.expand(at, cmd.args[0])
	holds := format.IsTrue(condition)
	if !cmd.has('F') {
		shell := c.shellCommand(condition)
		if err := c.runUnlocked(func() error { holds = shell.Run() == nil; return nil }); err != nil {
			return err
		}
	}
	if holds {
		return c.runText(cmd.args[1])
	}
	return c.runText(cmd.arg(2))
}

func (c scriptCommands) listCommands(*command, server.Target) error {
	for _, h := range c.table {
		line := h.name
		if h.alias != "" {
			line += " (" + h.alias + ")"
		}
		c.print.lines(line)
	}
	return nil
}

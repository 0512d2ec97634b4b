// Package tmux implements tmux's command line for scripts and agents written for it. The programs in
// its panes are sessions of the engine, and its windows appear in the dashboard as tabs and splits.
// Unsupported commands, flags and formats are rejected by name instead of being ignored.
//
// There is no server process: a call locks and loads the server's state from a file, runs its
// commands and stores the state (package server). Programs meanwhile exit on their own, so each call
// first removes the panes of exited ones. Speed matters, as scripts call tmux in loops: whether a
// pane's program still runs is read from /proc, so most calls never connect to the engine, and
// an unchanged state is not written.
package tmux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/persist/datadir"
	"tandem/ui/cli/procfs"
	"tandem/ui/cli/tmux/server"
)

// version is the version of tmux being implemented.
const version = "3.3a"

// Options holds the connection, streams and environment of a call. All fields are required.
type Options struct {
	Connect        func(context.Context) (*client.Client, error)
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // "NAME=value"
}

// Main runs the arguments of a tmux command line and returns its exit status. Errors are printed to
// o.Stderr. Attaching replaces the process with the dashboard.
func Main(ctx context.Context, o Options, args []string) int {
	err := runLine(ctx, o, args)
	var exit exitStatus
	switch {
	case errors.As(err, &exit):
		return int(exit)
	case err != nil:
		fmt.Fprintln(o.Stderr, err)
		return 1
	}
	return 0
}

// An exitStatus is an error giving only an exit status, without a message.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// A call is the execution of one command line: it locks the server, refreshes its state, runs commands
// and stores the state.
type call struct {
	Options
	ctx    context.Context
	global *command // flags before the first command
	file   *server.File
	locked bool
	depth  int // nesting of commands running others

	engine    *engine
	settings  *settings
	targets   *targets
	formats   *formats
	print     *printer
	dashboard *dashboard
	programs  *programs
	commands  commands
	handlers  map[string]handler
}

// newCall returns a call of the server at path.
func newCall(ctx context.Context, o Options, path string) *call {
	c := &call{Options: o, ctx: ctx, global: &command{}, file: server.NewFile(path)}
	state := c.file.State
	c.engine = &engine{ctx: ctx, dial: o.Connect, fetched: c.notePIDs}
	c.settings = &settings{state: state, environ: o.Environ}
	c.targets = &targets{state: state}
	c.formats = &formats{state: state, engine: c.engine, settings: c.settings, targets: c.targets}
	c.print = &printer{out: o.Stdout, formats: c.formats}
	c.dashboard = &dashboard{engine: c.engine}
	c.programs = &programs{
		state: state, engine: c.engine, targets: c.targets, settings: c.settings, formats: c.formats,
		dashboard: c.dashboard,
	}
	c.commands = c.newCommands()
	c.handlers = c.commands.handlers()
	return c
}

func (c *call) newCommands() commands {
	state := c.file.State
	keys := &keyboard{engine: c.engine, formats: c.formats, settings: c.settings}
	terminal := &clients{
		state: state, targets: c.targets, formats: c.formats, settings: c.settings, programs: c.programs,
		dashboard: c.dashboard, stdin: c.Stdin, stdout: c.Stdout,
	}
	return commands{
		buffers: &bufferCommands{
			state: state, engine: c.engine, formats: c.formats, print: c.print, settings: c.settings,
			keyboard: keys, stdin: c.Stdin,
		},
		clients:  terminal,
		keyboard: keys,
		layouts:  &layoutCommands{settings: c.settings, programs: c.programs, clients: terminal},
		options: &optionCommands{
			state: state, targets: c.targets, formats: c.formats, print: c.print, settings: c.settings,
		},
		panes: &paneCommands{
			state: state, engine: c.engine, targets: c.targets, formats: c.formats, print: c.print,
			settings: c.settings, programs: c.programs, dashboard: c.dashboard,
		},
		printing: &printCommands{targets: c.targets, formats: c.formats, print: c.print},
		scripts: &scriptCommands{
			ctx: c.ctx, stdin: c.Stdin, stderr: c.Stderr, state: state, targets: c.targets, formats: c.formats,
			print: c.print, settings: c.settings, run: c.runSequence, unlocked: c.runUnlocked,
		},
		sessions: &sessionCommands{
			state: state, targets: c.targets, formats: c.formats, print: c.print, settings: c.settings,
			programs: c.programs, clients: terminal,
		},
		windows: &windowCommands{
			state: state, targets: c.targets, formats: c.formats, print: c.print, settings: c.settings,
			programs: c.programs, dashboard: c.dashboard,
		},
	}
}

// usage declares the flags before the first command.
const usage = "tmux [-2CDlNuVv] [-c shell-command] [-f file] [-L socket-name] [-S socket-path] [-T features] [command [flags]]"

func runLine(ctx context.Context, o Options, args []string) error {
	global, err := parseFlags(parseVerb(usage), args)
	switch {
	case err != nil:
		return err
	case global.has('V'):
		fmt.Fprintln(o.Stdout, "tmux "+version)
		return nil
	}
	path, err := serverPath(o.Environ, global)
	if err != nil {
		return err
	}
	c := newCall(ctx, o, path)
	defer c.engine.close()
	c.global, args = global, global.args
	if len(args) == 0 {
		args = []string{"new-session"}
	}
	if global.has('C') {
		return c.runControl(len(global.flags['C']) > 1, args)
	}
	// Parse everything first: with a mistake anywhere in the line, nothing runs.
	sequence, err := parseArguments(args)
	if err != nil || len(sequence) == 0 {
		return err
	}
	err = c.runLocked(sequence)
	if err == nil && c.dashboard.command != nil {
		return c.execDashboard()
	}
	return err
}

// serverPath returns the path of the server's file: given by -S or -L, by $TMUX if it points to a
// server of this package, or the default. Paths outside the data directory are mapped into it.
func serverPath(environ []string, global *command) (string, error) {
	data, err := api.DataDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(data, datadir.Tmux)
	path, _, _ := strings.Cut(lookupEnv(environ, "TMUX"), ",")
	if global.has('S') {
		if path, err = filepath.Abs(global.value('S')); err != nil {
			return "", err
		}
	}
	switch name := global.value('L'); {
	case name != "" && !global.has('S'):
		return filepath.Join(dir, strings.ReplaceAll(name, "/", "%")), nil
	case filepath.Dir(path) == dir:
		return path, nil
	case global.has('S'):
		return filepath.Join(dir, strings.ReplaceAll(strings.Trim(path, "/"), "/", "%")), nil
	}
	return filepath.Join(dir, "default"), nil
}

// lock locks the server and loads its state.
func (c *call) lock() error {
	err := c.file.Acquire()
	c.locked = err == nil
	return err
}

// runLocked runs a sequence with the server locked and stops at the first error. Changes made before
// the error are kept.
func (c *call) runLocked(sequence []*command) (err error) {
	if err := c.lock(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.commitState()) }()
	if err := c.refreshState(); err != nil {
		return err
	}
	switch {
	case c.file.IsRunning():
	// Few commands may start a server, and only then is a configuration file read.
	case c.global.has('N') || !startsServer(sequence[0].name):
		return fmt.Errorf("no server running on %s", c.file.Path)
	case c.global.has('f'):
		c.commands.scripts.runConfig(c.global.value('f'))
	}
	return c.runSequence(sequence)
}

func startsServer(name string) bool {
	return slices.Contains([]string{"new-session", "start-server", "attach-session", "list-commands"}, name)
}

// refreshState removes panes of programs exited since the previous call, and finds the caller's own
// pane.
func (c *call) refreshState() error {
	if !c.file.IsRunning() {
		return nil
	}
	// /proc is cheap: only an exit justifies asking the engine, which also knows of restarts.
	c.engine.processes = nil
	if c.file.FindPane(func(at server.Target) bool { return !c.engine.isAlive(at.Pane) }).Pane != nil {
		if err := c.engine.fetchProcesses(); err != nil {
			return err
		}
		c.removeExited()
	}
	c.targets.locateOwn(c.settings.lookupEnv)
	return nil
}

// removeExited removes the panes of exited programs, except with remain-on-exit.
func (c *call) removeExited() {
	for _, at := range c.file.ListPanes(func(at server.Target) bool { return !c.engine.isAlive(at.Pane) }) {
		if keep := c.settings.optionValue(at, "remain-on-exit"); !keep.IsOn() && keep != "failed" {
			c.programs.remove(at)
		}
	}
}

// runSequence runs commands in order, up to the first error.
func (c *call) runSequence(sequence []*command) error {
	if c.depth++; c.depth > 20 {
		return errors.New("too many nested commands")
	}
	defer func() { c.depth-- }()
	for _, command := range sequence {
		h := c.handlers[command.name]
		if h.run == nil {
			return fmt.Errorf("%s is not supported by tandem", command.name)
		}
		at, err := c.targets.find(command, 't', h.target)
		if err == nil {
			err = h.run(command, at)
		}
		if err == nil {
			err = c.formats.takeError()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// commitState updates the dashboard with the changes, then stores the state and unlocks the server. It
// does nothing if the server is not locked.
func (c *call) commitState() error {
	if !c.locked {
		return nil
	}
	c.locked = false
	return errors.Join(c.dashboard.update(), c.file.Release())
}

// runUnlocked calls wait, which may take long, with the server unlocked for other calls. Pointers
// into the state are stale afterwards.
func (c *call) runUnlocked(wait func() error) error {
	if err := c.commitState(); err != nil {
		return err
	}
	err := wait()
	if again := c.lock(); again != nil {
		return errors.Join(err, again)
	}
	return errors.Join(err, c.refreshState())
}

// notePIDs records the PIDs of restarted programs, once the engine's sessions are known.
func (c *call) notePIDs() {
	for _, at := range c.file.ListPanes(nil) {
		p := at.Pane
		if pid := c.engine.processes[p.Terminal].PID; pid != p.PID && pid != 0 {
			s, _ := procfs.Read(pid)
			p.PID, p.StartTime = pid, s.StartTime
		}
	}
}

// execDashboard replaces this process with the dashboard.
func (c *call) execDashboard() error {
	c.engine.close()
	return execProgram(c.dashboard.command, os.Environ())
}

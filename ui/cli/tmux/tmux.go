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
	*parts
	ctx    context.Context
	global *command // flags before the first command
	file   *server.File
	table  table
	locked bool
	depth  int // nesting of commands running others
}

// parts are what commands work with.
type parts struct {
	Options
	state     *server.State
	engine    *engine
	settings  *settings
	targets   *targets
	formats   *formats
	print     *printer
	dashboard *dashboard
	programs  *programs
}

// newCall returns a call of the server at path.
func newCall(ctx context.Context, o Options, path string) *call {
	c := &call{ctx: ctx, global: &command{}, file: server.NewFile(path)}
	p := &parts{Options: o, state: c.file.State, engine: &engine{ctx: ctx, dial: o.Connect, fetched: c.notePIDs}}
	p.settings = &settings{state: p.state, environ: o.Environ}
	p.targets = &targets{state: p.state}
	p.formats = &formats{state: p.state, engine: p.engine, settings: p.settings, targets: p.targets}
	p.print = &printer{out: o.Stdout, formats: p.formats}
	p.dashboard = &dashboard{engine: p.engine}
	p.programs = &programs{
		state: p.state, engine: p.engine, targets: p.targets, settings: p.settings, formats: p.formats,
		dashboard: p.dashboard,
	}
	c.parts = p
	c.table = newTable(c)
	return c
}

func runLine(ctx context.Context, o Options, args []string) error {
	global, err := parseFlags(handler{name: "tmux", flags: "2CNuVL:S:"}, args)
	switch {
	case err != nil:
		return err
	case global.has('C'):
		return errors.New("control mode (tmux -C) is not supported by tandem; to start a Procfile, run `tandem up`")
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
	// Parse everything first: with a mistake anywhere in the line, nothing runs.
	sequence, err := c.table.parseArguments(args)
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
	if !c.file.IsRunning() && (c.global.has('N') || !startsServer(sequence[0].name)) {
		return fmt.Errorf("no server running on %s", c.file.Path)
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
		at, err := c.targets.find(command, 't', command.target)
		if err == nil {
			err = command.run(command, at)
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
			p.PID, p.StartTime = pid, startTime(pid)
		}
	}
}

// execDashboard replaces this process with the dashboard.
func (c *call) execDashboard() error {
	c.engine.close()
	return execProgram(c.dashboard.command, os.Environ())
}

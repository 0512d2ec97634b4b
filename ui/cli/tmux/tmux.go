// Package tmux implements tmux's command line for scripts and agents written for it. The programs in
// its panes are sessions of the engine, and its windows appear in the dashboard as tabs and splits.
// Unsupported commands, flags and formats are rejected by name instead of being ignored.
//
// There is no server process: a call locks and loads the server's state from a file, runs its
// commands and stores the state (package server). Programs meanwhile exit on their own, so each call
// first removes the panes of exited ones. Speed matters, as scripts call tmux in loops: whether a
// pane's program still runs is read from /proc, so most calls never connect to the engine, and
// read-only ones do not write the state.
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
	"time"

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

func (o Options) lookupEnv(name string) string {
	for _, pair := range slices.Backward(o.Environ) { // the last of repeated variables counts
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// sessionVariable is the environment variable with the id of the session a program runs in.
const sessionVariable = "TANDEM_SESSION_ID"

// Main runs the arguments of a tmux command line and returns its exit status. Errors are printed to
// o.Stderr. Attaching replaces the process with the dashboard.
func Main(ctx context.Context, o Options, args []string) int {
	c := newCall(ctx, o)
	defer c.close()
	err := c.runLine(args)
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

func newCall(ctx context.Context, o Options) *call {
	return &call{Options: o, ctx: ctx, out: o.Stdout, global: &command{}}
}

// An exitStatus is an error giving only an exit status, without a message.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// A call is the execution of one command line.
type call struct {
	Options
	ctx context.Context

	global    *command // flags before the first command
	file      *server.File
	path      string // of the server
	ownTarget server.Target
	out       io.Writer
	engine    *client.Client
	processes map[string]api.Process // engine's sessions by id; nil until fetched, see knownProcesses
	dashboard []string               // command line to run as the dashboard at the end; nil if none

	readOnly    bool             // the state needs no writing
	changed     []*server.Window // windows to update in the dashboard
	removed     []string         // ids of the engine's sessions to close in the dashboard
	movedOut    []string         // ids of those to take out of their tab
	swapped     [][2]string      // ids of those to swap
	unsupported error            // error for an unsupported feature of an expanded format
	control     *control         // nil outside control mode
	depth       int              // nesting of commands running others
}

// usage declares the flags before the first command.
const usage = "tmux [-2CDlNuVv] [-c shell-command] [-f file] [-L socket-name] [-S socket-path] [-T features] [command [flags]]"

func (c *call) runLine(args []string) error {
	g, err := parseFlags(parseVerb(usage), args)
	switch {
	case err != nil:
		return err
	case g.has('V'):
		fmt.Fprintln(c.out, "tmux "+version)
		return nil
	}
	c.global, args = g, g.args
	if c.path, err = serverPath(c); err != nil {
		return err
	}
	if g.has('C') {
		return controlMode(c, len(g.flags['C']) > 1, args)
	}
	if len(args) == 0 {
		args = []string{"new-session"}
	}
	// Parse everything first: with a mistake anywhere in the line, nothing runs.
	sequence, err := parseArguments(args)
	if err != nil || len(sequence) == 0 {
		return err
	}
	err = c.runLocked(sequence)
	if err == nil && c.dashboard != nil {
		return c.execDashboard()
	}
	return err
}

// serverPath returns the path of the server's file: given by -S or -L, by $TMUX if it points to a
// server of this package, or the default. Paths outside the data directory are mapped into it.
func serverPath(c *call) (string, error) {
	data, err := api.DataDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(data, datadir.Tmux)
	path, _, _ := strings.Cut(c.lookupEnv("TMUX"), ",")
	if c.global.has('S') {
		if path, err = filepath.Abs(c.global.value('S')); err != nil {
			return "", err
		}
	}
	switch name := c.global.value('L'); {
	case name != "" && !c.global.has('S'):
		return filepath.Join(dir, strings.ReplaceAll(name, "/", "%")), nil
	case filepath.Dir(path) == dir:
		return path, nil
	case c.global.has('S'):
		return filepath.Join(dir, strings.ReplaceAll(strings.Trim(path, "/"), "/", "%")), nil
	}
	return filepath.Join(dir, "default"), nil
}

// runLocked runs a sequence with the server locked and stops at the first error. Changes made before
// the error are kept.
func (c *call) runLocked(sequence []*command) (err error) {
	if c.file, err = server.Open(c.path); err != nil {
		return err
	}
	c.readOnly = !slices.ContainsFunc(sequence, func(one *command) bool { return !isReadOnly(one.name) })
	defer func() { err = errors.Join(err, c.commitState()) }()
	if err := c.refreshState(); err != nil {
		return err
	}
	switch {
	case c.file.IsRunning():
	// Few commands may start a server, and only then is a configuration file read.
	case c.global.has('N') || !startsServer(sequence[0].name):
		return fmt.Errorf("no server running on %s", c.path)
	case c.global.has('f'):
		c.runConfig(c.global.value('f'))
	}
	return c.runSequence(sequence)
}

func startsServer(name string) bool {
	return slices.Contains([]string{"new-session", "start-server", "attach-session", "list-commands", "list-keys"}, name)
}

// refreshState removes panes of programs exited since the previous call, and finds the caller's own
// pane.
func (c *call) refreshState() error {
	if !c.file.IsRunning() {
		return nil
	}
	// /proc is cheap: only an exit justifies asking the engine, which also knows of restarts.
	c.processes = nil
	if c.file.FindPane(func(at server.Target) bool { return !c.isAlive(at.Pane) }).Pane != nil {
		if err := c.refreshProcesses(); err != nil {
			return err
		}
		c.removeExited()
	}
	c.ownTarget = findOwnPane(c)
	return nil
}

// removeExited removes the panes of exited programs, except with remain-on-exit.
func (c *call) removeExited() {
	for _, at := range c.file.ListPanes(func(at server.Target) bool { return !c.isAlive(at.Pane) }) {
		if keep := c.optionValue(at, "remain-on-exit"); !keep.IsOn() && keep != "failed" {
			c.removePane(at)
		}
	}
}

// isAlive reports whether a pane's program runs. Until the engine's sessions are fetched, it checks
// the program's PID and start time in /proc, sparing most calls a connection.
func (c *call) isAlive(p *server.Pane) bool {
	if c.processes == nil {
		s, ok := procfs.Read(p.PID)
		return ok && s.StartTime == p.StartTime && s.State != "Z"
	}
	process, known := c.processes[p.Terminal]
	return known && !process.State.Ended()
}

// findOwnPane returns the pane this call was made from, or the zero Target outside the server.
func findOwnPane(c *call) server.Target {
	pane, terminal := strings.TrimPrefix(c.lookupEnv("TMUX_PANE"), "%"), c.lookupEnv(sessionVariable)
	path, _, _ := strings.Cut(c.lookupEnv("TMUX"), ",")
	return c.file.FindPane(func(at server.Target) bool {
		if path == c.path && pane != "" {
			return fmt.Sprint(at.Pane.ID) == pane
		}
		return terminal != "" && at.Pane.Terminal == terminal
	})
}

// runSequence runs commands in order, up to the first error.
func (c *call) runSequence(sequence []*command) error {
	if c.depth++; c.depth > 20 {
		return errors.New("too many nested commands")
	}
	defer func() { c.depth-- }()
	for _, command := range sequence {
		h := handlers()[command.name]
		if h.run == nil {
			return fmt.Errorf("%s is not supported by tandem", command.name)
		}
		at, err := c.findTarget(command, 't', h.target)
		if err == nil {
			err = h.run(c, command, at)
		}
		if err == nil {
			// Expanding a format returns no error, so the scope has recorded it.
			err, c.unsupported = c.unsupported, nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isReadOnly reports whether a command never changes the state, so that writing it can be skipped.
func isReadOnly(name string) bool {
	return slices.Contains([]string{"display-message", "has-session", "list-sessions", "list-windows", "list-panes", "show-options"}, name)
}

// commitState updates the dashboard with the changes, then stores the state and unlocks the server. It
// does nothing if the server is not locked.
func (c *call) commitState() error {
	if c.file == nil {
		return nil
	}
	err := c.updateDashboard()
	if c.readOnly {
		err = errors.Join(err, c.file.ReleaseUnchanged())
	} else {
		err = errors.Join(err, c.file.Release())
	}
	c.file = nil
	return err
}

func (c *call) close() {
	if c.engine != nil {
		c.engine.Close()
	}
}

// connectEngine returns the connection to the engine, opening it on first use.
func (c *call) connectEngine() (*client.Client, error) {
	if c.engine != nil {
		return c.engine, nil
	}
	var err error
	c.engine, err = c.Connect(c.ctx)
	return c.engine, err
}

// callEngine calls an operation of the engine.
func callEngine[In, Out any](c *call, op api.Operation[In, Out], in In) (out Out, err error) {
	e, err := c.connectEngine()
	if err != nil {
		return out, err
	}
	return op.Call(c.ctx, e, in)
}

// refreshProcesses fetches the engine's sessions and updates the PIDs of restarted programs.
func (c *call) refreshProcesses() error {
	list, err := callEngine(c, api.SessionList, api.Empty{})
	if err != nil {
		return err
	}
	c.readOnly = false // PIDs of panes may change below
	c.processes = make(map[string]api.Process, len(list.Sessions))
	for _, p := range list.Sessions {
		c.processes[p.ID] = p
	}
	for _, at := range c.file.ListPanes(nil) {
		p := at.Pane
		if pid := c.processes[p.Terminal].PID; pid != p.PID && pid != 0 {
			s, _ := procfs.Read(pid)
			p.PID, p.StartTime = pid, s.StartTime
		}
	}
	return nil
}

// knownProcesses returns the engine's sessions by id; none if fetching them fails.
func (c *call) knownProcesses() map[string]api.Process {
	if c.processes == nil && c.refreshProcesses() != nil {
		return map[string]api.Process{}
	}
	return c.processes
}

// newFinder returns a finder of targets relative to the caller's own pane.
func (c *call) newFinder() server.Finder {
	return server.Finder{State: c.file.State, Default: c.ownTarget}
}

// findTarget resolves the target given by flag, or the default one without it.
func (c *call) findTarget(cmd *command, flag byte, want server.TargetKind) (server.Target, error) {
	if want == server.TargetNone {
		return server.Target{}, nil
	}
	return c.newFinder().FindTarget(cmd.value(flag), want)
}

func (c *call) printLines(lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(c.out, line)
	}
}

// markUsed records the use of a session; the most recent one is the default target.
func (c *call) markUsed(s *server.Session) {
	s.Used, c.file.Recent = time.Now(), s.ID
}

// execDashboard replaces this process with the dashboard.
func (c *call) execDashboard() error {
	c.close()
	c.engine = nil
	return execProgram(c.dashboard, os.Environ())
}

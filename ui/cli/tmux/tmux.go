// Package tmux is tmux's command line over Tandem, for scripts and agents that speak it: sessions,
// windows and panes whose programs are the engine's sessions, shown in the dashboard as tabs and
// splits. What it does not have, it refuses by name.
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

// version is the tmux whose command line this is.
const version = "3.3a"

// Options say what the command line works with. All are needed.
type Options struct {
	Connect        func(context.Context) (*client.Client, error)
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // "NAME=value"
}

func (o Options) env(name string) string {
	for _, pair := range slices.Backward(o.Environ) {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// ownSession is the variable with the id of the session that a program runs in.
const ownSession = "TANDEM_SESSION_ID"

// Main runs a command line, what stands after `tmux`, and returns the exit status.
func Main(ctx context.Context, o Options, args []string) int {
	c := newCall(ctx, o)
	defer c.close()
	err := c.main(args)
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

// An exitStatus ends the program with nothing more to say.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// A call is one command line.
type call struct {
	Options
	ctx context.Context

	global  *command // the flags before the verb
	file    *server.File
	path    string // of the server
	own     server.Target
	out     io.Writer
	engine  *client.Client
	running map[string]api.Process // what the engine says; nil before it was asked, see known
	shell   []string               // what makes this terminal the dashboard when all is done

	looks   bool             // it leaves the server as it was
	changed []*server.Window // windows to be laid out anew in the dashboard
	closed  []string         // ids of sessions that shall not be shown any more
	apart   []string         // of those that leave their tab
	swapped [][2]string      // of those that change places
	refused error            // what is not supported of a format that was expanded
	control *control         // nil but in control mode
	depth   int              // of commands that run others
}

// usage has the flags before the verb.
const usage = "tmux [-2CDlNuVv] [-c shell-command] [-f file] [-L socket-name] [-S socket-path] [-T features] [command [flags]]"

func (c *call) main(args []string) error {
	g, err := readWords(readVerb(usage), args)
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
	sequence, err := readArguments(args)
	if err != nil || len(sequence) == 0 {
		return err
	}
	err = c.all(sequence)
	if err == nil && c.shell != nil {
		return c.become()
	}
	return err
}

// serverPath returns where the server is kept: by -S, by -L, by $TMUX if that is one of ours, else
// the default one.
func serverPath(c *call) (string, error) {
	data, err := api.DataDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(data, datadir.Tmux)
	path, _, _ := strings.Cut(c.env("TMUX"), ",")
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

// all runs a sequence with the server held, and stops at the first failure.
func (c *call) all(sequence []*command) (err error) {
	if c.file, err = server.Open(c.path); err != nil {
		return err
	}
	c.looks = !slices.ContainsFunc(sequence, func(one *command) bool { return !looks(one.name) })
	defer func() { err = errors.Join(err, c.settle()) }()
	if err := c.meet(); err != nil {
		return err
	}
	switch {
	case c.file.IsRunning():
	case c.global.has('N') || !startsServer(sequence[0].name):
		return fmt.Errorf("no server running on %s", c.path)
	case c.global.has('f'):
		c.configure(c.global.value('f'))
	}
	return c.run(sequence)
}

func startsServer(name string) bool {
	return slices.Contains([]string{"new-session", "start-server", "attach-session", "list-commands", "list-keys"}, name)
}

// meet looks which panes have ended since, and where this was called.
func (c *call) meet() error {
	if !c.file.IsRunning() {
		return nil
	}
	c.running = nil
	if c.file.FindPane(func(at server.Target) bool { return !c.alive(at.Pane) }).Pane != nil {
		if err := c.look(); err != nil {
			return err
		}
		c.removeEnded()
	}
	c.own = ownPlace(c)
	return nil
}

// removeEnded takes out the panes whose programs have ended, unless they shall remain.
func (c *call) removeEnded() {
	for _, at := range c.file.ListPanes(func(at server.Target) bool { return !c.alive(at.Pane) }) {
		if keep := c.option(at, "remain-on-exit"); !keep.IsOn() && keep != "failed" {
			c.forget(at)
		}
	}
}

// alive reports whether a pane's program runs. Most calls need to know no more, and are spared
// the engine: its first process is looked at.
func (c *call) alive(p *server.Pane) bool {
	if c.running == nil {
		s, ok := procfs.Read(p.PID)
		return ok && s.StartTime == p.StartTime && s.State != "Z"
	}
	process, known := c.running[p.Terminal]
	return known && !process.State.Ended()
}

// ownPlace returns the pane that this was called in.
func ownPlace(c *call) server.Target {
	pane, terminal := strings.TrimPrefix(c.env("TMUX_PANE"), "%"), c.env(ownSession)
	path, _, _ := strings.Cut(c.env("TMUX"), ",")
	return c.file.FindPane(func(at server.Target) bool {
		if path == c.path && pane != "" {
			return fmt.Sprint(at.Pane.ID) == pane
		}
		return terminal != "" && at.Pane.Terminal == terminal
	})
}

// run runs commands one after the other.
func (c *call) run(sequence []*command) error {
	if c.depth++; c.depth > 20 {
		return errors.New("too many nested commands")
	}
	defer func() { c.depth-- }()
	for _, command := range sequence {
		h := handlers()[command.name]
		if h.does == nil {
			return fmt.Errorf("%s is not supported by tandem", command.name)
		}
		at, err := c.target(command, 't', h.target)
		if err == nil {
			err = h.does(c, command, at)
		}
		if err == nil {
			err, c.refused = c.refused, nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// looks reports whether a command changes nothing; writing the server down takes its time.
func looks(name string) bool {
	return slices.Contains([]string{"display-message", "has-session", "list-sessions", "list-windows", "list-panes", "show-options"}, name)
}

// settle shows the dashboards what has changed, keeps the server and lets it go.
func (c *call) settle() error {
	if c.file == nil {
		return nil
	}
	err := c.arrange()
	if c.looks {
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

// client returns the connection to the engine.
func (c *call) client() (*client.Client, error) {
	if c.engine != nil {
		return c.engine, nil
	}
	var err error
	c.engine, err = c.Connect(c.ctx)
	return c.engine, err
}

// ask runs an operation on the engine.
func ask[In, Out any](c *call, op api.Operation[In, Out], in In) (out Out, err error) {
	e, err := c.client()
	if err != nil {
		return out, err
	}
	return op.Call(c.ctx, e, in)
}

// look asks the engine for its sessions.
func (c *call) look() error {
	list, err := ask(c, api.SessionList, api.Empty{})
	if err != nil {
		return err
	}
	c.looks = false // it may learn of other programs in the panes
	c.running = make(map[string]api.Process, len(list.Sessions))
	for _, p := range list.Sessions {
		c.running[p.ID] = p
	}
	for _, at := range c.file.ListPanes(nil) {
		p := at.Pane
		if pid := c.running[p.Terminal].PID; pid != p.PID && pid != 0 {
			s, _ := procfs.Read(pid)
			p.PID, p.StartTime = pid, s.StartTime
		}
	}
	return nil
}

// known returns the sessions of the engine; none if it does not answer.
func (c *call) known() map[string]api.Process {
	if c.running == nil && c.look() != nil {
		return map[string]api.Process{}
	}
	return c.running
}

// finder finds targets from where this was called.
func (c *call) finder() server.Finder { return server.Finder{State: c.file.State, Default: c.own} }

// target finds what -t, or another flag, names.
func (c *call) target(cmd *command, flag byte, want server.TargetKind) (server.Target, error) {
	if want == server.TargetNone {
		return server.Target{}, nil
	}
	return c.finder().FindTarget(cmd.value(flag), want)
}

func (c *call) print(lines ...string) {
	for _, line := range lines {
		fmt.Fprintln(c.out, line)
	}
}

// use notes that a session was used, so that it is the one meant where none is named.
func (c *call) use(s *server.Session) {
	s.Used, c.file.Recent = time.Now(), s.ID
}

// become makes this process the dashboard.
func (c *call) become() error {
	c.close()
	c.engine = nil
	return execute(c.shell, os.Environ())
}

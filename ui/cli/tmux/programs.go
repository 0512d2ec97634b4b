package tmux

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"tandem/engine/api"
	"tandem/ui/cli/procfs"
	"tandem/ui/cli/tmux/cells"
	"tandem/ui/cli/tmux/server"
)

// A program describes a program to start in a pane.
type program struct {
	argv []string // nil for the default shell
	cwd  string
	env  []string // "NAME=value"
	name string   // of the session in the dashboard
	w, h int      // size of the pane in cells
}

// parseProgram reads the flags and arguments shared by new-session, new-window, split-window and
// respawn-pane.
func parseProgram(c *call, cmd *command, at server.Target) (program, error) {
	s := program{argv: startArgv(c, cmd.args, at), env: cmd.flags['e']}
	for _, pair := range s.env {
		if !strings.Contains(pair, "=") {
			return s, fmt.Errorf("invalid environment: %s", pair)
		}
	}
	if cmd.has('c') {
		s.cwd = c.scope(at).Expand(cmd.value('c'))
	}
	s.cwd = startDirectory(c, s.cwd, at)
	return s, nil
}

// startDirectory returns the directory for a program. A relative one is resolved against the caller's
// directory, and a missing one is replaced by the home directory. For "", it is the caller's, or the
// session's if the caller is outside the server.
func startDirectory(c *call, dir string, at server.Target) string {
	here, _ := os.Getwd()
	if dir == "" {
		if c.ownTarget.Pane == nil && at.Session != nil && at.Session.CWD != "" {
			return at.Session.CWD
		}
		return here
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(here, dir)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		if home, err := os.UserHomeDir(); err == nil {
			return home
		}
	}
	return filepath.Clean(dir)
}

// startArgv returns the command line for args. One argument is a line for the shell; none means
// default-command, or else the shell.
func startArgv(c *call, args []string, at server.Target) []string {
	shell := string(c.optionValue(at, "default-shell"))
	if len(args) == 0 {
		if line := string(c.optionValue(at, "default-command")); line != "" {
			return []string{shell, "-c", line}
		}
		if _, chosen, _ := c.file.LookupOption(at, "default-shell"); chosen {
			return []string{shell}
		}
		return nil
	}
	if len(args) == 1 {
		return []string{shell, "-c", args[0]}
	}
	return args
}

// programName returns the name of a command's program, to name a window after it.
func (c *call) programName(argv []string) string {
	if len(argv) == 0 {
		return filepath.Base(cmp.Or(c.lookupEnv("SHELL"), "sh"))
	}
	word := argv[0]
	// A line for the shell is named after its first word, or the one after exec.
	if len(argv) == 3 && argv[1] == "-c" {
		word = argv[2]
		if fields := strings.Fields(word); len(fields) > 0 {
			word = fields[0]
			if word == "exec" && len(fields) > 1 {
				word = fields[1]
			}
		}
	}
	return filepath.Base(strings.Trim(word, `"'`))
}

// startProgram starts prog as a session of the engine and records it in p.
func (c *call) startProgram(p *server.Pane, at server.Target, prog program) error {
	if _, err := c.connectEngine(); err != nil {
		return err
	}
	env, environ := c.paneEnviron(p, at, prog.env)
	process, err := callEngine(c, api.SessionStart, api.SessionStartInput{
		ID: api.NewID(), Command: prog.argv, Name: c.freeName(prog.name), CWD: prog.cwd, Env: env, Environ: environ, Umask: api.Umask(),
		Cols: min(max(prog.w, 1), 1000), Rows: min(max(prog.h, 1), 1000),
	})
	if err != nil {
		return fmt.Errorf("create pane failed: %w", err)
	}
	// A PID alone may be reused; with its start time it identifies the program.
	p.Terminal, p.Argv, p.CWD = process.ID, prog.argv, prog.cwd
	p.PID, p.StartTime = process.PID, ""
	if stat, ok := procfs.Read(p.PID); ok {
		p.StartTime = stat.StartTime
	}
	// A session missing from a fetched list would count as exited.
	if c.processes != nil {
		c.processes[process.ID] = process
	}
	return nil
}

// globalEnviron returns the global environment: the caller's variables, overridden by
// set-environment -g. The caller's are not stored.
func (c *call) globalEnviron() server.Environ {
	all := server.Environ{}
	for name, value := range api.Environ(c.Environ) {
		all[name] = &value
	}
	for _, name := range c.file.Unset {
		delete(all, name)
	}
	maps.Copy(all, c.file.Environ)
	return all
}

// environFor returns the environment for programs of s. A nil s gives the global one.
func (c *call) environFor(s *server.Session) map[string]string {
	all := c.globalEnviron()
	if s != nil {
		maps.Copy(all, s.Environ)
	}
	values := make(map[string]string, len(all))
	for name, value := range all {
		if value != nil {
			values[name] = *value
		}
	}
	return values
}

// paneEnviron returns the environment of a pane's program: environ from its session, and env, the
// variables of extra (-e) with TMUX and TMUX_PANE, overriding it.
func (c *call) paneEnviron(p *server.Pane, at server.Target, extra []string) (env, environ map[string]string) {
	environ, env = c.environFor(at.Session), map[string]string{}
	for _, pair := range extra {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	session := 0
	if at.Session != nil {
		session = at.Session.ID
	}
	env["TMUX"] = c.tmuxVariable(session)
	env["TMUX_PANE"] = fmt.Sprintf("%%%d", p.ID)
	return env, environ
}

// tmuxVariable returns the value of TMUX: the server's path, its PID and the session's id.
func (c *call) tmuxVariable(session int) string {
	return fmt.Sprintf("%s,%d,%d", c.path, c.serverPID(), session)
}

// serverPID returns a PID to present as the server's: the parent of a pane's program, which holds its
// terminal, or else this process.
func (c *call) serverPID() int {
	pid := os.Getpid()
	if c.file == nil {
		return pid
	}
	for _, at := range c.file.ListPanes(nil) {
		if stat, ok := procfs.Read(at.Pane.PID); ok && stat.Parent > 1 {
			pid = stat.Parent
		}
	}
	return pid
}

// freeName returns name without control characters and shortened, with a number appended if another
// running session has it. The result may be empty.
func (c *call) freeName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, strings.TrimSpace(name))
	if runes := []rune(clean); len(runes) > 56 {
		clean = string(runes[:56])
	}
	if clean == "" { // the engine will choose one
		return ""
	}
	taken := func(name string) bool {
		for _, p := range c.knownProcesses() {
			if p.Name == name && !p.State.Ended() {
				return true
			}
		}
		return false
	}
	free := clean
	for n := 2; taken(free); n++ {
		free = fmt.Sprintf("%s-%d", clean, n)
	}
	return free
}

// killProgram kills the program of a pane and its pipe. Adopted programs keep running.
func (c *call) killProgram(p *server.Pane) error {
	if p.Pipe != "" {
		_ = stopPipe(c, p) // it also exits at the end of the output
	}
	if p.Adopted || !c.isAlive(p) {
		return nil
	}
	if _, err := callEngine(c, api.SessionKill, api.IDInput{ID: p.Terminal}); err != nil {
		return err
	}
	delete(c.processes, p.Terminal)
	return nil
}

// removePane removes a pane from the server and, unless adopted, from the dashboard.
func (c *call) removePane(at server.Target) {
	if !at.Pane.Adopted {
		c.removed = append(c.removed, at.Pane.Terminal)
	}
	c.file.RemovePane(at)
	c.markChanged(at.Window)
	if len(at.Window.Panes) > 0 {
		_ = c.resizeTerminals(at.Window)
	} else if c.file.IsRunning() && c.optionValue(at, "renumber-windows").IsOn() {
		c.renumberWindows(at.Session)
	}
}

// markChanged schedules w for an update of the dashboard.
func (c *call) markChanged(w *server.Window) {
	if !slices.Contains(c.changed, w) {
		c.changed = append(c.changed, w)
	}
}

// applyLayout applies the consequences of a changed layout of w: the order of panes, the sizes of
// their terminals and the dashboard's tab.
func (c *call) applyLayout(w *server.Window) error {
	w.SortPanes()
	c.markChanged(w)
	return c.resizeTerminals(w)
}

// resizeTerminals resizes the terminals of w to the sizes of their panes.
func (c *call) resizeTerminals(w *server.Window) error {
	for _, p := range w.Panes {
		cell, t := w.PaneCell(p), c.knownProcesses()[p.Terminal].Terminal
		if cell == nil || t == nil || !c.isAlive(p) || t.Viewers > 0 || t.Cols == cell.W && t.Rows == cell.H {
			continue // a viewer, if there is one, decides the size
		}
		in := api.SessionResizeInput{ID: p.Terminal, Cols: min(max(cell.W, 1), 1000), Rows: min(max(cell.H, 1), 1000)}
		if _, err := callEngine(c, api.SessionResize, in); err != nil {
			return err
		}
		t.Cols, t.Rows = in.Cols, in.Rows
	}
	return nil
}

// newPane returns a pane with the next id and no program.
func (c *call) newPane() *server.Pane {
	p := &server.Pane{ID: c.file.Next.Pane}
	c.file.Next.Pane++
	return p
}

// makeWindow returns a window of w by h cells with the next id, filled by p.
func makeWindow(c *call, p *server.Pane, index, w, h int) *server.Window {
	window := &server.Window{ID: c.file.Next.Window, Index: index, Layout: cells.New(p.ID, w, h), Panes: []*server.Pane{p}, Stack: []int{p.ID},
		Preset: -1, Created: now()}
	c.file.Next.Window++
	return window
}

func execProgram(argv, environ []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return err
	}
	return syscall.Exec(path, argv, environ)
}

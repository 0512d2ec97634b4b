package processes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// commands are what the user can do with the targets: the marked processes or, if none is marked,
// the one under the cursor.
type commands struct {
	env   panes.Env
	table *table
}

func (c *commands) actions() panes.Actions {
	return panes.Actions{
		keymap.ProcessStart:     c.startTargets,
		keymap.ProcessRestart:   c.restartTargets,
		keymap.ProcessStop:      c.askStop,
		keymap.ProcessKill:      c.askKill,
		keymap.ProcessSignal:    c.askSignal,
		keymap.ProcessKeepAlive: c.toggleKeepAlive,
		keymap.ProcessDelete:    c.askDelete,
		keymap.ProcessDeleteAll: c.askDeleteExited,
	}
}

// maxConcurrent is how many processes an action handles at the same time.
const maxConcurrent = 8

// runEach returns a command that calls do for every target. It passes the targets that failed to
// next, which may be nil, and reports the first error and the number of the others.
func (c *commands) runEach(targets []api.Process, do func(context.Context, panes.Engine, api.Process) error, next func(failed []api.Process) tea.Cmd) tea.Cmd {
	return panes.Call(c.env.Context(), c.env, func(ctx context.Context, e panes.Engine) (failed []api.Process, _ error) {
		errs := make([]error, len(targets))
		var all sync.WaitGroup
		slots := make(chan struct{}, maxConcurrent)
		for i, p := range targets {
			// Take the slot here, not in the goroutine, so that the number of goroutines is limited
			// too.
			slots <- struct{}{}
			all.Go(func() {
				errs[i] = do(ctx, e, p)
				<-slots
			})
		}
		all.Wait()
		for i, err := range errs {
			if err != nil {
				failed = append(failed, targets[i])
			}
		}
		return failed, panes.FirstError(errs)
	}, func(failed []api.Process, err error) (cmd tea.Cmd) {
		if next != nil {
			cmd = next(failed)
		}
		if err != nil {
			return tea.Batch(cmd, c.env.Say(panes.ErrorText(err), true))
		}
		return cmd
	})
}

// divide separates the processes for which cond returns true from the others.
func divide(all []api.Process, cond func(*api.Process) bool) (yes, no []api.Process) {
	for _, p := range all {
		if cond(&p) {
			yes = append(yes, p)
		} else {
			no = append(no, p)
		}
	}
	return yes, no
}

func hasEnded(p *api.Process) bool { return p.State.Ended() }

// describe returns what a title calls the targets: the name of a single process, or the number of
// several. If they are those of a project, it adds the project's name.
func (c *commands) describe(targets []api.Process) string {
	what := text.Count(len(targets), "process")
	if len(targets) == 1 {
		what = states.FullName(&targets[0])
	}
	if g := c.table.HeaderProject(); g != nil && g.file != "" && c.table.MarkCount() == 0 {
		what += " of " + g.name()
	}
	return what
}

// listNames returns the rows of a dialog with the names of the targets; nil for a single target.
func listNames(targets []api.Process) []string {
	if len(targets) < 2 {
		return nil
	}
	names := text.Some(targets, 12, func(p api.Process) string { return text.Clip(states.FullName(&p), 24) })
	return text.WrapWords(strings.Join(names, ", "), 44)
}

// askConfirm opens a dialog that asks before an action on targets. If the user agrees, it calls
// next.
func (c *commands) askConfirm(title, what, yes string, targets []api.Process, next func() tea.Cmd) tea.Cmd {
	c.env.Ask(&dialog.Question{Title: title, Lines: append(listNames(targets), what), Yes: yes, Then: next})
	return nil
}

// stopAll stops processes with a signal. If signal is "", each process gets its own stop signal.
func (c *commands) stopAll(targets []api.Process, signal string) tea.Cmd {
	// Record the stops first: news of an exit may arrive before the reply.
	forget := map[string]func(){}
	for _, target := range targets {
		forget[target.ID] = c.env.ExpectStop(target.ID)
	}
	return c.runEach(targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
		return api.ProcessStop.Run(ctx, e, api.ProcessStopInput{ID: p.ID, Signal: signal})
	}, func(failed []api.Process) tea.Cmd {
		for _, p := range failed {
			forget[p.ID]()
		}
		return nil
	})
}

func (c *commands) askStop() tea.Cmd {
	return c.askEnd("Stop %s?", "Stops it and everything it started. It will not be restarted.", "stop", "")
}

func (c *commands) askKill() tea.Cmd {
	return c.askEnd("Kill %s at once?", "Sends SIGKILL: it cannot clean up.", "kill", "SIGKILL")
}

// askEnd asks before it stops the running targets with a signal.
func (c *commands) askEnd(title, what, yes, signal string) tea.Cmd {
	targets, _ := divide(c.table.Targets(), (*api.Process).IsAlive)
	if len(targets) == 0 {
		return c.env.Say("already exited", false)
	}
	return c.askConfirm(fmt.Sprintf(title, c.describe(targets)), what, yes, targets, func() tea.Cmd { return c.stopAll(targets, signal) })
}

func (c *commands) restartAll(targets []api.Process) tea.Cmd {
	return c.runEach(targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
		return api.ProcessRestart.Run(ctx, e, api.ProcessRestartInput{ID: p.ID, RestartID: api.NewID()})
	}, nil)
}

// restartTargets restarts the targets. It asks first unless the only target has exited.
func (c *commands) restartTargets() tea.Cmd {
	targets := c.table.Targets()
	what := "Running ones are stopped first."
	switch {
	case len(targets) == 0:
		return nil
	case len(targets) == 1 && targets[0].State.Ended() && c.table.HeaderProject() == nil:
		return c.restartAll(targets)
	case len(targets) == 1:
		what = "It is running and will be stopped first."
	}
	return c.askConfirm("Restart "+c.describe(targets)+"?", what, "restart", targets, func() tea.Cmd { return c.restartAll(targets) })
}

// startTargets starts the targets that have exited. It asks first if there are several targets.
func (c *commands) startTargets() tea.Cmd {
	targets, running := divide(c.table.Targets(), hasEnded)
	switch {
	case len(running)+len(targets) == 0:
		return nil
	case len(targets) == 0:
		return c.env.Say(c.describe(running)+map[bool]string{true: " is already running", false: " are already running"}[len(running) == 1], false)
	case len(targets) == 1 && c.table.HeaderProject() == nil:
		return c.restartAll(targets)
	}
	return c.askConfirm("Start "+c.describe(targets)+"?", "Those already running are left alone.", "start", targets, func() tea.Cmd { return c.restartAll(targets) })
}

// toggleKeepAlive turns keep-alive off for all targets if it is on for the first one, and on
// otherwise.
func (c *commands) toggleKeepAlive() tea.Cmd {
	targets := c.table.Targets()
	if len(targets) == 0 {
		return nil
	}
	on := !targets[0].KeepAlive
	keep := func(then func(failed []api.Process) tea.Cmd) tea.Cmd {
		return c.runEach(targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
			// With the revision, the engine rejects the change if it is based on an old state.
			return api.ProcessUpdate.Run(ctx, e, api.ProcessUpdateInput{ID: p.ID, KeepAlive: &on, Revision: p.Revision})
		}, then)
	}
	state, undoes := "off", " turns it on"
	if on {
		state, undoes = "on", " turns it off"
	}
	if c.table.HeaderProject() != nil && c.table.MarkCount() == 0 {
		return c.askConfirm("Turn keep-alive "+state+" for "+c.describe(targets)+"?", "A process kept alive is restarted whenever it exits.", "turn it "+state, targets, func() tea.Cmd { return keep(nil) })
	}
	what := c.describe(targets) // another row may be selected by then
	return keep(func(failed []api.Process) tea.Cmd {
		if len(failed) > 0 {
			return nil
		}
		return c.env.Say("Keep-alive is "+state+" for "+what+
			c.env.Bindings().WithKey("; ", keymap.ProcessKeepAlive, undoes, keymap.ScopeProcesses), false)
	})
}

func (c *commands) askDelete() tea.Cmd {
	running, targets := divide(c.table.Targets(), (*api.Process).IsAlive)
	switch {
	case len(running)+len(targets) == 0:
		return nil
	case len(targets) == 0:
		what := " is still running; stop it first"
		if len(running) > 1 {
			what = " are still running; stop them first"
		}
		return c.env.Say(c.describe(running)+what, true)
	}
	return c.confirmDelete("Delete "+c.describe(targets)+"?", "", targets)
}

// askDeleteExited asks before it deletes the exited processes that match the filter. It leaves out
// those of project files, those on other machines, and those that have started processes which
// still run.
func (c *commands) askDeleteExited() tea.Cmd {
	var targets []api.Process
	var left exceptions
	for _, p := range c.table.matching {
		if p.State.Ended() && !left.add(p) {
			targets = append(targets, *p)
		}
	}
	if len(targets) == 0 {
		if note := left.describe(); note != "" {
			return c.env.Say("nothing deleted. "+strings.TrimSuffix(note, "."), false)
		}
		return c.env.Say("nothing here has exited", false)
	}
	return c.confirmDelete("Delete "+text.Count(len(targets), "exited process")+"?", left.describe(), targets)
}

// exceptions are the exited processes that are kept when all others are deleted.
type exceptions struct {
	alive               []string // names of those with processes that still run
	ofProjects, distant int
}

// add reports whether a process must be kept, and counts it if so.
func (x *exceptions) add(p *api.Process) bool {
	machine, _ := api.MachineOf(p.ID)
	switch {
	case machine != "":
		x.distant++
	case p.HasRemains():
		x.alive = append(x.alive, states.FullName(p))
	case p.Project != nil:
		x.ofProjects++
	default:
		return false
	}
	return true
}

// describe returns a sentence about what is kept; "" if nothing is.
func (x *exceptions) describe() string {
	var parts []string
	if len(x.alive) > 0 {
		parts = append(parts, strings.Join(text.Some(x.alive, 3, text.Clean), ", ")+" (processes it started still run)")
	}
	if x.ofProjects > 0 {
		parts = append(parts, text.Thousands(x.ofProjects)+" of projects")
	}
	if x.distant > 0 {
		parts = append(parts, text.Thousands(x.distant)+" on other machines")
	}
	if len(parts) == 0 {
		return ""
	}
	return "Left out: " + strings.Join(parts, ", ") + "."
}

func (c *commands) confirmDelete(title, note string, targets []api.Process) tea.Cmd {
	what := strings.TrimSpace("The record and the log are deleted. " + note)
	return c.askConfirm(title, what, "delete", targets, func() tea.Cmd {
		return c.runEach(targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
			err := api.ProcessRemove.Run(ctx, e, api.IDInput{ID: p.ID})
			// If another client has deleted the process already, the result is the same.
			if errors.Is(err, api.CodeNotFound) {
				return nil
			}
			return err
		}, nil)
	})
}

func (c *commands) askSignal() tea.Cmd {
	_, targets := divide(c.table.Targets(), hasEnded)
	if len(targets) == 0 {
		return c.env.Say("only a running process can receive a signal", false)
	}
	u := &dialog.Picker{Title: "Send a signal to " + c.describe(targets), Wide: list.ChoicesWidth, Verb: func(list.Choice) string { return "send" }}
	u.Pick = func(signal list.Choice) tea.Cmd {
		return c.runEach(targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
			return api.ProcessSignal.Run(ctx, e, api.ProcessSignalInput{ID: p.ID, Signal: signal.Text})
		}, nil)
	}
	u.List.Set(signalChoices())
	c.env.Ask(u)
	return nil
}

// maxSignal is the largest number of a signal.
const maxSignal = 64

// signalChoices returns the usual signals with a description, and after them all other signals by
// name or number.
func signalChoices() (all []list.Choice) {
	for _, s := range [][2]string{
		{"HUP", "often: reload the configuration"},
		{"INT", "what ctrl+c sends"},
		{"TERM", "ask it to stop"},
		{"QUIT", "quit and dump core"},
		{"USR1", "up to the program"},
		{"USR2", "up to the program"},
		{"STOP", "pause"},
		{"CONT", "resume"},
		{"WINCH", "terminal resized"},
		{"KILL", "force it to stop"},
	} {
		all = append(all, list.Choice{Text: s[0], Also: "SIG" + s[0], Detail: s[1]})
	}
	for n := 1; n <= maxSignal; n++ {
		name := cmp.Or(strings.TrimPrefix(unix.SignalName(syscall.Signal(n)), "SIG"), strconv.Itoa(n))
		if !slices.ContainsFunc(all, func(c list.Choice) bool { return c.Text == name }) {
			all = append(all, list.Choice{Text: name, Also: "SIG" + name, Late: true})
		}
	}
	for i := range all {
		all[i].Number = i
	}
	return all
}

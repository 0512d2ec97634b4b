package processes

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// maxConcurrent is how many processes an action handles at the same time.
const maxConcurrent = 8

// runEach returns one command running do on every target. It reports the first error and the number
// of others.
func runEach(env panes.Env, targets []api.Process, do func(context.Context, panes.Engine, api.Process) error) tea.Cmd {
	return panes.Do(env, func(ctx context.Context, e panes.Engine) error {
		errs := make([]error, len(targets))
		var all sync.WaitGroup
		slots := make(chan struct{}, maxConcurrent)
		for i, p := range targets {
			// Taking the slot here, not in the goroutine, bounds the number of goroutines too.
			slots <- struct{}{}
			all.Go(func() {
				errs[i] = do(ctx, e, p)
				<-slots
			})
		}
		all.Wait()
		return panes.FirstError(errs)
	})
}

// filterRunning returns the targets that have not exited.
func filterRunning(targets []api.Process) (alive []api.Process) {
	for _, p := range targets {
		if !p.State.Ended() {
			alive = append(alive, p)
		}
	}
	return alive
}

// describeTargets names processes in a title: one by its name, several by their number, and those
// of a project with its name.
func (t *Table) describeTargets(targets []api.Process) string {
	what := text.Count(len(targets), "process")
	if len(targets) == 1 {
		what = states.FullName(&targets[0])
	}
	if g := t.HeaderProject(); g != nil && g.file != "" && t.MarkCount() == 0 {
		what += " of " + g.name()
	}
	return what
}

// listNames returns the rows with the names of several targets in a dialog.
func listNames(targets []api.Process) []string {
	if len(targets) < 2 {
		return nil
	}
	names := text.Some(targets, 12, func(p api.Process) string { return text.Clip(states.FullName(&p), 24) })
	return text.WrapWords(strings.Join(names, ", "), 44)
}

// askConfirm opens a dialog about an action on targets.
func askConfirm(env panes.Env, title, what, yes string, targets []api.Process, then tea.Cmd) tea.Cmd {
	env.Ask(&dialog.Question{
		Title: title,
		Lines: append(listNames(targets), what),
		Yes:   yes,
		Then:  then,
	})
	return nil
}

// stopAll stops processes with a signal; "" is each process's own stop signal.
func (p *Pane) stopAll(targets []api.Process, signal string) tea.Cmd {
	return panes.Result(func() tea.Cmd {
		// Record it first: the exit may arrive before the reply.
		for _, target := range targets {
			p.env.ExpectStop(target.ID)
		}
		return runEach(p.env, targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
			return api.ProcessStop.Run(ctx, e, api.ProcessStopInput{ID: p.ID, Signal: signal})
		})
	}).Cmd
}

func (p *Pane) askStop() tea.Cmd {
	targets := filterRunning(p.table.Targets())
	if len(targets) == 0 {
		return p.env.Say("already exited", false)
	}
	return askConfirm(p.env, "Stop "+p.table.describeTargets(targets)+"?", "Stops it and everything it started. It will not be restarted.", "stop", targets, p.stopAll(targets, ""))
}

func (p *Pane) askKill() tea.Cmd {
	targets := filterRunning(p.table.Targets())
	if len(targets) == 0 {
		return p.env.Say("already exited", false)
	}
	return askConfirm(p.env, "Kill "+p.table.describeTargets(targets)+" at once?", "Sends SIGKILL: it cannot clean up.", "kill", targets, p.stopAll(targets, "SIGKILL"))
}

// restartTargets restarts processes. It asks first unless the only one has exited.
func (p *Pane) restartTargets() tea.Cmd {
	targets := p.table.Targets()
	do := func(ctx context.Context, e panes.Engine, p api.Process) error {
		return api.ProcessRestart.Run(ctx, e, api.ProcessRestartInput{ID: p.ID, RestartID: api.NewID()})
	}
	what := "Running ones are stopped first."
	switch {
	case len(targets) == 0:
		return nil
	case len(targets) == 1 && len(filterRunning(targets)) == 0 && p.table.HeaderProject() == nil:
		return runEach(p.env, targets, do)
	case len(targets) == 1:
		what = "It is running and is stopped first."
	}
	return askConfirm(p.env, "Restart "+p.table.describeTargets(targets)+"?", what, "restart", targets, runEach(p.env, targets, do))
}

// startTargets starts processes that have exited. It asks first if there are several.
func (p *Pane) startTargets() tea.Cmd {
	all := p.table.Targets()
	targets := slices.DeleteFunc(slices.Clone(all), func(p api.Process) bool { return !p.State.Ended() })
	start := runEach(p.env, targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
		return api.ProcessRestart.Run(ctx, e, api.ProcessRestartInput{ID: p.ID, RestartID: api.NewID()})
	})
	switch {
	case len(all) == 0:
		return nil
	case len(targets) == 0:
		return p.env.Say(p.table.describeTargets(all)+map[bool]string{true: " is already running", false: " are already running"}[len(all) == 1], false)
	case len(targets) == 1 && p.table.HeaderProject() == nil:
		return start
	}
	return askConfirm(p.env, "Start "+p.table.describeTargets(targets)+"?", "Those already running are left alone.", "start", targets, start)
}

// toggleKeepAlive switches keep-alive of all targets to the opposite of the first one's.
func (p *Pane) toggleKeepAlive() tea.Cmd {
	targets := p.table.Targets()
	if len(targets) == 0 {
		return nil
	}
	on := !targets[0].KeepAlive
	keep := func(ctx context.Context, e panes.Engine, p api.Process) error {
		// The revision makes the engine reject a change based on an old state.
		return api.ProcessUpdate.Run(ctx, e, api.ProcessUpdateInput{ID: p.ID, KeepAlive: &on, Revision: p.Revision})
	}
	state, undoes := "off", " turns it on"
	if on {
		state, undoes = "on", " turns it off"
	}
	if p.table.HeaderProject() != nil && p.table.MarkCount() == 0 {
		return askConfirm(p.env, "Turn keep-alive "+state+" for "+p.table.describeTargets(targets)+"?", "A process kept alive is restarted whenever it exits.", "turn it "+state, targets,
			runEach(p.env, targets, keep))
	}
	note := p.env.Say("Keep-alive is "+state+" for "+p.table.describeTargets(targets)+
		p.env.Bindings().WithKey("; ", keymap.ProcessKeepAlive, undoes, keymap.ScopeProcesses), false)
	return tea.Batch(note, runEach(p.env, targets, keep))
}

func (p *Pane) askDelete() tea.Cmd {
	var targets []api.Process
	all := p.table.Targets()
	for _, p := range all {
		if p.State.Ended() {
			targets = append(targets, p)
		}
	}
	switch {
	case len(all) == 0:
		return nil
	case len(targets) == 0:
		what := " is still running; stop it first"
		if len(all) > 1 {
			what = " are still running; stop them first"
		}
		return p.env.Say(p.table.describeTargets(all)+what, true)
	}
	return p.confirmDelete("Delete "+p.table.describeTargets(targets)+"?", targets)
}

// askDeleteExited asks before it deletes all exited processes matching the filter.
func (p *Pane) askDeleteExited() tea.Cmd {
	targets := p.table.listExited()
	if len(targets) == 0 {
		return p.env.Say("nothing here has exited", false)
	}
	return p.confirmDelete("Delete "+text.Count(len(targets), "exited process")+"?", targets)
}

func (p *Pane) confirmDelete(title string, targets []api.Process) tea.Cmd {
	return askConfirm(p.env, title, "The record and the log are deleted.", "delete", targets,
		runEach(p.env, targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
			err := api.ProcessRemove.Run(ctx, e, api.IDInput{ID: p.ID})
			// Somebody else has deleted it, which is the same result.
			if errors.Is(err, api.CodeNotFound) {
				return nil
			}
			return err
		}))
}

func (p *Pane) askSignal() tea.Cmd {
	targets := filterRunning(p.table.Targets())
	if len(targets) == 0 {
		return p.env.Say("only a running process can get a signal", false)
	}
	p.env.Ask(&dialog.Menu{Title: "Send a signal to " + p.table.describeTargets(targets), Items: signalItems(), Prefix: "SIG", Then: func(name string) tea.Cmd {
		name, _, _ = strings.Cut(name, " ")
		return runEach(p.env, targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
			return api.ProcessSignal.Run(ctx, e, api.ProcessSignalInput{ID: p.ID, Signal: name})
		})
	}})
	return nil
}

func signalItems() []dialog.MenuItem {
	return []dialog.MenuItem{
		{Name: "HUP", Does: "often: reload the configuration"},
		{Name: "INT", Does: "what ctrl+c sends"},
		{Name: "TERM", Does: "ask it to stop"},
		{Name: "QUIT", Does: "quit and dump core"},
		{Name: "USR1", Does: "up to the program"},
		{Name: "USR2", Does: "up to the program"},
		{Name: "STOP", Does: "pause"},
		{Name: "CONT", Does: "resume"},
		{Name: "WINCH", Does: "terminal resized"},
		{Name: "KILL", Does: "force it to stop"},
	}
}

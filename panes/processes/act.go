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
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// atOnce is how many processes are acted on at the same time.
const atOnce = 8

// each runs an operation on every target as one command.
func each(env panes.Env, targets []api.Process, do func(context.Context, panes.Engine, api.Process) error) tea.Cmd {
	return panes.Do(env, func(ctx context.Context, e panes.Engine) error {
		errs := make([]error, len(targets))
		var all sync.WaitGroup
		slots := make(chan struct{}, atOnce)
		for i, p := range targets {
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

// living are the targets that have not ended.
func living(targets []api.Process) (alive []api.Process) {
	for _, p := range targets {
		if !p.State.Ended() {
			alive = append(alive, p)
		}
	}
	return alive
}

// these names processes in a title: one by its name, several by their number, and
// those of a project with it.
func (t *Table) these(targets []api.Process) string {
	what := widget.Count(len(targets), "process")
	if len(targets) == 1 {
		what = widget.FullName(&targets[0])
	}
	if g := t.Project(); g != nil && g.file != "" && t.Marked() == 0 {
		what += " of " + g.name()
	}
	return what
}

// namesOf lists what a question is about, a few to a line.
func namesOf(targets []api.Process) []string {
	if len(targets) < 2 {
		return nil
	}
	names := widget.Some(targets, 12, func(p api.Process) string { return widget.Clip(widget.FullName(&p), 24) })
	return widget.WrapWords(strings.Join(names, ", "), 44)
}

// confirm asks before something is done to targets.
func confirm(env panes.Env, title, what, yes string, targets []api.Process, then tea.Cmd) tea.Cmd {
	env.Ask(&overlay.Question{
		Title: title,
		Lines: append(namesOf(targets), what),
		Yes:   yes,
		Then:  then,
	})
	return nil
}

// stopAll stops processes with a signal; "" is that of each.
func (p *Pane) stopAll(targets []api.Process, signal string) tea.Cmd {
	return panes.Result(func() tea.Cmd {
		for _, target := range targets {
			p.env.ExpectStop(target.ID)
		}
		return each(p.env, targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
			return api.ProcessStop.Run(ctx, e, api.ProcessStopInput{ID: p.ID, Signal: signal})
		})
	}).Cmd
}

func (p *Pane) askStop() tea.Cmd {
	targets := living(p.table.Targets())
	if len(targets) == 0 {
		return p.env.Say("already exited", false)
	}
	return confirm(p.env, "Stop "+p.table.these(targets)+"?", "Stops it and everything it started. It will not be restarted.", "stop", targets, p.stopAll(targets, ""))
}

func (p *Pane) askKill() tea.Cmd {
	targets := living(p.table.Targets())
	if len(targets) == 0 {
		return p.env.Say("already exited", false)
	}
	return confirm(p.env, "Kill "+p.table.these(targets)+" at once?", "Sends SIGKILL: it cannot clean up.", "kill", targets, p.stopAll(targets, "SIGKILL"))
}

// restart starts a process anew, and asks before one that runs is stopped, or
// several are.
func (p *Pane) restart() tea.Cmd {
	targets := p.table.Targets()
	do := func(ctx context.Context, e panes.Engine, p api.Process) error {
		return api.ProcessRestart.Run(ctx, e, api.ProcessRestartInput{ID: p.ID, RestartID: api.NewID()})
	}
	what := "Running ones are stopped first."
	switch {
	case len(targets) == 0:
		return nil
	case len(targets) == 1 && len(living(targets)) == 0 && p.table.Project() == nil:
		return each(p.env, targets, do)
	case len(targets) == 1:
		what = "It is running and is stopped first."
	}
	return confirm(p.env, "Restart "+p.table.these(targets)+"?", what, "restart", targets, each(p.env, targets, do))
}

// start starts what has ended, and asks before it is several.
func (p *Pane) start() tea.Cmd {
	all := p.table.Targets()
	targets := slices.DeleteFunc(slices.Clone(all), func(p api.Process) bool { return !p.State.Ended() })
	start := each(p.env, targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
		return api.ProcessRestart.Run(ctx, e, api.ProcessRestartInput{ID: p.ID, RestartID: api.NewID()})
	})
	switch {
	case len(all) == 0:
		return nil
	case len(targets) == 0:
		return p.env.Say(p.table.these(all)+map[bool]string{true: " is already running", false: " are already running"}[len(all) == 1], false)
	case len(targets) == 1 && p.table.Project() == nil:
		return start
	}
	return confirm(p.env, "Start "+p.table.these(targets)+"?", "Those that are running stay as they are.", "start", targets, start)
}

// toggleKeepAlive keeps the targets alive, or no longer if the first one is.
func (p *Pane) toggleKeepAlive() tea.Cmd {
	targets := p.table.Targets()
	if len(targets) == 0 {
		return nil
	}
	on := !targets[0].KeepAlive
	keep := func(ctx context.Context, e panes.Engine, p api.Process) error {
		return api.ProcessUpdate.Run(ctx, e, api.ProcessUpdateInput{ID: p.ID, KeepAlive: &on, Revision: p.Revision})
	}
	state, undoes := "off", " turns it on"
	if on {
		state, undoes = "on", " turns it off"
	}
	if p.table.Project() != nil && p.table.Marked() == 0 {
		return confirm(p.env, "Turn keep-alive "+state+" for "+p.table.these(targets)+"?", "What is kept alive is started again whenever it exits.", "turn it "+state, targets,
			each(p.env, targets, keep))
	}
	said := p.env.Say("Keep-alive is "+state+" for "+p.table.these(targets)+
		panes.WithKey(p.env.Bindings(), "; ", keymap.ProcessKeepAlive, undoes, keymap.ScopeProcesses), false)
	return tea.Batch(said, each(p.env, targets, keep))
}

func (p *Pane) askForget() tea.Cmd {
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
		return p.env.Say(p.table.these(all)+what, true)
	}
	return p.forget("Delete "+p.table.these(targets)+"?", targets)
}

// askForgetAll deletes all that has ended, of what matches the filter.
func (p *Pane) askForgetAll() tea.Cmd {
	targets := p.table.ended()
	if len(targets) == 0 {
		return p.env.Say("nothing here has ended", false)
	}
	return p.forget("Forget "+widget.Count(len(targets), "ended process")+"?", targets)
}

func (p *Pane) forget(title string, targets []api.Process) tea.Cmd {
	return confirm(p.env, title, "The record and the log are deleted.", "delete", targets,
		each(p.env, targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
			err := api.ProcessRemove.Run(ctx, e, api.IDInput{ID: p.ID})
			if errors.Is(err, api.CodeNotFound) {
				return nil
			}
			return err
		}))
}

// askSignal lets the person choose a signal.
func (p *Pane) askSignal() tea.Cmd {
	targets := living(p.table.Targets())
	if len(targets) == 0 {
		return p.env.Say("only a running process can get a signal", false)
	}
	p.env.Ask(&overlay.Menu{Title: "Send a signal to " + p.table.these(targets), Items: signals(), Prefix: "SIG", Then: func(name string) tea.Cmd {
		name, _, _ = strings.Cut(name, " ")
		return each(p.env, targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
			return api.ProcessSignal.Run(ctx, e, api.ProcessSignalInput{ID: p.ID, Signal: name})
		})
	}})
	return nil
}

func signals() []overlay.MenuItem {
	return []overlay.MenuItem{
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

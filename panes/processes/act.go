package processes

import (
	"context"
	"errors"
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
func (p *Pane) each(targets []api.Process, do func(context.Context, panes.Engine, api.Process) error) tea.Cmd {
	return panes.Do(p.env, func(ctx context.Context, e panes.Engine) error {
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

// these names processes in a title: one by its name, several by their number.
func these(targets []api.Process) string {
	if len(targets) == 1 {
		return widget.Clean(targets[0].Name)
	}
	return widget.Count(len(targets), "process")
}

// namesOf lists what a question is about, a few to a line.
func namesOf(targets []api.Process) []string {
	if len(targets) < 2 {
		return nil
	}
	names := widget.Some(targets, 12, func(p api.Process) string { return widget.Clip(widget.Clean(p.Name), 24) })
	return overlay.Wrap(strings.Join(names, ", "), 44)
}

// confirm asks before something is done to targets.
func (p *Pane) confirm(title, what, yes string, targets []api.Process, then tea.Cmd) tea.Cmd {
	p.env.Ask(&overlay.Question{
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
			p.env.Ending(target.ID)
		}
		return p.each(targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
			return api.ProcessStop.Run(ctx, e, api.ProcessStopInput{ID: p.ID, Signal: signal})
		})
	}).Cmd
}

func (p *Pane) askStop() tea.Cmd {
	targets := living(p.table.Targets())
	if len(targets) == 0 {
		return p.env.Say("already exited", false)
	}
	return p.confirm("Stop "+these(targets)+"?", "Stops it and everything it started. It will not be restarted.", "stop", targets, p.stopAll(targets, ""))
}

func (p *Pane) askKill() tea.Cmd {
	targets := living(p.table.Targets())
	if len(targets) == 0 {
		return p.env.Say("already exited", false)
	}
	return p.confirm("Kill "+these(targets)+" at once?", "Sends SIGKILL: it cannot clean up.", "kill", targets, p.stopAll(targets, "SIGKILL"))
}

// restart starts a process anew, and asks before one that runs is stopped, or
// several are.
func (p *Pane) restart() tea.Cmd {
	targets := p.table.Targets()
	do := func(ctx context.Context, e panes.Engine, p api.Process) error {
		return api.ProcessRestart.Run(ctx, e, api.ProcessRestartInput{ID: p.ID})
	}
	what := "Running ones are stopped first."
	switch {
	case len(targets) == 0:
		return nil
	case len(targets) == 1 && len(living(targets)) == 0:
		return p.each(targets, do)
	case len(targets) == 1:
		what = "It is running and is stopped first."
	}
	return p.confirm("Restart "+these(targets)+"?", what, "restart", targets, p.each(targets, do))
}

// toggleKeepAlive keeps the targets alive, or no longer if the first one is.
func (p *Pane) toggleKeepAlive() tea.Cmd {
	targets := p.table.Targets()
	if len(targets) == 0 {
		return nil
	}
	on := !targets[0].KeepAlive
	state, undoes := "off", " turns it on"
	if on {
		state, undoes = "on", " turns it off"
	}
	said := p.env.Say("Keep-alive is "+state+" for "+these(targets)+
		panes.WithKey(p.env.Bindings(), "; ", keymap.ProcessKeepAlive, undoes, keymap.ScopeProcesses), false)
	return tea.Batch(said, p.each(targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
		return api.ProcessUpdate.Run(ctx, e, api.ProcessUpdateInput{ID: p.ID, KeepAlive: &on})
	}))
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
		return p.env.Say(these(all)+what, true)
	}
	return p.confirm("Delete "+these(targets)+"?", "The record and the log are deleted.", "delete", targets,
		p.each(targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
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
	p.env.Ask(&overlay.Menu{Title: "Send a signal to " + these(targets), Items: signals(), Prefix: "SIG", Then: func(name string) tea.Cmd {
		name, _, _ = strings.Cut(name, " ")
		return p.each(targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
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

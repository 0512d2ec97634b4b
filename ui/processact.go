package ui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// atOnce is how many processes are acted on at the same time.
const atOnce = 8

// each runs an operation on every target as one command.
func (m *model) each(targets []api.Process, do func(context.Context, panes.Engine, api.Process) error) tea.Cmd {
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
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
		return doneMsg{firstOf(errs)}
	}, func(err error) tea.Msg { return doneMsg{err} })
}

// firstOf is the first error, with how many more there are.
func firstOf(errs []error) error {
	var first error
	n := 0
	for _, err := range errs {
		if err == nil {
			continue
		}
		if n++; first == nil {
			first = err
		}
	}
	if n > 1 {
		return fmt.Errorf("%s (and %d more)", errorText(first), n-1)
	}
	return first
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
	return fmt.Sprintf("%d processes", len(targets))
}

// namesOf lists what a question is about, a few to a line.
func namesOf(targets []api.Process) []string {
	const most = 12
	if len(targets) < 2 {
		return nil
	}
	var names []string
	for i, p := range targets {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(targets)-most))
			break
		}
		names = append(names, widget.Clip(widget.Clean(p.Name), 24))
	}
	return overlay.Wrap(strings.Join(names, ", "), 44)
}

// confirm asks before something is done to targets.
func (m *model) confirm(title, what, yes string, targets []api.Process, then tea.Cmd) tea.Cmd {
	m.overlay = &overlay.Question{
		Title: title,
		Lines: append(namesOf(targets), what),
		Yes:   yes,
		Then:  then,
	}
	return nil
}

// stopMsg says that the person wants processes to be stopped, with a signal of
// their choice; "" is that of each.
type stopMsg struct {
	targets []api.Process
	signal  string
}

func (msg stopMsg) take(m *model) tea.Cmd {
	for _, p := range msg.targets {
		m.ending[p.ID] = true
	}
	return m.each(msg.targets, stopWith(msg.signal))
}

func stopWith(signal string) func(context.Context, panes.Engine, api.Process) error {
	return func(ctx context.Context, e panes.Engine, p api.Process) error {
		return e.StopProcess(ctx, api.ProcessStopInput{ID: p.ID, Signal: signal})
	}
}

func (m *model) askStop() tea.Cmd {
	targets := living(m.processes.table.Targets())
	if len(targets) == 0 {
		return m.say("it has ended already", false)
	}
	return m.confirm("Stop "+these(targets)+"?", "It ends with all that it started, and stays so.", "stop", targets,
		func() tea.Msg { return stopMsg{targets, ""} })
}

func (m *model) askKill() tea.Cmd {
	targets := living(m.processes.table.Targets())
	if len(targets) == 0 {
		return m.say("it has ended already", false)
	}
	return m.confirm("Kill "+these(targets)+" at once?", "It gets SIGKILL and cannot put anything in order.", "kill", targets,
		func() tea.Msg { return stopMsg{targets, "SIGKILL"} })
}

// restart starts one process anew at once, and asks before several.
func (m *model) restart() tea.Cmd {
	targets := m.processes.table.Targets()
	do := func(ctx context.Context, e panes.Engine, p api.Process) error { return e.Restart(ctx, p.ID) }
	switch len(targets) {
	case 0:
		return nil
	case 1:
		return m.each(targets, do)
	}
	return m.confirm("Restart "+these(targets)+"?", "Those that run are ended first.", "restart", targets, m.each(targets, do))
}

// toggleKeepAlive keeps the targets alive, or no longer if the first one is.
func (m *model) toggleKeepAlive() tea.Cmd {
	targets := m.processes.table.Targets()
	if len(targets) == 0 {
		return nil
	}
	on := !targets[0].KeepAlive
	said := m.say(these(targets)+": no longer started again by itself", false)
	if on {
		ends := "it ends"
		if len(targets) > 1 {
			ends = "one ends"
		}
		said = m.say(these(targets)+": started again whenever "+ends, false)
	}
	return tea.Batch(said, m.each(targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
		return e.UpdateProcess(ctx, api.ProcessUpdateInput{ID: p.ID, KeepAlive: &on})
	}))
}

func (m *model) askForgetProcesses() tea.Cmd {
	var targets []api.Process
	all := m.processes.table.Targets()
	for _, p := range all {
		if p.State.Ended() {
			targets = append(targets, p)
		}
	}
	switch {
	case len(all) == 0:
		return nil
	case len(targets) == 0:
		return m.say(these(all)+" has not ended; stop it first", true)
	}
	return m.confirm("Forget "+these(targets)+"?", "The record and the log are removed.", "forget", targets,
		m.each(targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
			err := e.Remove(ctx, p.ID)
			if errors.Is(err, api.CodeNotFound) {
				return nil
			}
			return err
		}))
}

// askSignal lets the person choose a signal.
func (m *model) askSignal() tea.Cmd {
	targets := living(m.processes.table.Targets())
	if len(targets) == 0 {
		return m.say("only a process that runs can get a signal", false)
	}
	m.overlay = &overlay.Menu{Title: "Send a signal to " + these(targets), Items: signals(), Prefix: "SIG", Then: func(name string) tea.Cmd {
		name, _, _ = strings.Cut(name, " ")
		return m.each(targets, func(ctx context.Context, e panes.Engine, p api.Process) error {
			return e.Signal(ctx, api.ProcessSignalInput{ID: p.ID, Signal: name})
		})
	}}
	return nil
}

func signals() []overlay.MenuItem {
	return []overlay.MenuItem{
		{Name: "HUP", Does: "often: read the configuration again"}, {Name: "INT", Does: "as ctrl+c does"}, {Name: "TERM", Does: "please end"},
		{Name: "QUIT", Does: "end and leave a trace"}, {Name: "USR1", Does: "its own meaning"}, {Name: "USR2", Does: "its own meaning"},
		{Name: "STOP", Does: "halt"}, {Name: "CONT", Does: "go on after a halt"}, {Name: "WINCH", Does: "the terminal's size has changed"},
		{Name: "KILL", Does: "end at once"},
	}
}

// noteChanges tells of processes that have failed or become ready.
func (m *model) noteChanges(before []api.Process) tea.Cmd {
	old := make(map[string]*api.Process, len(before))
	for i := range before {
		old[before[i].ID] = &before[i]
	}
	var failed, ready []string
	for i := range m.news.Processes {
		p := &m.news.Processes[i]
		was := old[p.ID]
		if was == nil && time.Since(p.StartedAt) < unsteady {
			was = &api.Process{} // so new that its start was not seen
		}
		if was == nil || p.Kind != api.KindProcess || oneOff(p) {
			continue
		}
		switch {
		case inTrouble(p) && !inTrouble(was) && !m.toldAlready(p):
			failed = append(failed, widget.Clean(p.Name)+" failed: "+widget.HowEnded(p))
		case isReady(p) && !isReady(was):
			ready = append(ready, widget.Clean(p.Name)+" is ready")
		}
	}
	switch {
	case len(failed) > 0:
		return tea.Batch(m.tell(withMore(failed), true), m.notify(withMore(failed)))
	case len(ready) > 0:
		return tea.Batch(m.tell(withMore(ready), false), m.notify(withMore(ready)))
	}
	return nil
}

// unsteady is how long a process may run and still count as failing again
// rather than anew.
const unsteady = 10 * time.Second

// toldAlready keeps a process that fails over and over from being told of each
// time.
func (m *model) toldAlready(p *api.Process) bool {
	told := m.processes.told[p.ID]
	if m.processes.told == nil {
		m.processes.told = map[string]bool{}
	}
	m.processes.told[p.ID] = true
	return told && p.ExitedAt != nil && p.ExitedAt.Sub(p.StartedAt) < unsteady
}

func inTrouble(p *api.Process) bool {
	return widget.Failed(p) || p.State == api.StateBackoff && (p.ExitCode == nil || *p.ExitCode != 0)
}

func isReady(p *api.Process) bool {
	return p.State == api.StateRunning && p.Supervision != nil && p.Supervision.Ready != nil && *p.Supervision.Ready
}

func withMore(notes []string) string {
	if len(notes) == 1 {
		return notes[0]
	}
	return fmt.Sprintf("%s (and %d more)", notes[0], len(notes)-1)
}

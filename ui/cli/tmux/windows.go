package tmux

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"tandem/ui/cli/tmux/server"
)

// windowCommands implements the commands about windows and their order.
type windowCommands struct{ *parts }

const paneTemplate = "#{session_name}:#{window_index}.#{pane_index}"

func (c windowCommands) newWindow(cmd *command, at server.Target) error {
	// Parse first: if -e is wrong, -k must not kill the window.
	prog, err := c.programs.parse(cmd, at)
	if err != nil {
		return err
	}
	index, err := c.indexFor(cmd, at, "create window failed: index %d in use")
	if err != nil {
		return err
	}
	at = server.Target{Session: at.Session}
	w, err := c.programs.addWindow(&at, index, c.formats.expand(at, cmd.value('n')), prog)
	if err != nil {
		// -k may have killed the only window, and a session without one breaks targets.
		if len(at.Session.Windows) == 0 {
			c.state.RemoveSession(at.Session)
		}
		return err
	}
	if !cmd.has('d') {
		at.Session.ShowWindow(w)
	}
	c.print.created(cmd, at, paneTemplate)
	return nil
}

// indexFor returns the index for a window: the requested one, the one after it (-a), or the first
// free one. With -k, a window at the index is killed; without -k, it causes an error. taken is the
// format of that error.
func (c windowCommands) indexFor(cmd *command, at server.Target, taken string) (int, error) {
	base := c.settings.optionValue(at, "base-index").Int()
	switch {
	case cmd.has('a'):
		index := cmp.Or(at.Window, at.Session.CurrentWindow()).Index + 1
		at.Session.ShiftWindows(index)
		return index, nil
	case !cmd.has('t') || at.Index < 0 || !namesWindow(cmd.value('t')):
		return at.Session.FreeIndex(base), nil
	}
	occupant := at.Session.WindowAt(at.Index)
	switch {
	case occupant == nil:
		return at.Index, nil
	case !cmd.has('k'):
		return 0, fmt.Errorf(taken, at.Index)
	}
	return at.Index, c.replaceWindow(at.Session, occupant)
}

// namesWindow reports whether a target gives a window rather than just a session.
func namesWindow(target string) bool {
	_, window, ok := strings.Cut(target, ":")
	return !ok && !strings.HasPrefix(target, "$") || window != ""
}

// replaceWindow kills a window and removes it, to free its index for another one.
func (c windowCommands) replaceWindow(s *server.Session, w *server.Window) error {
	w.Index = -1
	for _, p := range w.Panes {
		if err := c.programs.kill(p); err != nil {
			return err
		}
		if !p.Adopted {
			c.dashboard.removed = append(c.dashboard.removed, p.Terminal)
		}
	}
	// Not State.RemovePane: it would remove a session left without windows.
	s.RemoveWindow(w)
	return nil
}

func (c windowCommands) killWindow(cmd *command, at server.Target) error {
	return c.programs.killPanes(func(one server.Target) bool {
		return one.Session == at.Session && (one.Window == at.Window) != cmd.has('a')
	})
}

func (c windowCommands) renameWindow(cmd *command, at server.Target) error {
	at.Window.SetName(plainName(c.formats.expand(at, cmd.args[0])))
	return nil
}

const windowLine = `#{window_index}: #{window_name}#{window_raw_flags} (#{window_panes} panes) [#{window_width}x#{window_height}] [layout #{window_layout}] #{window_id}#{?window_active, (active),}`

func (c windowCommands) listWindows(cmd *command, at server.Target) (err error) {
	form, sessions := "#{session_name}:#{window_index}: #{window_name}#{window_raw_flags} (#{window_panes} panes) [#{window_width}x#{window_height}] ", c.state.SessionsByName()
	if !cmd.has('a') {
		if at, err = c.targets.find(cmd, 't', server.TargetSession); err != nil {
			return err
		}
		form, sessions = windowLine, []*server.Session{at.Session}
	}
	for _, s := range sessions {
		for _, w := range s.Windows {
			c.print.item(cmd, server.Target{Session: s, Window: w, Pane: w.ActivePane()}, form)
		}
	}
	return nil
}

func (c windowCommands) selectWindow(_ *command, at server.Target) error {
	c.showWindow(at.Session, at.Window)
	return nil
}

func (c windowCommands) lastWindow(_ *command, at server.Target) error {
	w := at.Session.LastWindow()
	if w == nil || w == at.Session.CurrentWindow() {
		return errors.New("no last window")
	}
	c.showWindow(at.Session, w)
	return nil
}

func (c windowCommands) showWindow(s *server.Session, w *server.Window) {
	s.ShowWindow(w)
	c.dashboard.markChanged(w)
}

func (c windowCommands) moveWindow(cmd *command, _ server.Target) error {
	if cmd.has('r') {
		at, err := c.targets.find(cmd, 't', server.TargetSession)
		if err == nil {
			at.Session.RenumberWindows(c.settings.baseIndex(at.Session))
		}
		return err
	}
	from, err := c.targets.find(cmd, 's', server.TargetWindow)
	if err != nil {
		return err
	}
	to, err := c.targets.find(cmd, 't', server.TargetIndex)
	if err != nil {
		return err
	}
	if to.Window == from.Window {
		return fmt.Errorf("same index: %d", to.Index)
	}
	index, err := c.indexFor(cmd, to, "index in use: %d")
	if err != nil {
		return err
	}
	active := from.Session.CurrentWindow() == from.Window
	from.Session.RemoveWindow(from.Window)
	from.Window.Index = index
	to.Session.AddWindow(from.Window)
	if !cmd.has('d') || active && to.Session == from.Session {
		to.Session.ShowWindow(from.Window)
	}
	if len(from.Session.Windows) == 0 {
		c.state.RemoveSession(from.Session)
	}
	return nil
}

func (c windowCommands) swapWindow(cmd *command, to server.Target) error {
	from, err := c.targets.find(cmd, 's', server.TargetWindow)
	switch {
	case err != nil || from.Window == to.Window:
		return err
	case from.Session != to.Session:
		return errors.New("swap-window between sessions is not supported by tandem")
	}
	a, b := from.Window, to.Window
	a.Index, b.Index = b.Index, a.Index
	// The current index stays, now with the other window; -d makes it the target's index.
	from.Session.SortWindows()
	switch cur := from.Session.CurrentWindow(); {
	case cmd.has('d'):
		from.Session.ShowWindow(a)
	case cur == a:
		from.Session.ShowWindow(b)
	case cur == b:
		from.Session.ShowWindow(a)
	}
	return nil
}

// breakPane implements break-pane: a pane becomes a window of its own.
func (c windowCommands) breakPane(cmd *command, _ server.Target) error {
	from, err := c.targets.find(cmd, 's', server.TargetPane)
	if err != nil {
		return err
	}
	at := from
	if cmd.has('t') {
		if at, err = c.targets.find(cmd, 't', server.TargetIndex); err != nil {
			return err
		}
	}
	index, err := c.indexFor(cmd, at, "index in use: %d")
	if err != nil {
		return err
	}
	w := from.Window
	if len(w.Panes) == 1 {
		from.Session.RemoveWindow(w)
		w.Index = index
	} else {
		source := w
		w.RemovePane(from.Pane)
		c.dashboard.movedOut = append(c.dashboard.movedOut, from.Pane.Terminal)
		w = c.state.NewWindow(from.Pane, index, source.Layout.W, source.Layout.H)
		w.Name = c.settings.programName(from.Pane.Argv)
		if err := c.programs.applyLayout(source); err != nil {
			return err
		}
	}
	at = server.Target{Session: at.Session, Window: w, Pane: from.Pane}
	at.Session.AddWindow(w)
	w.SetName(cmd.value('n'))
	if !cmd.has('d') {
		at.Session.ShowWindow(w)
	}
	c.print.created(cmd, at, paneTemplate)
	return c.programs.applyLayout(w)
}

package tmux

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/ui/cli/tmux/cells"
	"tandem/ui/cli/tmux/server"
)

// splitOf reads how a pane is put beside another one.
func splitOf(c *call, cmd *command, at server.Place) (cells.Split, error) {
	s := cells.Split{Axis: cells.Below, Before: cmd.has('b'), Full: cmd.has('f')}
	cell := at.Window.Layout
	if !s.Full {
		cell = cell.Find(at.Pane.ID)
	}
	have := cell.H
	if cmd.has('h') {
		s.Axis, have = cells.Beside, cell.W
	}
	size, percent := cmd.value('l'), false
	if cmd.has('p') {
		size, percent = cmd.value('p'), true
	}
	if rest, ok := strings.CutSuffix(size, "%"); ok {
		size, percent = rest, true
	}
	if size == "" {
		return s, nil
	}
	n, err := whole(size)
	switch {
	case err != nil || n < 0:
		return s, sizeError(cmd, percent)
	case percent:
		n = have * min(n, 100) / 100
	}
	s.Size = max(n, 1)
	return s, nil
}

// sizeError says what is wrong with a size, as tmux does.
func sizeError(cmd *command, percent bool) error {
	switch {
	case cmd.has('p'):
		return errors.New("create pane failed: -p invalid")
	case percent:
		return errors.New("percentage invalid")
	case strings.HasPrefix(cmd.value('l'), "-"):
		return errors.New("lines too small")
	}
	return errors.New("lines invalid")
}

// splitWindow is split-window.
func splitWindow(c *call, cmd *command) error {
	at, err := c.target(cmd, 't', server.WantPane)
	if err != nil {
		return err
	}
	s, err := splitOf(c, cmd, at)
	if err != nil {
		return err
	}
	begin, err := startOf(c, cmd, at)
	if err != nil {
		return err
	}
	p := c.newPane()
	if !insertPane(c, at, p, s) {
		c.file.Next.Pane-- // nobody has seen the number
		return errors.New("no space for new pane")
	}
	w := at.Window
	cell := w.Layout.Find(p.ID)
	begin.w, begin.h = cell.W, cell.H
	begin.name = at.Session.Name + ":" + cmp.Or(c.programName(begin.argv), w.Name)
	if err := c.begin(p, at, begin); err != nil {
		w.Take(p)
		return err
	}
	w.Zoomed = cmd.has('Z')
	if !cmd.has('d') {
		w.Select(p)
	} else {
		w.Stack = append(w.Stack, p.ID)
	}
	if err := c.resizeTerminals(w); err != nil {
		return err
	}
	if cmd.has('P') {
		c.print(c.scope(server.Place{Session: at.Session, Window: w, Pane: p}).Expand(cmp.Or(cmd.value('F'), paneTemplate)))
	}
	return nil
}

// insertPane puts a pane into the layout beside another one. It reports false where there is no
// room.
func insertPane(c *call, at server.Place, p *server.Pane, s cells.Split) bool {
	w := at.Window
	layout, ok := w.Layout.Split(w.Layout.Find(at.Pane.ID), p.ID, s)
	if !ok {
		return false
	}
	w.Layout, w.Zoomed = layout, false
	w.Panes = append(w.Panes, p)
	w.Arranged()
	c.touch(w)
	return true
}

// killPane is kill-pane.
func killPane(c *call, cmd *command) error {
	at, err := c.target(cmd, 't', server.WantPane)
	if err != nil {
		return err
	}
	for _, p := range slices.Clone(at.Window.Panes) {
		if (p == at.Pane) != cmd.has('a') {
			if err := c.dropPane(server.Place{Session: at.Session, Window: at.Window, Pane: p}); err != nil {
				return err
			}
		}
	}
	return nil
}

const paneLine = `#{pane_index}: [#{pane_width}x#{pane_height}] [history #{history_size}/#{history_limit}, #{history_bytes} bytes] #{pane_id}#{?pane_active, (active),}#{?pane_dead, (dead),}`

// listPanes is list-panes.
func listPanes(c *call, cmd *command) error {
	want := server.WantWindow
	if cmd.has('s') || cmd.has('a') {
		want = server.WantSession
	}
	var at server.Place
	if !cmd.has('a') {
		var err error
		if at, err = c.target(cmd, 't', want); err != nil {
			return err
		}
	}
	c.file.Each(func(one server.Place) {
		switch {
		case cmd.has('a'):
			listed(c, cmd, one, "#{session_name}:#{window_index}."+paneLine)
		case cmd.has('s') && one.Session == at.Session:
			listed(c, cmd, one, "#{window_index}."+paneLine)
		case !cmd.has('s') && one.Window == at.Window:
			listed(c, cmd, one, paneLine)
		}
	})
	return nil
}

// selectPane is select-pane and last-pane.
func selectPane(c *call, cmd *command) error {
	at, err := c.target(cmd, 't', server.WantPane)
	if err != nil {
		return err
	}
	to := at.Pane
	if cmd.name == "last-pane" || cmd.has('l') {
		if to = at.Window.Last(); to == nil {
			return errors.New("no last pane")
		}
	}
	for _, direction := range []byte("UDLR") {
		if cmd.has(direction) {
			if to = at.Window.Toward(at.Pane, direction); to == nil {
				return nil
			}
		}
	}
	if cmd.has('e') || cmd.has('d') {
		to.Off = cmd.has('d')
		return nil
	}
	if cmd.has('P') {
		setStyle(to, cmd.value('P'))
	}
	if cmd.has('g') {
		c.print(string(c.file.Lookup(server.LevelPane, server.Place{Session: at.Session, Window: at.Window, Pane: to}, "window-style")))
		return nil
	}
	if cmd.has('T') {
		return setTitle(c, server.Place{Session: at.Session, Window: at.Window, Pane: to}, cmd.value('T'))
	}
	at.Window.Zoomed = at.Window.Zoomed && (cmd.has('Z') || to == at.Window.Active())
	at.Window.Select(to)
	c.touch(at.Window)
	return nil
}

// setStyle sets the options that select-pane -P is short for.
func setStyle(p *server.Pane, style string) {
	if p.Options == nil {
		p.Options = server.Options{}
	}
	p.Options["window-style"], p.Options["window-active-style"] = style, style
}

// setTitle gives a pane a title, which is its session's name in the dashboard.
func setTitle(c *call, at server.Place, title string) error {
	at.Pane.Title = c.scope(at).Expand(title)
	name := c.freeName(at.Pane.Title)
	if name == "" || at.Pane.Adopted || !c.alive(at.Pane) {
		return nil
	}
	e, err := c.client()
	if err != nil {
		return err
	}
	process, err := api.SessionRename.Call(c.ctx, e, api.SessionRenameInput{ID: at.Pane.Terminal, Name: name, Revision: c.running[at.Pane.Terminal].Revision})
	if err == nil && c.running != nil {
		c.running[at.Pane.Terminal] = process
	}
	return nil // a title that cannot be a name is a title all the same
}

// swapPane is swap-pane.
func swapPane(c *call, cmd *command) error {
	to, err := c.target(cmd, 't', server.WantPane)
	if err != nil {
		return err
	}
	var from server.Place
	switch {
	case cmd.has('U') || cmd.has('D'):
		from = to
		if from.Pane = to.Window.Step(to.Pane, map[bool]int{true: -1, false: 1}[cmd.has('U')]); from.Pane == nil {
			return nil
		}
	default:
		if from, err = c.target(cmd, 's', server.WantPane); err != nil {
			return err
		}
	}
	if from.Pane == to.Pane {
		return nil
	}
	a, b := from.Window, to.Window
	leafA, leafB := a.Layout.Find(from.Pane.ID), b.Layout.Find(to.Pane.ID)
	leafA.Pane, leafB.Pane = to.Pane.ID, from.Pane.ID
	if a != b {
		c.swapped = append(c.swapped, [2]string{from.Pane.Terminal, to.Pane.Terminal})
		a.Panes[slices.Index(a.Panes, from.Pane)], b.Panes[slices.Index(b.Panes, to.Pane)] = to.Pane, from.Pane
		a.Stack, b.Stack = renumbered(a.Stack, from.Pane.ID, to.Pane.ID), renumbered(b.Stack, to.Pane.ID, from.Pane.ID)
	} else if !cmd.has('d') {
		a.Select(to.Pane)
	} else if a.Active() == from.Pane {
		a.Select(to.Pane)
	} else if a.Active() == to.Pane {
		a.Select(from.Pane)
	}
	for _, w := range []*server.Window{a, b} {
		w.Zoomed = w.Zoomed && cmd.has('Z')
		w.Arranged()
		c.touch(w)
		if err := c.resizeTerminals(w); err != nil {
			return err
		}
	}
	return nil
}

func renumbered(stack []int, from, to int) []int {
	stack = slices.Clone(stack)
	for i, id := range stack {
		if id == from {
			stack[i] = to
		}
	}
	return stack
}

// joinPane is join-pane and move-pane.
func joinPane(c *call, cmd *command) error {
	to, err := c.target(cmd, 't', server.WantPane)
	if err != nil {
		return err
	}
	from, err := c.target(cmd, 's', server.WantPane)
	if err != nil {
		return err
	}
	if from.Pane == to.Pane {
		return errors.New("source and target panes must be different")
	}
	s, err := splitOf(c, cmd, to)
	if err != nil {
		return err
	}
	was := from.Window
	fits := false
	if was == to.Window {
		fits = was.Move(from.Pane, to.Pane, s)
		c.touch(was)
	} else if fits = insertPane(c, to, from.Pane, s); fits {
		c.file.Remove(from)
	}
	if !fits {
		return errors.New("create pane failed: pane too small")
	}
	if cmd.has('d') {
		to.Window.Stack = append(to.Window.Stack, from.Pane.ID)
	} else {
		to.Window.Select(from.Pane)
		to.Session.Show(to.Window)
	}
	if len(was.Panes) > 0 {
		c.touch(was)
		if err := c.resizeTerminals(was); err != nil {
			return err
		}
	}
	return c.resizeTerminals(to.Window)
}

// breakPane is break-pane.
func breakPane(c *call, cmd *command) error {
	from, err := c.target(cmd, 's', server.WantPane)
	if err != nil {
		return err
	}
	at := from
	if cmd.has('t') {
		if at, err = c.target(cmd, 't', server.WantIndex); err != nil {
			return err
		}
	}
	index, err := indexFor(c, cmd, at, "index in use: %d")
	if err != nil {
		return err
	}
	w := from.Window
	if len(w.Panes) == 1 {
		from.Session.Take(w)
		w.Index = index
		at.Session.Add(w)
	} else {
		w.Take(from.Pane)
		c.apart = append(c.apart, from.Pane.Terminal)
		c.touch(w)
		was := w
		w = newSpace(c, from.Pane, index, was.Layout.W, was.Layout.H)
		w.Name = c.programName(from.Pane.Argv)
		at.Session.Add(w)
		if err := c.resizeTerminals(was); err != nil {
			return err
		}
	}
	if cmd.has('n') {
		w.Call(cmd.value('n'))
	}
	if !cmd.has('d') {
		at.Session.Show(w)
	}
	c.touch(w)
	if cmd.has('P') {
		c.print(c.scope(server.Place{Session: at.Session, Window: w, Pane: from.Pane}).Expand(cmp.Or(cmd.value('F'), paneTemplate)))
	}
	return c.resizeTerminals(w)
}

// resizePane is resize-pane.
func resizePane(c *call, cmd *command) error {
	at, err := c.target(cmd, 't', server.WantPane)
	if err != nil {
		return err
	}
	w := at.Window
	if cmd.has('Z') {
		if w.Zoomed = !w.Zoomed && len(w.Panes) > 1; w.Zoomed {
			w.Select(at.Pane)
		}
		c.touch(w)
		return c.resizeTerminals(w)
	}
	w.Zoomed = false
	by := 1
	if len(cmd.args) > 0 {
		if by, err = whole(cmd.args[0]); err != nil {
			return errors.New("adjustment invalid")
		}
		if by < 1 {
			return errors.New("adjustment too small")
		}
	}
	leaf := w.Layout.Find(at.Pane.ID)
	for _, side := range []struct {
		flag byte
		name string
		axis cells.Kind
		of   int
	}{{'x', "width", cells.Beside, w.Layout.W}, {'y', "height", cells.Below, w.Layout.H}} {
		if !cmd.has(side.flag) {
			continue
		}
		n, err := size(cmd.value(side.flag), side.of)
		if err != nil {
			return fmt.Errorf("%s %w", side.name, err)
		}
		w.Layout.ResizePane(leaf, side.axis, n)
	}
	switch {
	case cmd.has('L'):
		w.Layout.MoveEdge(leaf, cells.Beside, -by)
	case cmd.has('R'):
		w.Layout.MoveEdge(leaf, cells.Beside, by)
	case cmd.has('U'):
		w.Layout.MoveEdge(leaf, cells.Below, -by)
	case cmd.has('D'):
		w.Layout.MoveEdge(leaf, cells.Below, by)
	}
	w.Preset = -1
	c.touch(w)
	return c.resizeTerminals(w)
}

// size reads a number of cells, or a percentage of some.
func size(text string, of int) (int, error) {
	number, percent := strings.CutSuffix(text, "%")
	n, err := whole(number)
	switch {
	case err != nil:
		return 0, errors.New("invalid")
	case percent:
		n = of * n / 100
	}
	if n < 0 && !percent {
		return 0, errors.New("too small")
	}
	return max(n, 1), nil
}

// respawnPane is respawn-pane: a program of its own in the same place.
func respawnPane(c *call, cmd *command) error {
	at, err := c.target(cmd, 't', server.WantPane)
	if err != nil {
		return err
	}
	if c.alive(at.Pane) && !cmd.has('k') {
		return fmt.Errorf("respawn pane failed: pane %s:%d.%s still active", at.Session.Name, at.Window.Index, c.scope(at).Expand("#P"))
	}
	return respawn(c, cmd, at)
}

func respawn(c *call, cmd *command, at server.Place) error {
	begin, err := startOf(c, cmd, at)
	if err != nil {
		return err
	}
	p, cell := at.Pane, at.Window.Cell(at.Pane)
	if len(cmd.args) == 0 {
		begin.argv = p.Argv
	}
	if !cmd.has('c') {
		begin.cwd = p.CWD
	}
	was := *p
	begin.w, begin.h, begin.name = cell.W, cell.H, cmp.Or(p.Title, at.Session.Name+":"+c.programName(begin.argv))
	if err := c.end(p); err != nil {
		return err
	}
	p.Adopted, p.Pipe = false, ""
	if err := c.begin(p, at, begin); err != nil {
		return err
	}
	if !was.Adopted {
		c.closed = append(c.closed, was.Terminal)
	}
	c.touch(at.Window)
	return nil
}

// respawnWindow is respawn-window.
func respawnWindow(c *call, cmd *command) error {
	at, err := c.target(cmd, 't', server.WantWindow)
	if err != nil {
		return err
	}
	for _, p := range at.Window.Panes {
		if c.alive(p) && !cmd.has('k') {
			return fmt.Errorf("respawn window failed: window %s:%d still active", at.Session.Name, at.Window.Index)
		}
	}
	for len(at.Window.Panes) > 1 {
		if err := c.dropPane(server.Place{Session: at.Session, Window: at.Window, Pane: at.Window.Panes[len(at.Window.Panes)-1]}); err != nil {
			return err
		}
	}
	at.Pane = at.Window.Panes[0]
	return respawn(c, cmd, at)
}

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

// paneCommands implements the commands about panes.
type paneCommands struct{ *parts }

// parseSplit reads the flags of split-window and join-pane for the position and size of a pane.
func parseSplit(cmd *command, at server.Target) (cells.Split, error) {
	s := cells.Split{Axis: cells.Below, Before: cmd.has('b'), Full: cmd.has('f')}
	cell := at.Window.Layout
	if !s.Full {
		cell = cell.FindPane(at.Pane.ID)
	}
	have := cell.H
	if cmd.has('h') {
		s.Axis, have = cells.Beside, cell.W
	}
	size := cmd.value('l')
	if cmd.has('p') {
		size = cmd.value('p') + "%"
	}
	if size == "" {
		return s, nil
	}
	n, err := parseSize(size, have)
	switch {
	case err != nil && cmd.has('p'):
		return s, errors.New("create pane failed: -p invalid")
	case err != nil:
		return s, fmt.Errorf("lines %w", err)
	}
	s.Size = n
	return s, nil
}

func (c paneCommands) splitWindow(cmd *command, at server.Target) error {
	s, err := parseSplit(cmd, at)
	if err != nil {
		return err
	}
	prog, err := c.programs.parse(cmd, at)
	if err != nil {
		return err
	}
	p := c.state.NewPane()
	w := at.Window
	if !w.InsertPane(p, at.Pane, s) {
		c.state.Next.Pane-- // the id was never shown
		return errors.New("no space for new pane")
	}
	cell := w.Layout.FindPane(p.ID)
	prog.w, prog.h = cell.W, cell.H
	prog.name = at.Session.Name + ":" + cmp.Or(c.settings.programName(prog.argv), w.Name)
	if err := c.programs.start(p, at, prog); err != nil {
		w.RemovePane(p) // undo the split
		return err
	}
	w.Zoomed = false
	if !cmd.has('d') {
		w.SelectPane(p)
	}
	if err := c.programs.applyLayout(w); err != nil {
		return err
	}
	at.Pane = p
	c.print.created(cmd, at, paneTemplate)
	return nil
}

func (c paneCommands) killPane(cmd *command, at server.Target) error {
	return c.programs.killPanes(func(one server.Target) bool { return one.Window == at.Window && (one.Pane == at.Pane) != cmd.has('a') })
}

const paneLine = `#{pane_index}: [#{pane_width}x#{pane_height}] [history #{history_size}/#{history_limit}, #{history_bytes} bytes] #{pane_id}#{?pane_active, (active),}#{?pane_dead, (dead),}`

func (c paneCommands) listPanes(cmd *command, at server.Target) (err error) {
	form, want := paneLine, server.TargetWindow
	switch {
	case cmd.has('a'):
		form, want = "#{session_name}:#{window_index}."+paneLine, server.TargetNone
	case cmd.has('s'):
		form, want = "#{window_index}."+paneLine, server.TargetSession
	}
	if at, err = c.targets.find(cmd, 't', want); err != nil {
		return err
	}
	for _, one := range c.state.ListPanes(func(one server.Target) bool {
		return want == server.TargetNone || one.Session == at.Session && (want == server.TargetSession || one.Window == at.Window)
	}) {
		c.print.item(cmd, one, form)
	}
	return nil
}

// selectPane implements select-pane and last-pane.
func (c paneCommands) selectPane(cmd *command, at server.Target) error {
	to := at.Pane
	if cmd.name == "last-pane" || cmd.has('l') {
		if to = at.Window.LastPane(); to == nil {
			return errors.New("no last pane")
		}
	}
	for _, direction := range []byte("UDLR") {
		if cmd.has(direction) {
			if to = at.Window.PaneInDirection(at.Pane, direction); to == nil {
				return nil
			}
		}
	}
	active := at.Window.ActivePane()
	at.Pane = to
	switch {
	case cmd.has('e') || cmd.has('d'):
		to.InputOff = cmd.has('d')
		return nil
	case cmd.has('P'):
		setStyle(to, cmd.value('P'))
	}
	if cmd.has('T') {
		return c.setTitle(at, cmd.value('T'))
	}
	at.Window.Zoomed = at.Window.Zoomed && (cmd.has('Z') || to == active)
	at.Window.SelectPane(to)
	c.dashboard.markChanged(at.Window)
	return nil
}

// setStyle sets the style options abbreviated by select-pane -P.
func setStyle(p *server.Pane, style string) {
	if p.Options == nil {
		p.Options = server.Options{}
	}
	p.Options["window-style"], p.Options["window-active-style"] = style, style
}

// setTitle sets a pane's title and renames its session in the dashboard to match.
func (c paneCommands) setTitle(at server.Target, title string) error {
	at.Pane.Title = c.formats.expand(at, title)
	name := c.engine.freeName(at.Pane.Title)
	if name == "" || at.Pane.Adopted || !c.engine.isAlive(at.Pane) {
		return nil
	}
	if _, err := c.engine.connect(); err != nil {
		return err
	}
	in := api.SessionRenameInput{ID: at.Pane.Terminal, Name: name, Revision: c.engine.processes[at.Pane.Terminal].Revision}
	process, err := callEngine(c.engine, api.SessionRename, in)
	if err == nil && c.engine.processes != nil {
		c.engine.processes[at.Pane.Terminal] = process
	}
	return nil // a title unfit as a name is still a title
}

func (c paneCommands) swapPane(cmd *command, to server.Target) error {
	from, err := to, error(nil)
	switch {
	case cmd.has('U'):
		from.Pane = to.Window.StepPane(to.Pane, -1)
	case cmd.has('D'):
		from.Pane = to.Window.StepPane(to.Pane, 1)
	default:
		from, err = c.targets.find(cmd, 's', server.TargetPane)
	}
	if err != nil {
		return err
	}
	if from.Pane == to.Pane {
		return nil
	}
	a, b := from.Window, to.Window
	leafA, leafB := a.Layout.FindPane(from.Pane.ID), b.Layout.FindPane(to.Pane.ID)
	// Only the ids in the leaves change; both layouts keep their shape.
	leafA.Pane, leafB.Pane = to.Pane.ID, from.Pane.ID
	switch {
	case a != b:
		c.dashboard.swapped = append(c.dashboard.swapped, [2]string{from.Pane.Terminal, to.Pane.Terminal})
		a.Panes[slices.Index(a.Panes, from.Pane)], b.Panes[slices.Index(b.Panes, to.Pane)] = to.Pane, from.Pane
		a.Stack, b.Stack = renumberStack(a.Stack, from.Pane.ID, to.Pane.ID), renumberStack(b.Stack, to.Pane.ID, from.Pane.ID)
	case !cmd.has('d') || a.ActivePane() == from.Pane:
		a.SelectPane(to.Pane)
	case a.ActivePane() == to.Pane:
		a.SelectPane(from.Pane)
	}
	for _, w := range []*server.Window{a, b} {
		w.Zoomed = w.Zoomed && cmd.has('Z')
		if err := c.programs.applyLayout(w); err != nil {
			return err
		}
	}
	return nil
}

func renumberStack(stack []int, from, to int) []int {
	stack = slices.Clone(stack)
	for i, id := range stack {
		if id == from {
			stack[i] = to
		}
	}
	return stack
}

// joinPane implements join-pane and move-pane.
func (c paneCommands) joinPane(cmd *command, to server.Target) error {
	from, err := c.targets.find(cmd, 's', server.TargetPane)
	if err != nil {
		return err
	}
	if from.Pane == to.Pane {
		return errors.New("source and target panes must be different")
	}
	s, err := parseSplit(cmd, to)
	if err != nil {
		return err
	}
	source := from.Window
	if !to.Window.InsertPane(from.Pane, to.Pane, s) {
		return errors.New("create pane failed: pane too small")
	}
	// Remove it only now: a failed insertion must leave the pane in its window.
	if source != to.Window {
		c.state.RemovePane(from)
	}
	if !cmd.has('d') {
		to.Window.SelectPane(from.Pane)
		to.Session.ShowWindow(to.Window)
	}
	if len(source.Panes) > 0 {
		if err := c.programs.applyLayout(source); err != nil {
			return err
		}
	}
	return c.programs.applyLayout(to.Window)
}

func (c paneCommands) resizePane(cmd *command, at server.Target) error {
	w := at.Window
	if cmd.has('Z') {
		if w.Zoomed = !w.Zoomed && len(w.Panes) > 1; w.Zoomed {
			w.SelectPane(at.Pane)
		}
		return c.programs.applyLayout(w)
	}
	w.Zoomed = false
	by, err := parseAdjustment(cmd)
	if err != nil {
		return err
	}
	leaf := w.Layout.FindPane(at.Pane.ID)
	for _, side := range []struct {
		flag byte
		name string
		axis cells.Kind
		of   int
	}{{'x', "width", cells.Beside, w.Layout.W}, {'y', "height", cells.Below, w.Layout.H}} {
		if !cmd.has(side.flag) {
			continue
		}
		n, err := parseSize(cmd.value(side.flag), side.of)
		if err != nil {
			return fmt.Errorf("%s %w", side.name, err)
		}
		w.Layout.ResizePane(leaf, side.axis, n)
	}
	for _, dir := range directions() {
		if cmd.has(dir.flag) {
			w.Layout.MoveEdge(leaf, dir.axis, by*dir.sign)
			break
		}
	}
	w.Preset = -1 // no longer the preset, so next-layout starts with the first one
	return c.programs.applyLayout(w)
}

// directions returns the flags for moving a border, in tmux's order of precedence.
func directions() []direction {
	return []direction{{'L', cells.Beside, -1}, {'R', cells.Beside, 1}, {'U', cells.Below, -1}, {'D', cells.Below, 1}}
}

// A direction is the axis and sign of a border's movement.
type direction struct {
	flag byte
	axis cells.Kind
	sign int
}

// parseAdjustment returns the number of cells to move a border by; 1 without an argument.
func parseAdjustment(cmd *command) (int, error) {
	if len(cmd.args) == 0 {
		return 1, nil
	}
	by, err := parseNumber(cmd.args[0])
	switch {
	case err != nil:
		return 0, errors.New("adjustment invalid")
	case by < 1:
		return 0, errors.New("adjustment too small")
	}
	return by, nil
}

// parseSize parses a number of cells or a percentage of total. The result is at least 1.
func parseSize(text string, total int) (int, error) {
	number, percent := strings.CutSuffix(text, "%")
	n, err := parseNumber(number)
	switch {
	case err != nil:
		return 0, errors.New("invalid")
	case percent:
		n = total * n / 100
	}
	if n < 0 && !percent {
		return 0, errors.New("too small")
	}
	return max(n, 1), nil
}

// respawnPane implements respawn-pane: it starts a new program in an existing pane.
func (c paneCommands) respawnPane(cmd *command, at server.Target) error {
	if c.engine.isAlive(at.Pane) && !cmd.has('k') {
		return fmt.Errorf("respawn pane failed: pane %s:%d.%s still active", at.Session.Name, at.Window.Index, c.formats.expand(at, "#P"))
	}
	return c.respawnProgram(cmd, at)
}

func (c paneCommands) respawnProgram(cmd *command, at server.Target) error {
	prog, err := c.programs.parse(cmd, at)
	if err != nil {
		return err
	}
	p, cell := at.Pane, at.Window.PaneCell(at.Pane)
	if len(cmd.args) == 0 {
		prog.argv = p.Argv
	}
	if !cmd.has('c') {
		prog.cwd = p.CWD
	}
	old := *p
	prog.w, prog.h, prog.name = cell.W, cell.H, cmp.Or(p.Title, at.Session.Name+":"+c.settings.programName(prog.argv))
	if err := c.programs.kill(p); err != nil {
		return err
	}
	p.Adopted, p.Pipe = false, ""
	if err := c.programs.start(p, at, prog); err != nil {
		return err
	}
	if !old.Adopted {
		c.dashboard.removed = append(c.dashboard.removed, old.Terminal)
	}
	c.dashboard.markChanged(at.Window)
	return nil
}

func (c paneCommands) respawnWindow(cmd *command, at server.Target) error {
	for _, p := range at.Window.Panes {
		if c.engine.isAlive(p) && !cmd.has('k') {
			return fmt.Errorf("respawn window failed: window %s:%d still active", at.Session.Name, at.Window.Index)
		}
	}
	at.Pane = at.Window.Panes[0]
	if err := c.programs.killPanes(func(one server.Target) bool { return one.Window == at.Window && one.Pane != at.Pane }); err != nil {
		return err
	}
	return c.respawnProgram(cmd, at)
}

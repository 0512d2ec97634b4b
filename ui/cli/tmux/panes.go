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
	size, percent := strings.CutSuffix(cmd.value('l'), "%")
	if cmd.has('p') {
		size, percent = cmd.value('p'), true
	}
	if size == "" {
		return s, nil
	}
	n, err := parseNumber(size)
	switch {
	case err != nil || n < 0:
		return s, sizeError(cmd, percent)
	case percent:
		n = have * min(n, 100) / 100
	}
	s.Size = max(n, 1)
	return s, nil
}

// sizeError words the error for an invalid size as tmux does.
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

func splitWindow(c *call, cmd *command, at server.Target) error {
	s, err := parseSplit(cmd, at)
	if err != nil {
		return err
	}
	prog, err := parseProgram(c, cmd, at)
	if err != nil {
		return err
	}
	p := c.newPane()
	w := at.Window
	if !w.InsertPane(p, at.Pane, s) {
		c.file.Next.Pane-- // the id was never shown
		return errors.New("no space for new pane")
	}
	cell := w.Layout.FindPane(p.ID)
	prog.w, prog.h = cell.W, cell.H
	prog.name = at.Session.Name + ":" + cmp.Or(c.programName(prog.argv), w.Name)
	if err := c.startProgram(p, at, prog); err != nil {
		w.RemovePane(p) // undo the split
		return err
	}
	w.Zoomed = cmd.has('Z')
	if !cmd.has('d') {
		w.SelectPane(p)
	}
	if err := c.applyLayout(w); err != nil {
		return err
	}
	at.Pane = p
	c.printCreated(cmd, at, paneTemplate)
	return nil
}

func killPane(c *call, cmd *command, at server.Target) error {
	return c.killPanes(func(one server.Target) bool { return one.Window == at.Window && (one.Pane == at.Pane) != cmd.has('a') })
}

const paneLine = `#{pane_index}: [#{pane_width}x#{pane_height}] [history #{history_size}/#{history_limit}, #{history_bytes} bytes] #{pane_id}#{?pane_active, (active),}#{?pane_dead, (dead),}`

func listPanes(c *call, cmd *command, at server.Target) (err error) {
	form, want := paneLine, server.TargetWindow
	switch {
	case cmd.has('a'):
		form, want = "#{session_name}:#{window_index}."+paneLine, server.TargetNone
	case cmd.has('s'):
		form, want = "#{window_index}."+paneLine, server.TargetSession
	}
	if at, err = c.findTarget(cmd, 't', want); err != nil {
		return err
	}
	for _, one := range c.file.ListPanes(func(one server.Target) bool {
		return want == server.TargetNone || one.Session == at.Session && (want == server.TargetSession || one.Window == at.Window)
	}) {
		c.printItem(cmd, one, form)
	}
	return nil
}

// selectPane implements select-pane and last-pane.
func selectPane(c *call, cmd *command, at server.Target) error {
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
	switch {
	case cmd.has('g'):
		c.printLines(string(c.optionValue(at, "window-style")))
		return nil
	case cmd.has('T'):
		return setTitle(c, at, cmd.value('T'))
	}
	at.Window.Zoomed = at.Window.Zoomed && (cmd.has('Z') || to == active)
	at.Window.SelectPane(to)
	c.markChanged(at.Window)
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
func setTitle(c *call, at server.Target, title string) error {
	at.Pane.Title = c.scope(at).Expand(title)
	name := c.freeName(at.Pane.Title)
	if name == "" || at.Pane.Adopted || !c.isAlive(at.Pane) {
		return nil
	}
	if _, err := c.connectEngine(); err != nil {
		return err
	}
	in := api.SessionRenameInput{ID: at.Pane.Terminal, Name: name, Revision: c.processes[at.Pane.Terminal].Revision}
	process, err := callEngine(c, api.SessionRename, in)
	if err == nil && c.processes != nil {
		c.processes[at.Pane.Terminal] = process
	}
	return nil // a title unfit as a name is still a title
}

func swapPane(c *call, cmd *command, to server.Target) error {
	from, err := to, error(nil)
	switch {
	case cmd.has('U'):
		from.Pane = to.Window.StepPane(to.Pane, -1)
	case cmd.has('D'):
		from.Pane = to.Window.StepPane(to.Pane, 1)
	default:
		from, err = c.findTarget(cmd, 's', server.TargetPane)
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
		c.swapped = append(c.swapped, [2]string{from.Pane.Terminal, to.Pane.Terminal})
		a.Panes[slices.Index(a.Panes, from.Pane)], b.Panes[slices.Index(b.Panes, to.Pane)] = to.Pane, from.Pane
		a.Stack, b.Stack = renumberStack(a.Stack, from.Pane.ID, to.Pane.ID), renumberStack(b.Stack, to.Pane.ID, from.Pane.ID)
	case !cmd.has('d') || a.ActivePane() == from.Pane:
		a.SelectPane(to.Pane)
	case a.ActivePane() == to.Pane:
		a.SelectPane(from.Pane)
	}
	for _, w := range []*server.Window{a, b} {
		w.Zoomed = w.Zoomed && cmd.has('Z')
		if err := c.applyLayout(w); err != nil {
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
func joinPane(c *call, cmd *command, to server.Target) error {
	from, err := c.findTarget(cmd, 's', server.TargetPane)
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
		c.file.RemovePane(from)
	}
	if !cmd.has('d') {
		to.Window.SelectPane(from.Pane)
		to.Session.ShowWindow(to.Window)
	}
	if len(source.Panes) > 0 {
		if err := c.applyLayout(source); err != nil {
			return err
		}
	}
	return c.applyLayout(to.Window)
}

func breakPane(c *call, cmd *command, _ server.Target) error {
	from, err := c.findTarget(cmd, 's', server.TargetPane)
	if err != nil {
		return err
	}
	at := from
	if cmd.has('t') {
		if at, err = c.findTarget(cmd, 't', server.TargetIndex); err != nil {
			return err
		}
	}
	index, err := indexFor(c, cmd, at, "index in use: %d")
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
		c.movedOut = append(c.movedOut, from.Pane.Terminal)
		w = makeWindow(c, from.Pane, index, source.Layout.W, source.Layout.H)
		w.Name = c.programName(from.Pane.Argv)
		if err := c.applyLayout(source); err != nil {
			return err
		}
	}
	at = server.Target{Session: at.Session, Window: w, Pane: from.Pane}
	at.Session.AddWindow(w)
	w.SetName(cmd.value('n'))
	if !cmd.has('d') {
		at.Session.ShowWindow(w)
	}
	c.printCreated(cmd, at, paneTemplate)
	return c.applyLayout(w)
}

func resizePane(c *call, cmd *command, at server.Target) error {
	w := at.Window
	if cmd.has('Z') {
		if w.Zoomed = !w.Zoomed && len(w.Panes) > 1; w.Zoomed {
			w.SelectPane(at.Pane)
		}
		return c.applyLayout(w)
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
	return c.applyLayout(w)
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
func respawnPane(c *call, cmd *command, at server.Target) error {
	if c.isAlive(at.Pane) && !cmd.has('k') {
		return fmt.Errorf("respawn pane failed: pane %s:%d.%s still active", at.Session.Name, at.Window.Index, c.scope(at).Expand("#P"))
	}
	return respawnProgram(c, cmd, at)
}

func respawnProgram(c *call, cmd *command, at server.Target) error {
	prog, err := parseProgram(c, cmd, at)
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
	prog.w, prog.h, prog.name = cell.W, cell.H, cmp.Or(p.Title, at.Session.Name+":"+c.programName(prog.argv))
	if err := c.killProgram(p); err != nil {
		return err
	}
	p.Adopted, p.Pipe = false, ""
	if err := c.startProgram(p, at, prog); err != nil {
		return err
	}
	if !old.Adopted {
		c.removed = append(c.removed, old.Terminal)
	}
	c.markChanged(at.Window)
	return nil
}

func respawnWindow(c *call, cmd *command, at server.Target) error {
	for _, p := range at.Window.Panes {
		if c.isAlive(p) && !cmd.has('k') {
			return fmt.Errorf("respawn window failed: window %s:%d still active", at.Session.Name, at.Window.Index)
		}
	}
	at.Pane = at.Window.Panes[0]
	if err := c.killPanes(func(one server.Target) bool { return one.Window == at.Window && one.Pane != at.Pane }); err != nil {
		return err
	}
	return respawnProgram(c, cmd, at)
}

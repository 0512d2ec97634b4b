package tmux

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tandem/ui/cli/tmux/cells"
	"tandem/ui/cli/tmux/server"
)

const paneTemplate = "#{session_name}:#{window_index}.#{pane_index}"

func newWindow(c *call, cmd *command, at server.Target) error {
	if name := cmd.value('n'); cmd.has('S') && name != "" {
		if w := at.Session.WindowByName(name, true); w != nil {
			at.Session.ShowWindow(w)
			c.markChanged(w)
			return nil
		}
	}
	// Parse first: a wrong -e must not cost the window killed by -k.
	prog, err := parseProgram(c, cmd, at)
	if err != nil {
		return err
	}
	index, err := indexFor(c, cmd, at, "create window failed: index %d in use")
	if err != nil {
		return err
	}
	at = server.Target{Session: at.Session}
	w, err := addWindow(c, &at, index, c.scope(at).Expand(cmd.value('n')), prog)
	if err != nil {
		// -k may have killed the only window, and a session without one breaks targets.
		if len(at.Session.Windows) == 0 {
			c.file.RemoveSession(at.Session)
		}
		return err
	}
	if !cmd.has('d') {
		at.Session.ShowWindow(w)
	}
	c.printCreated(cmd, at, paneTemplate)
	return nil
}

// printCreated prints a new session, window or pane if -P asks for it, in the format of -F or form.
func (c *call) printCreated(cmd *command, at server.Target, form string) {
	if cmd.has('P') {
		c.printLines(c.scope(at).Expand(cmp.Or(cmd.value('F'), form)))
	}
}

// indexFor returns the index for a window: the requested one, one beside it (-a, -b), or the first
// free one. With -k, a window at the index is killed. Taken is the format of the error for a used one.
func indexFor(c *call, cmd *command, at server.Target, taken string) (int, error) {
	base := c.optionValue(at, "base-index").Int()
	switch {
	case cmd.has('a') || cmd.has('b'):
		beside := cmp.Or(at.Window, at.Session.CurrentWindow())
		index := beside.Index
		if !cmd.has('b') {
			index++
		}
		shiftWindows(c, at.Session, index)
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
	return at.Index, replaceWindow(c, at.Session, occupant)
}

// namesWindow reports whether a target gives a window rather than just a session.
func namesWindow(target string) bool {
	_, window, ok := strings.Cut(target, ":")
	return !ok && !strings.HasPrefix(target, "$") || window != ""
}

// replaceWindow kills a window and removes it, to free its index for another one.
func replaceWindow(c *call, s *server.Session, w *server.Window) error {
	w.Index = -1
	for _, p := range w.Panes {
		if err := c.killProgram(p); err != nil {
			return err
		}
		if !p.Adopted {
			c.removed = append(c.removed, p.Terminal)
		}
	}
	// Not State.RemovePane: it would remove a session left without windows.
	s.RemoveWindow(w)
	return nil
}

// shiftWindows frees an index by moving the windows from there up to the next gap.
func shiftWindows(c *call, s *server.Session, index int) {
	if w := s.WindowAt(index); w != nil {
		shiftWindows(c, s, index+1)
		w.Index++
	}
}

func (c *call) renumberWindows(s *server.Session) {
	base := c.optionValue(server.Target{Session: s}, "base-index").Int()
	for i, w := range s.Windows {
		w.Index = base + i
	}
}

func killWindow(c *call, cmd *command, at server.Target) error {
	return c.killPanes(func(one server.Target) bool {
		return one.Session == at.Session && (one.Window == at.Window) != cmd.has('a')
	})
}

func renameWindow(c *call, cmd *command, at server.Target) error {
	at.Window.SetName(plainName(c.scope(at).Expand(cmd.args[0])))
	return nil
}

const windowLine = `#{window_index}: #{window_name}#{window_raw_flags} (#{window_panes} panes) [#{window_width}x#{window_height}] [layout #{window_layout}] #{window_id}#{?window_active, (active),}`

func listWindows(c *call, cmd *command, at server.Target) (err error) {
	form, sessions := "#{session_name}:#{window_index}: #{window_name}#{window_raw_flags} (#{window_panes} panes) [#{window_width}x#{window_height}] ", c.file.SessionsByName()
	if !cmd.has('a') {
		if at, err = c.findTarget(cmd, 't', server.TargetSession); err != nil {
			return err
		}
		form, sessions = windowLine, []*server.Session{at.Session}
	}
	for _, s := range sessions {
		for _, w := range s.Windows {
			c.printItem(cmd, server.Target{Session: s, Window: w, Pane: w.ActivePane()}, form)
		}
	}
	return nil
}

func selectWindow(c *call, cmd *command, at server.Target) (err error) {
	step, want := byte(0), server.TargetWindow
	for _, flag := range []byte("lnp") {
		if cmd.has(flag) {
			step, want = flag, server.TargetSession
		}
	}
	if at, err = c.findTarget(cmd, 't', want); err != nil {
		return err
	}
	if cmd.has('T') && at.Window == at.Session.CurrentWindow() {
		step = 'l'
	}
	if step != 0 {
		return stepTo(c, at.Session, step)
	}
	c.showWindow(at.Session, at.Window)
	return nil
}

func (c *call) showWindow(s *server.Session, w *server.Window) {
	s.ShowWindow(w)
	c.markChanged(w)
}

// stepWindow implements next-window, previous-window and last-window.
func stepWindow(c *call, cmd *command, at server.Target) error {
	return stepTo(c, at.Session, cmd.name[0])
}

// stepTo switches to the next (n), previous (p) or previously shown (l) window.
func stepTo(c *call, s *server.Session, to byte) error {
	i, n := slices.Index(s.Windows, s.CurrentWindow()), len(s.Windows)
	word, w := "last", s.LastWindow()
	switch to {
	case 'n':
		word, w = "next", s.Windows[(i+1)%n]
	case 'p':
		word, w = "previous", s.Windows[(i+n-1)%n]
	}
	if w == nil || w == s.CurrentWindow() {
		return fmt.Errorf("no %s window", word)
	}
	c.showWindow(s, w)
	return nil
}

func moveWindow(c *call, cmd *command, _ server.Target) error {
	if cmd.has('r') {
		at, err := c.findTarget(cmd, 't', server.TargetSession)
		if err == nil {
			c.renumberWindows(at.Session)
		}
		return err
	}
	from, err := c.findTarget(cmd, 's', server.TargetWindow)
	if err != nil {
		return err
	}
	to, err := c.findTarget(cmd, 't', server.TargetIndex)
	if err != nil {
		return err
	}
	if to.Window == from.Window && !cmd.has('a') && !cmd.has('b') {
		return fmt.Errorf("same index: %d", to.Index)
	}
	index, err := indexFor(c, cmd, to, "index in use: %d")
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
		c.file.RemoveSession(from.Session)
	}
	return nil
}

func swapWindow(c *call, cmd *command, to server.Target) error {
	from, err := c.findTarget(cmd, 's', server.TargetWindow)
	if err != nil || from.Window == to.Window {
		return err
	}
	a, b := from.Window, to.Window
	a.Index, b.Index = b.Index, a.Index
	if from.Session == to.Session {
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
	from.Session.Windows[slices.Index(from.Session.Windows, a)] = b
	to.Session.Windows[slices.Index(to.Session.Windows, b)] = a
	from.Session.Stack = slices.DeleteFunc(from.Session.Stack, func(id int) bool { return id == a.ID })
	to.Session.Stack = slices.DeleteFunc(to.Session.Stack, func(id int) bool { return id == b.ID })
	from.Session.ShowWindow(b)
	to.Session.ShowWindow(a)
	return nil
}

func resizeWindow(c *call, cmd *command, at server.Target) error {
	by, err := parseAdjustment(cmd)
	if err != nil {
		return err
	}
	w, h := at.Window.Layout.W, at.Window.Layout.H
	if cmd.has('a') || cmd.has('A') {
		w, h = at.Session.W, at.Session.H
	}
	for _, dir := range directions() {
		switch {
		case !cmd.has(dir.flag):
		case dir.axis == cells.Beside:
			w += by * dir.sign
		default:
			h += by * dir.sign
		}
	}
	if w, h, err = parseWindowSize(c, cmd, w, h); err != nil {
		return err
	}
	at.Window.Layout.Resize(max(w, 1), max(h, 1))
	return c.applyLayout(at.Window)
}

// selectLayout implements select-layout, next-layout and previous-layout.
func selectLayout(c *call, cmd *command, at server.Target) error {
	w, presets := at.Window, cells.PresetNames()
	name := cmd.arg(0)
	switch {
	case cmd.name == "next-layout" || cmd.has('n'):
		name = presets[(w.Preset+1)%len(presets)]
	case cmd.name == "previous-layout" || cmd.has('p'):
		name = presets[(max(w.Preset, 0)+len(presets)-1)%len(presets)]
	case cmd.has('E'):
		w.Layout.SpreadAround(at.Pane.ID)
		name = ""
	case name == "" && w.Preset < 0:
		return nil
	case name == "":
		name = presets[w.Preset]
	}
	if name != "" {
		if err := arrangeWindow(c, at, name); err != nil {
			return err
		}
	}
	w.Zoomed = false
	return c.applyLayout(w)
}

func arrangeWindow(c *call, at server.Target, name string) error {
	w := at.Window
	var found []string
	for _, preset := range cells.PresetNames() {
		if strings.HasPrefix(preset, name) {
			found = append(found, preset)
		}
	}
	if len(found) == 1 {
		main := cells.MainSize{
			W: optionCells(c, at, "main-pane-width", w.Layout.W), H: optionCells(c, at, "main-pane-height", w.Layout.H),
		}
		w.Layout = cells.Arrange(found[0], w.PaneIDs(), w.Layout.W, w.Layout.H, main)
		w.Preset = slices.Index(cells.PresetNames(), found[0])
		return nil
	}
	layout, err := cells.Parse(name, w.PaneIDs())
	if err != nil {
		return fmt.Errorf("%w: %s", err, name)
	}
	// A layout comes with a size: fit it to the window.
	width, height := w.Layout.W, w.Layout.H
	w.Layout, w.Preset = layout, -1
	w.Layout.Resize(width, height)
	return nil
}

// optionCells returns an option given as a number of cells or as a percentage of total.
func optionCells(c *call, at server.Target, name string, total int) int {
	value, percent := strings.CutSuffix(string(c.optionValue(at, name)), "%")
	n, _ := strconv.Atoi(value)
	if percent {
		return total * n / 100
	}
	return n
}

func rotateWindow(c *call, cmd *command, at server.Target) error {
	w := at.Window
	i := slices.Index(w.Panes, w.ActivePane())
	leaves := w.Layout.Leaves()
	ids := w.PaneIDs()
	// The active position stays the same; only the panes rotate through it.
	if cmd.has('D') {
		ids = append(ids[len(ids)-1:], ids[:len(ids)-1]...)
	} else {
		ids = append(ids[1:], ids[0])
	}
	for n, leaf := range leaves {
		leaf.Pane = ids[n]
	}
	w.Zoomed = w.Zoomed && cmd.has('Z')
	w.SortPanes()
	w.SelectPane(w.Panes[i])
	return c.applyLayout(w)
}

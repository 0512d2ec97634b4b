package tmux

import (
	"fmt"
	"slices"
	"strings"

	"tandem/ui/cli/tmux/cells"
	"tandem/ui/cli/tmux/server"
)

// layoutCommands implements the commands that arrange the panes of a window.
type layoutCommands struct{ *parts }

func (c layoutCommands) resizeWindow(cmd *command, at server.Target) error {
	w, h, err := clients(c).parseWindowSize(cmd, at.Window.Layout.W, at.Window.Layout.H)
	if err != nil {
		return err
	}
	at.Window.Layout.Resize(w, h)
	return c.programs.applyLayout(at.Window)
}

// selectLayout implements select-layout, next-layout and previous-layout.
func (c layoutCommands) selectLayout(cmd *command, at server.Target) error {
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
		if err := c.arrangeWindow(at, name); err != nil {
			return err
		}
	}
	w.Zoomed = false
	return c.programs.applyLayout(w)
}

func (c layoutCommands) arrangeWindow(at server.Target, name string) error {
	w := at.Window
	var found []string
	for _, preset := range cells.PresetNames() {
		if strings.HasPrefix(preset, name) {
			found = append(found, preset)
		}
	}
	if len(found) == 1 {
		main := cells.MainSize{
			W: c.optionCells(at, "main-pane-width", w.Layout.W), H: c.optionCells(at, "main-pane-height", w.Layout.H),
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
func (c layoutCommands) optionCells(at server.Target, name string, total int) int {
	n, _ := parseSize(string(c.settings.optionValue(at, name)), total)
	return n
}

func (c layoutCommands) rotateWindow(cmd *command, at server.Target) error {
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
	return c.programs.applyLayout(w)
}

package tmux

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem/ui/cli/tmux/server"
)

// setHook is set-hook.
func setHook(c *call, cmd *command) error {
	name, index, level, err := server.ResolveHook(cmd.args[0])
	if err != nil {
		return err
	}
	set, at, _, err := optionPlace(c, cmd, level)
	if err != nil {
		return err
	}
	if cmd.has('R') {
		c.hooked(c.file.State, name, c.whole(at), nil)
		return nil
	}
	if cmd.has('u') {
		set.Unhook(name, index)
		return nil
	}
	if len(cmd.args) < 2 {
		return errors.New("empty value")
	}
	text, err := hookText(c, cmd.args[1])
	if err != nil {
		return err
	}
	if index < 0 {
		if index = 0; cmd.has('a') {
			if there := set.Hooked(name); len(there) > 0 {
				index = there[len(there)-1] + 1
			}
		} else {
			set.Unhook(name, -1)
		}
	}
	if *set == nil {
		*set = server.Options{}
	}
	(*set)[server.Key(name, index)] = text
	return nil
}

// hookText checks the commands of a hook, and gives them as tmux writes them.
func hookText(c *call, text string) (string, error) {
	sequence, err := readText(text, c.env)
	if err != nil {
		return "", err
	}
	var written []string
	for _, command := range sequence {
		if handler(command.name) == nil {
			return "", fmt.Errorf("%s is not supported by tandem", command.name)
		}
		written = append(written, command.String())
	}
	return strings.Join(written, " ; "), nil
}

// String is the command as tmux prints it: flags without values first.
func (c *command) String() string {
	words, plain := []string{c.name}, ""
	var valued []string
	for _, flag := range slices.Sorted(maps.Keys(c.flags)) {
		if strings.IndexByte(c.plain, flag) >= 0 {
			plain += string(flag)
			continue
		}
		for _, value := range c.flags[flag] {
			valued = append(valued, "-"+string(flag), quoted(value))
		}
	}
	if plain != "" {
		words = append(words, "-"+plain)
	}
	words = append(words, valued...)
	for _, arg := range c.args {
		words = append(words, quoted(arg))
	}
	return strings.Join(words, " ")
}

// showHooks is show-hooks.
func showHooks(c *call, cmd *command) error {
	level := server.LevelSession
	switch {
	case cmd.has('p'):
		level = server.LevelPane
	case cmd.has('w'):
		level = server.LevelWindow
	}
	var names []string
	if len(cmd.args) > 0 {
		name, _, own, err := server.ResolveHook(cmd.args[0])
		if err != nil {
			return err
		}
		names, level = []string{name}, own
	} else if names = server.Hooks(level); level == server.LevelWindow {
		names = append(server.Hooks(server.LevelPane), names...)
	}
	set, _, _, err := optionPlace(c, cmd, level)
	if err != nil {
		return err
	}
	for _, name := range names {
		indexes := set.Hooked(name)
		if len(indexes) == 0 && cmd.has('g') {
			c.print(name)
		}
		for _, i := range indexes {
			c.print(server.Key(name, i) + " " + (*set)[server.Key(name, i)])
		}
	}
	return nil
}

// whole is a place with the window and the pane that are shown there.
func (c *call) whole(at server.Place) server.Place {
	if at.Session == nil {
		at, _ = c.finder().Find("", server.WantPane) // none while nothing runs
	}
	if at.Window == nil && at.Session != nil {
		at.Window = at.Session.Current()
	}
	if at.Pane == nil && at.Window != nil {
		at.Pane = at.Window.Active()
	}
	return at
}

// after runs what stands at the hook of a command that was carried out.
func (c *call) after(cmd *command) {
	name := "after-" + cmd.name
	if c.hook != nil || c.file == nil || !slices.Contains(server.Hooks(server.LevelSession), name) {
		return
	}
	at, err := c.target(cmd, 't', server.WantPane)
	switch cmd.name {
	case "new-session", "new-window", "split-window":
		at, err = c.file.Where(func(p server.Place) bool { return p.Pane.ID == c.file.Next.Pane-1 }), nil
	}
	if err != nil {
		at = c.own
	}
	c.hooked(c.file.State, name, c.whole(at), nil)
}

// hooked runs what stands at a hook for a place. What it runs runs no hooks, and what fails in it
// is said and stops nothing.
func (c *call) hooked(state *server.State, name string, at server.Place, facts map[string]string) {
	if c.hook != nil {
		return
	}
	level := server.LevelPane
	if slices.Contains(server.Hooks(server.LevelSession), name) {
		level = server.LevelSession
	}
	var texts []string
	for _, set := range state.Chain(level, at) {
		for _, i := range set.Hooked(name) {
			texts = append(texts, set[server.Key(name, i)])
		}
		if texts != nil {
			break
		}
	}
	if texts == nil {
		return
	}
	own := c.own
	c.hook = map[string]string{"hook": name}
	maps.Copy(c.hook, facts)
	defer func() { c.hook, c.own = nil, own }()
	for _, text := range texts {
		c.own = c.file.Where(func(p server.Place) bool { return at.Pane != nil && p.Pane.ID == at.Pane.ID })
		sequence, err := readText(text, c.env)
		if err == nil {
			err = c.run(sequence)
		}
		if err != nil {
			fmt.Fprintf(c.Stderr, "hook %s: %v\n", name, err)
		}
	}
}

// event runs what stands at the hook of something that has happened, about which its commands have
// variables in formats.
func (c *call) event(state *server.State, name string, at server.Place) {
	facts := map[string]string{}
	if at.Session != nil {
		facts["hook_session"], facts["hook_session_name"] = fmt.Sprintf("$%d", at.Session.ID), at.Session.Name
	}
	if at.Window != nil {
		facts["hook_window"], facts["hook_window_name"] = fmt.Sprintf("@%d", at.Window.ID), at.Window.Name
	}
	if at.Pane != nil {
		facts["hook_pane"] = fmt.Sprintf("%%%d", at.Pane.ID)
	}
	c.hooked(state, name, at, facts)
}

// A sighting is a server as it was: what differs from it has happened since.
type sighting struct {
	state    server.State
	sessions map[int]seen
	windows  map[int]seen
	order    []int // of windows
}

// A seen is a session or a window as it was.
type seen struct {
	at           server.Place
	name, layout string
	shown        int // the number of the window, or of the pane
}

// sight looks at the server as it is now.
func (c *call) sight() *sighting {
	s := &sighting{state: *c.file.State, sessions: map[int]seen{}, windows: map[int]seen{}}
	for _, session := range c.file.Sorted() {
		s.sessions[session.ID] = seen{at: server.Place{Session: session}, name: session.Name, shown: session.Current().ID}
		for _, w := range session.Windows {
			s.windows[w.ID] = seen{at: server.Place{Session: session, Window: w}, name: w.Name, layout: w.Layout.String(), shown: w.Active().ID}
			s.order = append(s.order, w.ID)
		}
	}
	return s
}

// happened runs the hooks of what differs from how the server was found.
func (c *call) happened() {
	before := c.sighted
	if c.sighted = nil; before == nil || c.hook != nil {
		return
	}
	now := c.sight()
	state := c.file.State
	if !c.file.Running() { // its hooks have gone with it
		state = &before.state
	}
	exited := func() {
		for len(c.exited) > 0 {
			at := c.exited[0]
			c.exited = c.exited[1:]
			c.event(state, "pane-exited", at)
		}
	}
	exited()
	defer exited() // what has ended while other hooks ran
	for _, id := range slices.Sorted(maps.Keys(now.sessions)) {
		is := now.sessions[id]
		switch was, known := before.sessions[id]; {
		case !known:
			c.event(state, "session-created", is.at)
		case was.name != is.name:
			c.event(state, "session-renamed", is.at)
		case was.shown != is.shown:
			c.event(state, "session-window-changed", is.at)
		}
	}
	for _, id := range now.order {
		c.changedWindow(state, before.windows, id, now.windows[id])
	}
	for _, id := range before.order {
		if was := before.windows[id]; now.windows[id].at.Window == nil {
			c.event(state, "window-unlinked", was.at)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(before.sessions)) {
		if was := before.sessions[id]; now.sessions[id].at.Session == nil {
			c.event(state, "session-closed", was.at)
		}
	}
}

func (c *call) changedWindow(state *server.State, before map[int]seen, id int, is seen) {
	was, known := before[id]
	if !known {
		c.event(state, "window-linked", is.at)
		return
	}
	for _, differs := range []struct {
		hook string
		it   bool
	}{{"window-renamed", was.name != is.name}, {"window-layout-changed", was.layout != is.layout}, {"window-pane-changed", was.shown != is.shown}} {
		if differs.it {
			c.event(state, differs.hook, is.at)
		}
	}
}

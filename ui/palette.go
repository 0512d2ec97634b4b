package ui

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/sleep"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/files"
	"tandem/panes/widget"
	"tandem/ui/overlay"
)

// A palette offers everything that can be done or opened here in one list,
// narrowed by typing.
type palette struct {
	overlay.Picker
	does []func(*model) tea.Cmd // of each choice, by its number

	actions, open, folders, commands []widget.Choice
	over                             []keymap.Scope // of what had the keyboard
	recent                           []string       // what was chosen in others, the latest first

	told  paletteMsg // the engine's last answer
	known bool       // there was one
	asked bool       // it is being asked
	stale bool       // there are newer commands than it was asked for
}

// paletteMsg is what the engine knows for a palette beside what runs.
type paletteMsg struct {
	palette   *palette
	commands  []api.HistoryRow
	bookmarks []string
	err       error
}

// paletteDelay is how long a palette waits for more commands to be run.
const paletteDelay = 100 * time.Millisecond

// paletteCommands is how many of the newest commands are offered.
const paletteCommands = 200

func (m *model) showPalette() tea.Cmd {
	u := &palette{over: m.input.scopes(), recent: m.o.Recent}
	u.Title, u.Verb = "Find anything", paletteVerb
	u.Pick = func(c widget.Choice) tea.Cmd { return tea.Batch(u.keepRecent(m, c), u.does[c.Number](m)) }
	u.actions = u.actionChoices(m)
	u.open = u.processChoices(m)
	u.fill()
	m.dialog.open = u
	return u.ask(m, 0)
}

// paletteVerb is what enter does.
func paletteVerb(c widget.Choice) string {
	switch c.Kind {
	case "action":
		return "do it"
	case "command":
		return "insert at the prompt"
	}
	return "go there"
}

// fill offers what is known, in the order that holds while nothing is typed.
func (u *palette) fill() { u.List.Set(u.all()) }

// all has what was chosen lately before everything else, of what is known at once:
// what comes later does not push the first choice aside.
func (u *palette) all() []widget.Choice {
	known := slices.Concat(u.actions, u.open)
	var first []widget.Choice
	for _, name := range u.recent {
		if i := slices.IndexFunc(known, func(c widget.Choice) bool { return recentName(c) == name }); i >= 0 && len(first) < recentShown {
			first = append(first, known[i])
			known = slices.Delete(known, i, i+1)
		}
	}
	return slices.Concat(first, known, u.folders, u.commands)
}

// How many of the choices made last come first, and how many are kept: some of them
// cannot be chosen everywhere.
const (
	recentShown = 5
	recentKept  = 30
)

// recentName is what a choice is known by to the next palette and the next dashboard.
func recentName(c widget.Choice) string { return c.Kind + " " + c.ID }

// keepRecent notes that something was chosen.
func (u *palette) keepRecent(m *model, c widget.Choice) tea.Cmd {
	if c.ID == "" {
		return nil
	}
	name := recentName(c)
	others := slices.DeleteFunc(slices.Clone(m.o.Recent), func(other string) bool { return other == name })
	m.o.Recent = append([]string{name}, others[:min(len(others), recentKept-1)]...)
	names, keep := m.o.Recent, m.o.KeepRecent
	if keep == nil {
		return nil
	}
	return func() tea.Msg {
		keep(names)
		return nil
	}
}

// offer gives a choice what it does.
func (u *palette) offer(c widget.Choice, do func(*model) tea.Cmd) widget.Choice {
	c.Number = len(u.does)
	u.does = append(u.does, do)
	return c
}

// actionChoices are the actions of the place that the palette was opened over,
// then those that are available everywhere; those that only move come last.
func (u *palette) actionChoices(m *model) (choices []widget.Choice) {
	var later []widget.Choice
	seen := map[keymap.Action]bool{keymap.Palette: true, keymap.TipsHide: !m.tipsShown()}
	said := map[string]bool{} // two actions may do the same here
	scopes := slices.DeleteFunc(slices.Clone(u.over), func(s keymap.Scope) bool { return s == keymap.ScopeGlobal })
	scopes = append(scopes, keymap.ScopePrefix, keymap.ScopeGlobal)
	for _, section := range m.o.Bindings.Help(scopes...) {
		for _, row := range section.Rows {
			act := m.input.action(row.Action)
			if act == nil || seen[row.Action] || said[row.Help] || strings.HasPrefix(string(row.Action), "move.") {
				continue
			}
			seen[row.Action], said[row.Help] = true, true
			c := u.offer(widget.Choice{
				Kind: "action", Sign: m.theme.look.Glyphs.More, SignInk: m.theme.look.Accent, Text: row.Help,
				Also: row.Label + " " + string(row.Action), Words: row.Also, Detail: row.Keys[0], IsKey: true, ID: string(row.Action),
			}, func(*model) tea.Cmd { return act() })
			if row.Label == "" {
				later = append(later, c)
				continue
			}
			choices = append(choices, c)
		}
	}
	choices = append(choices, later...)
	unbound := func(text, words, id string, do func(*model) tea.Cmd) {
		choices = append(choices, u.offer(widget.Choice{
			Kind: "action", Sign: m.theme.look.Glyphs.More, SignInk: m.theme.look.Accent, Text: text, Also: id, Words: words, ID: id,
		}, do))
	}
	if !seen[keymap.ProcessNew] {
		unbound("start a process", "new", string(keymap.ProcessNew), func(m *model) tea.Cmd { return m.form.show() })
	}
	if m.o.CreateConfig != nil {
		unbound("edit the configuration", "settings preferences options config.toml", "config.edit", func(m *model) tea.Cmd { return createConfig(m.o.CreateConfig) })
	}
	unbound("show the engine's log", "engine.log errors debug", "engine.log", func(m *model) tea.Cmd {
		cmd := m.setView(viewFiles)
		m.files.ShowEngineLog()
		return cmd
	})
	return choices
}

// configReady says that config.toml exists.
type configReady struct {
	path string
	err  error
}

func createConfig(create func() (string, error)) tea.Cmd {
	return func() tea.Msg {
		path, err := create()
		return configReady{path, err}
	}
}

// take opens config.toml in the user's editor.
func (msg configReady) take(m *model) tea.Cmd {
	if msg.err != nil {
		return m.notices.say(msg.err.Error(), true)
	}
	return m.visitSession(panes.EditorCommand(msg.path, 0, 0), filepath.Dir(msg.path), nil)
}

// processChoices are the sessions and processes, those that run first.
func (u *palette) processChoices(m *model) (choices []widget.Choice) {
	all := slices.Clone(m.news.Processes)
	slices.SortStableFunc(all, func(a, b api.Process) int { return paletteOrder(&a) - paletteOrder(&b) })
	for _, p := range all {
		sign, ink := widget.StateGlyph(&p, &m.theme.look)
		c := widget.Choice{Kind: "process", ID: p.ID, Sign: sign, SignInk: ink, Text: p.Name, Also: p.Command, Late: p.State.Ended(),
			Detail: widget.ClipLeft(widget.ShortPath(p.CWD, m.o.Home), 40)}
		if len(p.Argv) > 1 && p.Command != p.Name {
			c.Text += "  " + p.Command
		}
		if p.Kind == api.KindSession {
			c.Kind = "session"
			choices = append(choices, u.offer(c, func(m *model) tea.Cmd {
				return tea.Batch(m.setView(viewSessions), m.sessions.openSession(p.ID))
			}))
			continue
		}
		choices = append(choices, u.offer(c, func(m *model) tea.Cmd { return m.showProcess(p.ID) }))
	}
	return choices
}

// paletteOrder is the place of a process among others: sessions, then what
// runs, then what has ended.
func paletteOrder(p *api.Process) int {
	order := 0
	if p.Kind != api.KindSession {
		order = 1
	}
	if p.State.Ended() {
		order += 2
	}
	return order
}

// showProcess goes to a process in its view, and to its log.
func (m *model) showProcess(id string) tea.Cmd {
	cmd := m.setView(viewProcesses)
	return tea.Batch(cmd, m.processes.SelectLog(id))
}

// ask gets what the engine knows beside what runs: the newest commands and the
// bookmarks. What it cannot tell is not offered.
func (u *palette) ask(m *model, delay time.Duration) tea.Cmd {
	u.asked, u.stale = true, false
	data := m.news.Info.DataDir
	return m.call(func(ctx context.Context, e panes.Engine) tea.Msg {
		_ = sleep.For(ctx, delay)
		out, err := api.HistorySearch.Call(ctx, e, api.HistorySearchInput{Unique: true, Limit: paletteCommands})
		msg := paletteMsg{palette: u, commands: out.Rows, err: err}
		if data != "" {
			msg.bookmarks, _ = files.ReadBookmarks(ctx, e, filepath.Join(data, files.BookmarksFile))
		}
		return msg
	}, func(err error) tea.Msg { return paletteMsg{palette: u, err: err} })
}

// refresh has a palette offer what was run since it was opened.
func (u *palette) refresh(m *model) tea.Cmd {
	if u.asked {
		u.stale = true
		return nil
	}
	return u.ask(m, paletteDelay)
}

// take offers what has come while the palette is still open.
func (u *palette) take(m *model, msg paletteMsg) tea.Cmd {
	u.asked = false
	if m.dialog.open != overlay.Overlay(u) || msg.err != nil && u.known {
		return nil
	}
	u.told = msg
	u.offerRest(m)
	if u.known {
		u.List.Renew(u.all())
	} else {
		u.fill()
	}
	u.known = true
	if u.stale {
		return u.ask(m, paletteDelay)
	}
	return nil
}

// sameProcesses reports whether nothing has changed from a to b, which are never
// changed in place.
func sameProcesses(a, b []api.Process) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// noteProcesses offers the sessions and processes as they are now.
func (u *palette) noteProcesses(m *model) {
	u.does = u.does[:len(u.actions)]
	u.open = u.processChoices(m)
	u.offerRest(m)
	u.List.Renew(u.all())
}

// offerRest offers what the engine has told.
func (u *palette) offerRest(m *model) {
	u.does = u.does[:len(u.actions)+len(u.open)]
	u.folders, u.commands = nil, nil
	for _, path := range u.told.bookmarks {
		u.folders = append(u.folders, u.offer(widget.Choice{
			Kind: "folder", Sign: "/", SignInk: m.theme.look.Accent, Text: widget.ShortPath(path, m.o.Home), Detail: "bookmark",
		}, func(m *model) tea.Cmd {
			cmd := m.setView(viewFiles)
			m.files.GoFolder(path, "")
			return cmd
		}))
	}
	for _, row := range u.told.commands {
		u.commands = append(u.commands, u.offer(widget.Choice{
			Kind: "command", Sign: "$", SignInk: m.theme.look.Dim, Text: row.Command.Command,
			Detail: widget.ClipLeft(widget.ShortPath(row.CWD, m.o.Home), 40),
		}, func(m *model) tea.Cmd { return m.history.PutOnPrompt(row) }))
	}
}

// notePalette has an open palette offer what is new.
func (m *model) notePalette(before *panes.News) tea.Cmd {
	u, ok := m.dialog.open.(*palette)
	if !ok {
		return nil
	}
	if !sameProcesses(before.Processes, m.news.Processes) {
		u.noteProcesses(m)
	}
	if m.news.History == before.History && m.news.Snapshots == before.Snapshots {
		return nil
	}
	return u.refresh(m)
}

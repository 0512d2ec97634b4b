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
	"tandem/panes/kit/dialog"
	"tandem/panes/kit/list"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// A palette lists everything that can be done or opened here, filtered by the typed text.
type palette struct {
	dialog.Picker
	handlers []func(*model) tea.Cmd // by the number of a choice

	actions, open, folders, commands []list.Choice
	scopes                           []keymap.Scope // scopes active when the palette was opened
	recent                           []string       // previous choices, the latest first

	answer   paletteMsg // the engine's last answer
	answered bool       // answer is set
	asking   bool       // a request is running
	stale    bool       // the history changed since that request was sent
}

// paletteMsg is the engine's answer for a palette: commands and bookmarks.
type paletteMsg struct {
	palette   *palette
	commands  []api.HistoryRow
	bookmarks []string
	err       error
}

// paletteDelay is how long a palette collects new commands before it asks the engine
// again.
const paletteDelay = 100 * time.Millisecond

// maxPaletteCommands is the maximum number of commands listed, the newest first.
const maxPaletteCommands = 200

func (m *model) showPalette() tea.Cmd {
	u := &palette{scopes: m.input.activeScopes(), recent: m.o.Recent}
	u.Title, u.Verb = "Find anything", paletteVerb
	u.Pick = func(c list.Choice) tea.Cmd { return tea.Batch(u.saveRecent(m, c), u.handlers[c.Number](m)) }
	u.actions = u.actionChoices(m)
	u.open = u.processChoices(m)
	u.fillList()
	m.dialog.open = u
	return u.askEngine(m, 0)
}

// paletteVerb returns the hint for enter on a choice.
func paletteVerb(c list.Choice) string {
	switch c.Kind {
	case "action":
		return "do it"
	case "command":
		return "insert at the prompt"
	}
	return "go there"
}

// fillList lists the known choices in their order for an empty query.
func (u *palette) fillList() { u.List.Set(u.orderChoices()) }

// orderChoices returns all choices, the recent ones first. Only actions and processes can
// be recent: folders and commands arrive later and must not displace the first choice.
func (u *palette) orderChoices() []list.Choice {
	known := slices.Concat(u.actions, u.open)
	var first []list.Choice
	for _, name := range u.recent {
		if i := slices.IndexFunc(known, func(c list.Choice) bool { return choiceName(c) == name }); i >= 0 && len(first) < maxRecentShown {
			first = append(first, known[i])
			known = slices.Delete(known, i, i+1)
		}
	}
	return slices.Concat(first, known, u.folders, u.commands)
}

// Number of recent choices listed first, and number of them saved. More are saved because
// some are not available everywhere.
const (
	maxRecentShown = 5
	maxRecentKept  = 30
)

// choiceName returns the name under which a choice is saved as recent.
func choiceName(c list.Choice) string { return c.Kind + " " + c.ID }

// saveRecent makes a choice the most recent one, and saves the list.
func (u *palette) saveRecent(m *model, c list.Choice) tea.Cmd {
	if c.ID == "" {
		return nil
	}
	name := choiceName(c)
	others := slices.DeleteFunc(slices.Clone(m.o.Recent), func(other string) bool { return other == name })
	m.o.Recent = append([]string{name}, others[:min(len(others), maxRecentKept-1)]...)
	names, keep := m.o.Recent, m.o.KeepRecent
	if keep == nil {
		return nil
	}
	return func() tea.Msg {
		keep(names)
		return nil
	}
}

// addChoice numbers a choice and sets its handler.
func (u *palette) addChoice(c list.Choice, do func(*model) tea.Cmd) list.Choice {
	c.Number = len(u.handlers)
	u.handlers = append(u.handlers, do)
	return c
}

// actionChoices lists the actions of the scopes below the palette, then those available
// everywhere, then those without a label. Actions that only move the cursor are left out.
func (u *palette) actionChoices(m *model) (choices []list.Choice) {
	var later []list.Choice
	seen := map[keymap.Action]bool{keymap.Palette: true, keymap.TipsHide: !m.showsTips()}
	// Two actions may do the same here.
	said := map[string]bool{}
	scopes := slices.DeleteFunc(slices.Clone(u.scopes), func(s keymap.Scope) bool { return s == keymap.ScopeGlobal })
	scopes = append(scopes, keymap.ScopePrefix, keymap.ScopeGlobal)
	for _, section := range m.o.Bindings.Help(scopes...) {
		for _, row := range section.Rows {
			act := m.input.findAction(row.Action)
			if act == nil || seen[row.Action] || said[row.Help] || strings.HasPrefix(string(row.Action), "move.") {
				continue
			}
			seen[row.Action], said[row.Help] = true, true
			c := u.addChoice(list.Choice{
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
		choices = append(choices, u.addChoice(list.Choice{
			Kind: "action", Sign: m.theme.look.Glyphs.More, SignInk: m.theme.look.Accent, Text: text, Also: id, Words: words, ID: id,
		}, do))
	}
	if !seen[keymap.ProcessNew] {
		unbound("start a process", "new", string(keymap.ProcessNew), func(m *model) tea.Cmd { return m.form.showStart() })
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

// configReady reports that config.toml exists.
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

// applyTo opens config.toml in the user's editor.
func (msg configReady) applyTo(m *model) tea.Cmd {
	if msg.err != nil {
		return m.notices.showToast(msg.err.Error(), true)
	}
	return m.visitSession(panes.EditorCommand(msg.path, 0, 0), filepath.Dir(msg.path), nil)
}

// processChoices lists the sessions and processes, the running ones first.
func (u *palette) processChoices(m *model) (choices []list.Choice) {
	all := slices.Clone(m.news.Processes)
	slices.SortStableFunc(all, func(a, b api.Process) int { return paletteOrder(&a) - paletteOrder(&b) })
	for _, p := range all {
		sign, ink := states.StateGlyph(&p, &m.theme.look)
		c := list.Choice{Kind: "process", ID: p.ID, Sign: sign, SignInk: ink, Text: p.Name, Also: p.Command, Late: p.State.Ended(),
			Detail: text.ClipLeft(text.ShortPath(p.CWD, m.o.Home), 40)}
		if len(p.Argv) > 1 && p.Command != p.Name {
			c.Text += "  " + p.Command
		}
		if p.Kind == api.KindSession {
			c.Kind = "session"
			choices = append(choices, u.addChoice(c, func(m *model) tea.Cmd {
				return tea.Batch(m.setView(viewSessions), m.sessions.openSession(p.ID))
			}))
			continue
		}
		choices = append(choices, u.addChoice(c, func(m *model) tea.Cmd { return m.showProcess(p.ID) }))
	}
	return choices
}

// paletteOrder ranks a process: running sessions, running processes, then exited sessions
// and processes.
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

// showProcess shows a process and its log in the Processes view.
func (m *model) showProcess(id string) tea.Cmd {
	cmd := m.setView(viewProcesses)
	return tea.Batch(cmd, m.processes.SelectLog(id))
}

// askEngine fetches the newest commands and the bookmarks after a delay. An unreadable
// file of bookmarks is ignored.
func (u *palette) askEngine(m *model, delay time.Duration) tea.Cmd {
	u.asking, u.stale = true, false
	data := m.news.Info.DataDir
	return m.callEngine(func(ctx context.Context, e panes.Engine) tea.Msg {
		_ = sleep.For(ctx, delay)
		out, err := api.HistorySearch.Call(ctx, e, api.HistorySearchInput{Unique: true, Limit: maxPaletteCommands})
		msg := paletteMsg{palette: u, commands: out.Rows, err: err}
		if data != "" {
			msg.bookmarks, _ = files.ReadBookmarks(ctx, e, filepath.Join(data, files.BookmarksFile))
		}
		return msg
	}, func(err error) tea.Msg { return paletteMsg{palette: u, err: err} })
}

// refreshAnswer fetches the commands again after the history has changed.
func (u *palette) refreshAnswer(m *model) tea.Cmd {
	if u.asking {
		u.stale = true
		return nil
	}
	return u.askEngine(m, paletteDelay)
}

// applyAnswer lists the engine's answer, unless the palette is closed by now.
func (u *palette) applyAnswer(m *model, msg paletteMsg) tea.Cmd {
	u.asking = false
	if m.dialog.open != dialog.Overlay(u) || msg.err != nil && u.answered {
		return nil
	}
	u.answer = msg
	u.addAnswer(m)
	if u.answered {
		u.List.Renew(u.orderChoices())
	} else {
		u.fillList()
	}
	u.answered = true
	if u.stale {
		return u.askEngine(m, paletteDelay)
	}
	return nil
}

// sameProcesses reports whether a and b are the same snapshot. Snapshots are never
// modified in place, so comparing their first elements' addresses is enough.
func sameProcesses(a, b []api.Process) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// updateProcesses lists the current sessions and processes, keeping the selection.
func (u *palette) updateProcesses(m *model) {
	u.handlers = u.handlers[:len(u.actions)]
	u.open = u.processChoices(m)
	u.addAnswer(m)
	u.List.Renew(u.orderChoices())
}

// addAnswer adds the bookmarks and commands of the last answer.
func (u *palette) addAnswer(m *model) {
	u.handlers = u.handlers[:len(u.actions)+len(u.open)]
	u.folders, u.commands = nil, nil
	for _, path := range u.answer.bookmarks {
		u.folders = append(u.folders, u.addChoice(list.Choice{
			Kind: "folder", Sign: "/", SignInk: m.theme.look.Accent, Text: text.ShortPath(path, m.o.Home), Detail: "bookmark",
		}, func(m *model) tea.Cmd {
			cmd := m.setView(viewFiles)
			m.files.GoFolder(path, "")
			return cmd
		}))
	}
	for _, row := range u.answer.commands {
		u.commands = append(u.commands, u.addChoice(list.Choice{
			Kind: "command", Sign: "$", SignInk: m.theme.look.Dim, Text: row.Command.Command,
			Detail: text.ClipLeft(text.ShortPath(row.CWD, m.o.Home), 40),
		}, func(m *model) tea.Cmd { return m.history.InsertAtPrompt(row) }))
	}
}

// updatePalette updates an open palette after news of the engine.
func (m *model) updatePalette(before *panes.News) tea.Cmd {
	u, ok := m.dialog.open.(*palette)
	if !ok {
		return nil
	}
	if !sameProcesses(before.Processes, m.news.Processes) {
		u.updateProcesses(m)
	}
	if m.news.History == before.History && m.news.Snapshots == before.Snapshots {
		return nil
	}
	return u.refreshAnswer(m)
}

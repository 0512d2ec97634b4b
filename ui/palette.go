package ui

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/sleep"
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
	env      panes.Env
	o        *Options
	goTo     paletteTargets
	handlers []func() tea.Cmd // by the number of a choice

	actions, open, folders, commands []list.Choice
	scopes                           []keymap.Scope // scopes active when the palette was opened
	recent                           []string       // previous choices, the latest first

	answer   paletteAnswer // the engine's last one
	answered bool          // answer is set
	asking   bool          // a request is running
	stale    bool          // the history changed since that request was sent
}

// paletteTargets holds the functions that carry out a choice in the palette.
type paletteTargets struct {
	action    func(keymap.Action) func() tea.Cmd // nil if it does nothing here
	process   func(id string) tea.Cmd
	folder    func(path string) tea.Cmd
	engineLog func() tea.Cmd
	insert    func(api.HistoryRow) tea.Cmd
}

// A paletteAnswer holds what the engine returned for the palette: the newest commands and the
// bookmarks.
type paletteAnswer struct {
	commands  []api.HistoryRow
	bookmarks []string
}

// paletteDelay is how long a palette collects new commands before it asks the engine
// again.
const paletteDelay = 100 * time.Millisecond

// maxPaletteCommands is the maximum number of commands listed, the newest first.
const maxPaletteCommands = 200

func (m *model) showPalette() tea.Cmd {
	u := &palette{env: m.env, o: &m.o, scopes: m.keyboard.activeScopes(), recent: m.o.Recent}
	u.goTo = paletteTargets{action: m.keyboard.findAction, process: m.showProcess, folder: m.showFolder, engineLog: m.showEngineLog, insert: m.history.InsertAtPrompt}
	u.Title, u.Verb = "Find anything", paletteVerb
	u.Pick = func(c list.Choice) tea.Cmd { return tea.Batch(u.saveRecent(c), u.handlers[c.Number]()) }
	u.actions = u.actionChoices()
	u.open = u.processChoices()
	u.List.Set(u.orderChoices())
	m.dialog.Ask(u)
	return u.askEngine(0)
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
func (u *palette) saveRecent(c list.Choice) tea.Cmd {
	if c.ID == "" {
		return nil
	}
	name := choiceName(c)
	others := slices.DeleteFunc(slices.Clone(u.o.Recent), func(other string) bool { return other == name })
	u.o.Recent = append([]string{name}, others[:min(len(others), maxRecentKept-1)]...)
	names, keep := u.o.Recent, u.o.KeepRecent
	if keep == nil {
		return nil
	}
	return func() tea.Msg {
		keep(names)
		return nil
	}
}

// addChoice numbers a choice and sets its handler.
func (u *palette) addChoice(c list.Choice, do func() tea.Cmd) list.Choice {
	c.Number = len(u.handlers)
	u.handlers = append(u.handlers, do)
	return c
}

// actionChoices lists the actions of the scopes below the palette, then those available
// everywhere, then those without a label. Actions that only move the cursor are left out.
func (u *palette) actionChoices() (choices []list.Choice) {
	var later []list.Choice
	seen := map[keymap.Action]bool{keymap.Palette: true}
	// Two actions may do the same here.
	said := map[string]bool{}
	scopes := slices.DeleteFunc(slices.Clone(u.scopes), func(s keymap.Scope) bool { return s == keymap.ScopeGlobal })
	scopes = append(scopes, keymap.ScopePrefix, keymap.ScopeGlobal)
	more := list.Choice{Kind: "action"}
	for _, section := range u.o.Bindings.Help(scopes...) {
		for _, row := range section.Rows {
			act := u.goTo.action(row.Action)
			if act == nil || seen[row.Action] || said[row.Help] || strings.HasPrefix(string(row.Action), "move.") || row.Action == keymap.TabSelect(1) {
				continue
			}
			seen[row.Action], said[row.Help] = true, true
			c := more
			c.Text, c.Also, c.Words = row.Help, row.Label+" "+string(row.Action), row.Also
			c.Detail, c.IsKey, c.ID = row.Keys[0], true, string(row.Action)
			c = u.addChoice(c, act)
			if row.Label == "" {
				later = append(later, c)
				continue
			}
			choices = append(choices, c)
		}
	}
	choices = append(choices, later...)
	unbound := func(text, words, id string, do func() tea.Cmd) {
		c := more
		c.Text, c.Also, c.Words, c.ID = text, id, words, id
		choices = append(choices, u.addChoice(c, do))
	}
	if !seen[keymap.ProcessNew] {
		unbound("start a process", "new", string(keymap.ProcessNew), u.env.StartProcess)
	}
	if u.o.CreateConfig != nil {
		unbound("edit the configuration", "settings preferences options config.toml", "config.edit", u.editConfig)
	}
	unbound("show the engine's log", "engine.log errors debug", "engine.log", u.goTo.engineLog)
	return choices
}

// editConfig opens config.toml in the user's editor, after creating it if necessary.
func (u *palette) editConfig() tea.Cmd {
	path, err := u.o.CreateConfig()
	if err != nil {
		return u.env.Say(err.Error(), true)
	}
	return u.env.Visit("config", panes.EditorCommand(path, 0, 0), filepath.Dir(path), nil)
}

// processChoices lists the sessions and processes, the running ones first.
func (u *palette) processChoices() (choices []list.Choice) {
	all := slices.Clone(u.env.News().Processes)
	slices.SortStableFunc(all, func(a, b api.Process) int { return paletteOrder(&a) - paletteOrder(&b) })
	for _, p := range all {
		sign, ink := states.StateGlyph(&p, u.env.Look())
		c := list.Choice{Kind: "process", ID: p.ID, Sign: sign, SignInk: ink, Text: p.Name, Also: p.Command, Late: p.State.Ended(),
			Detail: text.ClipLeft(text.ShortPath(p.CWD, u.o.Home), 40)}
		if len(p.Argv) > 1 && p.Command != p.Name {
			c.Text += "  " + p.Command
		}
		if p.Kind == api.KindSession {
			c.Kind = "session"
			choices = append(choices, u.addChoice(c, func() tea.Cmd { return u.env.ShowSession(p.ID) }))
			continue
		}
		choices = append(choices, u.addChoice(c, func() tea.Cmd { return u.goTo.process(p.ID) }))
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

// askEngine fetches the newest commands and the bookmarks after a delay. An unreadable
// file of bookmarks is ignored.
func (u *palette) askEngine(delay time.Duration) tea.Cmd {
	u.asking, u.stale = true, false
	data := u.env.News().Info.DataDir
	return panes.Call(u.env.Context(), u.env, func(ctx context.Context, e panes.Engine) (answer paletteAnswer, err error) {
		_ = sleep.For(ctx, delay)
		out, err := api.HistorySearch.Call(ctx, e, api.HistorySearchInput{Unique: true, Limit: maxPaletteCommands})
		if data != "" {
			answer.bookmarks, _ = files.ReadBookmarks(ctx, e, filepath.Join(data, files.BookmarksFile))
		}
		answer.commands = out.Rows
		return answer, err
	}, u.applyAnswer)
}

// refreshAnswer fetches the commands again after the history has changed.
func (u *palette) refreshAnswer() tea.Cmd {
	if u.asking {
		u.stale = true
		return nil
	}
	return u.askEngine(paletteDelay)
}

// applyAnswer lists the engine's answer, unless the palette is closed by now. If the history cannot
// be searched, the commands known so far stay.
func (u *palette) applyAnswer(answer paletteAnswer, err error) (cmd tea.Cmd) {
	u.asking = false
	if !u.env.Shows(u) {
		return nil
	}
	if err != nil {
		answer.commands = u.answer.commands
		cmd = u.env.Say(panes.ErrorText(err), true)
	}
	u.answer = answer
	u.addAnswer()
	if u.answered {
		u.List.Renew(u.orderChoices())
	} else {
		u.List.Set(u.orderChoices())
	}
	u.answered = true
	if u.stale {
		cmd = tea.Batch(cmd, u.askEngine(paletteDelay))
	}
	return cmd
}

// sameProcesses reports whether a and b are the same snapshot. Snapshots are never
// modified in place, so comparing their first elements' addresses is enough.
func sameProcesses(a, b []api.Process) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// addAnswer appends the bookmarks and commands that the engine returned last to the choices.
func (u *palette) addAnswer() {
	u.handlers = u.handlers[:len(u.actions)+len(u.open)]
	u.folders, u.commands = nil, nil
	for _, path := range u.answer.bookmarks {
		u.folders = append(u.folders, u.addChoice(list.Choice{
			Kind: "folder", Sign: "/", SignInk: u.env.Look().Accent, Text: text.ShortPath(path, u.o.Home), Detail: "bookmark",
		}, func() tea.Cmd { return u.goTo.folder(path) }))
	}
	for _, row := range u.answer.commands {
		u.commands = append(u.commands, u.addChoice(list.Choice{
			Kind: "command", Sign: "$", SignInk: u.env.Look().Dim, Text: row.Command.Command,
			Detail: text.ClipLeft(text.ShortPath(row.CWD, u.o.Home), 40),
		}, func() tea.Cmd { return u.goTo.insert(row) }))
	}
}

// update applies news of the engine to the open palette, and keeps the selection.
func (u *palette) update(before, now *panes.News) tea.Cmd {
	if !sameProcesses(before.Processes, now.Processes) {
		u.handlers = u.handlers[:len(u.actions)]
		u.open = u.processChoices()
		u.addAnswer()
		u.List.Renew(u.orderChoices())
	}
	if now.History == before.History && now.Snapshots == before.Snapshots {
		return nil
	}
	return u.refreshAnswer()
}

package keymap

import (
	"slices"
	"strings"
)

// A Group is what belongs together of the keys that may follow the prefix.
type Group struct {
	Title string
	Rows  []GroupRow
}

// A GroupRow is a key, or a few that do the like, and what they do in a few words.
type GroupRow struct {
	Keys string // without the prefix
	Does string

	actions []Action
}

// Action is what the row does; ok is false for a row of several keys.
func (r GroupRow) Action() (a Action, ok bool) {
	if len(r.actions) != 1 {
		return "", false
	}
	return r.actions[0], true
}

// followers are the actions after the prefix in groups, what is used most first.
func followers() []Group {
	row := func(does string, actions ...Action) GroupRow { return GroupRow{Does: does, actions: actions} }
	return []Group{
		{"Sessions", []GroupRow{
			row("new", SessionNew), row("worktrees", SessionNewTree, SessionTree), row("next, previous", SessionNext, SessionPrevious), row("last used", SessionLast),
			row("waiting, inbox", SessionWaiting, Inbox), row("list", FocusList), row("kill", SessionEnd), row("rename, reset", SessionRename, TerminalReset),
			row("agents out, in", SessionKeyboard, SessionOpen),
		}},
		{"Text", []GroupRow{row("scroll, paste", ScrollMode, PasteBuffer), row("find a command", HistoryInsert)}},
		{"Panes", []GroupRow{
			row("split right", SplitBeside), row("split below", SplitBelow), row("zoom, float", PaneZoom, PaneFloat),
			row("focus", FocusLeft, FocusDown, FocusUp, FocusRight), row("next, previous", FocusNext, FocusPrevious),
			row("last used", FocusLast), row("by number", PaneNumbers), row("close", PaneClose),
			row("swap", PaneSwapNext, PaneSwapPrevious), row("to a new tab", PaneBreak), row("to another tab", PaneMove),
		}},
		{"Layout", []GroupRow{
			row("choose", LayoutShow), row("resize", ResizeLeft, ResizeDown, ResizeUp, ResizeRight),
			row("same size", LayoutEqual), row("save", LayoutSave),
		}},
		{"Tandem", []GroupRow{
			row("all keys", Help), row("detach", Detach), row("find anything", Palette),
			row("views", ViewSessions, ViewProcesses, ViewHistory, ViewFiles),
			row("machines, web", Machines, Browser), row("requests", Requests), row("theme, no tips", ThemePick, TipsHide),
		}},
	}
}

// Following are the keys that may follow the prefix, in groups: of each action the
// first. Actions of hidden are left out; those that no group names come last.
func (b Bindings) Following(hidden ...Action) []Group {
	all := followers()
	rest := Group{Title: "More"}
	for _, d := range b.definitions {
		named := slices.ContainsFunc(all, func(g Group) bool {
			return slices.ContainsFunc(g.Rows, func(r GroupRow) bool { return slices.Contains(r.actions, d.Action) })
		})
		if !named {
			does := d.Short
			if does == "" {
				does = d.Help
			}
			rest.Rows = append(rest.Rows, GroupRow{Does: does, actions: []Action{d.Action}})
		}
	}
	var groups []Group
	for _, g := range append(all, rest) {
		rows := g.Rows
		g.Rows = nil
		for _, r := range rows {
			if r.Keys = b.followingKeys(r.actions, hidden); r.Keys != "" {
				g.Rows = append(g.Rows, r)
			}
		}
		if len(g.Rows) > 0 {
			groups = append(groups, g)
		}
	}
	return groups
}

// followingKeys is the first key after the prefix of each action.
func (b Bindings) followingKeys(actions, hidden []Action) string {
	var names []string
	for _, a := range actions {
		i := slices.IndexFunc(b.keys[a], func(bound binding) bool { return bound.scope == ScopePrefix })
		if i >= 0 && !slices.Contains(hidden, a) {
			names = append(names, b.keys[a][i].key.Show())
		}
	}
	return strings.Join(names, " ")
}

// A part is a group of the keys of a scope.
type part struct {
	scope   Scope
	title   string
	actions []Action
}

// sortPart tells the rule of its keys too.
const sortPart = "Sort, by shift and a letter"

// parts are the groups of the scopes that have many keys, beside that which follows the prefix.
func parts() []part {
	return []part{
		{ScopeScroll, "Search", []Action{ScrollSearch, ScrollSearchBack, ScrollNext, ScrollPrevious}},
		{ScopeScroll, "Select and copy", []Action{ScrollSelect, ScrollSelectLine, ScrollSelectBlock, ScrollSelectOutput,
			ScrollSwap, ScrollCopy, ScrollOpen, ScrollCopyLine, ScrollSave}},
		{ScopeProcesses, sortPart, []Action{ProcessSort, ProcessReverse, ProcessSortState, ProcessSortName, ProcessSortPID, ProcessSortCPU,
			ProcessSortMemory, ProcessSortUp, ProcessSortRestarts}},
		{ScopeFiles, sortPart, []Action{FilesSort, FilesReverse, FilesSortName, FilesSortSize, FilesSortTime, FilesSortExtension}},
		{ScopeFiles, "Find and mark", []Action{FilesFind, FilesSearch, FilesHidden, FilesMarkAll, FilesReload, Mark}},
		{ScopeFiles, "Change", []Action{FilesNew, FilesEdit, FilesRename, FilesCopy, FilesMove, FilesDelete, FilesErase, FilesUndo, FilesRun}},
		{ScopeHistory, "Show only", []Action{HistoryHere, HistorySession, HistoryFailed, HistoryWho, HistoryToday, HistoryUnique}},
	}
}

// groupIn is the group of an action in a scope and its place among them. What is in
// none comes first; after the prefix it comes last.
func groupIn(scope Scope, a Action) (title string, place int) {
	if scope == ScopePrefix {
		for i, g := range followers() {
			if slices.ContainsFunc(g.Rows, func(r GroupRow) bool { return slices.Contains(r.actions, a) }) {
				return g.Title, i + 1
			}
		}
		return "", len(followers()) + 1
	}
	for i, p := range parts() {
		if p.scope == scope && slices.Contains(p.actions, a) {
			return p.title, i + 1
		}
	}
	return "", 0
}

package keymap

import (
	"slices"
	"strconv"
	"strings"
)

// A View is a view of the dashboard. What keys do in its list is in listViewKeys.
type View struct {
	Action Action // shows it
	Scope  Scope  // of its list
	Name   string
	Help   string // of Action
	Also   string // other words to search for
}

// Views lists the views in the order of their numbers. A view's number is its key in lists and,
// with alt, everywhere else.
func Views() []View {
	return []View{
		{Action: ViewSessions, Scope: ScopeSessions, Name: "Sessions", Help: "show the sessions", Also: "terminals windows tabs"},
		{Action: ViewProcesses, Scope: ScopeProcesses, Name: "Processes", Help: "show the processes", Also: "jobs services ps top htop monitor"},
		{Action: ViewHistory, Scope: ScopeHistory, Name: "History", Help: "show the command history", Also: "commands atuin"},
		{Action: ViewFiles, Scope: ScopeFiles, Name: "Files", Help: "show the files", Also: "file manager browser explorer folders directories ranger yazi"},
	}
}

// listViewActions returns the actions that show the views.
func listViewActions() (all []Definition) {
	for i, v := range Views() {
		n := strconv.Itoa(i + 1)
		all = append(all, Definition{
			Action: v.Action, Keys: keyList("alt+"+n, "global alt+"+n, "list "+n, "log "+n, "preview "+n),
			Label: strings.ToLower(v.Name), Help: v.Help, Row: "views", Also: v.Also,
		})
	}
	return all
}

// NumberedTabs is how many tabs have a key with their number.
const NumberedTabs = 9

// TabSelect returns the action that shows tab n, from 1 to NumberedTabs.
func TabSelect(n int) Action { return Action("tab." + strconv.Itoa(n)) }

// isTab reports whether the action shows a tab by its number. Help has one row for all of them.
func (d *Definition) isTab() bool {
	return strings.HasPrefix(string(d.Action), "tab.") && d.Action != TabRename
}

// tabActions returns the actions that show the tabs.
func tabActions() (all []Definition) {
	for i := 1; i <= NumberedTabs; i++ {
		n := strconv.Itoa(i)
		all = append(all, Definition{Action: TabSelect(i), Keys: keyList(n), Help: "go to the tab with this number", Row: "tab, name it", Also: "select-window"})
	}
	return all
}

const (
	ViewSessions  Action = "view.sessions"
	ViewProcesses Action = "view.processes"
	ViewHistory   Action = "view.history"
	ViewFiles     Action = "view.files"

	ScopeSessions  Scope = "sessions"  // the list of sessions
	ScopeProcesses Scope = "processes" // the table of processes
	ScopeHistory   Scope = "history"   // the list of commands
	ScopeFiles     Scope = "files"     // the list of files

	ProcessNew       Action = "process.new"
	ProcessStart     Action = "process.start"
	ProcessFold      Action = "process.fold"
	ProcessRestart   Action = "process.restart"
	ProcessStop      Action = "process.stop"
	ProcessKill      Action = "process.kill"
	ProcessSignal    Action = "process.signal"
	ProcessKeepAlive Action = "process.keepalive"
	ProcessSort      Action = "process.sort"
	ProcessReverse   Action = "process.reverse"
	ProcessDelete    Action = "process.delete"
	ProcessDeleteAll Action = "process.delete_all"
	ProcessCharts    Action = "process.charts"
	ProcessLogs      Action = "process.logs"
	ProcessSearch    Action = "process.search"

	ProcessSortState    Action = "process.sortstate"
	ProcessSortName     Action = "process.sortname"
	ProcessSortPID      Action = "process.sortpid"
	ProcessSortCPU      Action = "process.sortcpu"
	ProcessSortMemory   Action = "process.sortmemory"
	ProcessSortUp       Action = "process.sortup"
	ProcessSortRestarts Action = "process.sortrestarts"

	HistoryRun      Action = "history.run"
	HistoryCopy     Action = "history.copy"
	HistoryDelete   Action = "history.delete"
	HistoryStats    Action = "history.stats"
	HistoryNext     Action = "history.next"
	HistoryPrevious Action = "history.previous"
	HistorySave     Action = "history.save"
	HistoryLoad     Action = "history.load"
	HistoryHere     Action = "history.here"
	HistorySession  Action = "history.session"
	HistoryFailed   Action = "history.failed"
	HistoryWho      Action = "history.who"
	HistoryToday    Action = "history.today"
	HistoryUnique   Action = "history.unique"

	FilesUp       Action = "files.up"
	FilesInto     Action = "files.into"
	FilesEdit     Action = "files.edit"
	FilesTerminal Action = "files.terminal"
	FilesOpenWith Action = "files.openwith"
	FilesExtract  Action = "files.extract"
	FilesPack     Action = "files.pack"
	FilesTrash    Action = "files.trash"
	FilesTab      Action = "files.tab"
	FilesTabClose Action = "files.tabclose"
	FilesTabNext  Action = "files.tabnext"
	FilesTabBack  Action = "files.tabprevious"
	FilesRename   Action = "files.rename"
	FilesCopy     Action = "files.copy"
	FilesMove     Action = "files.move"
	FilesDelete   Action = "files.delete"
	FilesHidden   Action = "files.hidden"
	FilesSearch   Action = "files.search"
	FilesFind     Action = "files.find"
	FilesSort     Action = "files.sort"
	FilesReverse  Action = "files.reverse"
	FilesUndo     Action = "files.undo"
	FilesNew      Action = "files.new"
	FilesGoTo     Action = "files.goto"
	FilesHome     Action = "files.home"
	FilesBack     Action = "files.back"
	FilesMarks    Action = "files.bookmarks"
	FilesKeep     Action = "files.bookmark"
	FilesRun      Action = "files.run"
	FilesPath     Action = "files.path"
	FilesMarkAll  Action = "files.markall"
	FilesErase    Action = "files.erase"
	FilesReload   Action = "files.reload"

	FilesSortName      Action = "files.sortname"
	FilesSortSize      Action = "files.sortsize"
	FilesSortTime      Action = "files.sorttime"
	FilesSortExtension Action = "files.sortextension"
)

// sortGroup also explains how the keys are chosen.
const sortGroup = "Sort, by shift and a letter"

// listViewKeys lists the actions in the lists of the views.
func listViewKeys() []Definition {
	return slices.Concat(
		define(ScopeSessions, "", []Definition{
			{Action: SessionDelete, Keys: keyList("D"), Label: "delete", Help: "delete an exited session and its log", Also: "remove clean"},
		}),
		define(ScopeProcesses, "", []Definition{
			{Action: ProcessNew, Keys: keyList("n"), Label: "new", Rank: 2, Help: "start a process", Also: "run launch service job"},
			{Action: ProcessStart, Keys: keyList("u"), Label: "start", Help: "start exited processes; asks if there are several"},
			{Action: ProcessRestart, Keys: keyList("r"), Label: "restart", Rank: 3, Help: "restart the process; asks if it is running", Also: "reload respawn respawn-pane"},
			{Action: ProcessStop, Keys: keyList("x"), Label: "stop", Rank: 3, Help: "stop the process; asks first", Also: "terminate end sigterm down"},
			{Action: ProcessKill, Keys: keyList("X"), Label: "kill", Help: "kill the process at once; asks first", Also: "sigkill force terminate"},
			{Action: ProcessSignal, Keys: keyList("s"), Label: "signal", Help: "send the process a signal", Also: "sighup sigint sigusr1"},
			{Action: ProcessKeepAlive, Keys: keyList("a"), Label: "keep alive", Help: "toggle keep-alive: restart the process whenever it exits", Also: "autorestart always supervise"},
			{Action: Mark, Keys: keyList("space", "history space", "files space", "lines space"), Label: "mark", Rank: 6, Help: "mark the row; actions apply to all marked rows"},
			{Action: ProcessFold, Keys: keyList("f"), Label: "fold", Help: "fold or unfold the project"},
			{Action: ProcessCharts, Keys: keyList("i"), Label: "charts", Help: "show or hide charts of CPU and memory", Also: "graphs monitor usage"},
			{Action: ProcessSearch, Keys: keyList("ctrl+f"), Help: "search the log of the process"},
			{Action: ProcessLogs, Keys: keyList("m", "log m"), Label: "merge logs", Rank: 5, Help: "merge the logs of the marked rows, or of the project"},
			{Action: ProcessDelete, Keys: keyList("D"), Label: "delete", Help: "delete an exited process and its log; asks first", Also: "remove clean clear"},
			{Action: ProcessDeleteAll, Keys: keyList("ctrl+d"), Label: "delete all", Help: "delete all exited processes and their logs; asks first"},
		}),
		define(ScopeProcesses, sortGroup, []Definition{
			{Action: ProcessSort, Keys: keyList("o"), Label: "sort", Rank: 6, Help: "sort by the next column", Also: "order"},
			{Action: ProcessReverse, Keys: keyList("O"), Help: "reverse the order"},
			{Action: ProcessSortState, Keys: keyList("S"), Help: "sort by state; again reverses it"},
			{Action: ProcessSortName, Keys: keyList("N"), Help: "sort by name; again reverses it"},
			{Action: ProcessSortPID, Keys: keyList("P"), Help: "sort by pid; again reverses it"},
			{Action: ProcessSortCPU, Keys: keyList("C"), Help: "sort by CPU; again reverses it"},
			{Action: ProcessSortMemory, Keys: keyList("M"), Help: "sort by memory; again reverses it"},
			{Action: ProcessSortUp, Keys: keyList("U"), Help: "sort by uptime; again reverses it"},
			{Action: ProcessSortRestarts, Keys: keyList("R"), Help: "sort by restarts; again reverses it"},
		}),
		define(ScopeHistory, "", []Definition{
			{Action: HistoryRun, Keys: keyList("r", "recall alt+r"), Label: "run", Rank: 2, Help: "run the command again in the background"},
			{Action: HistoryCopy, Keys: keyList("y", "recall alt+y"), Label: "copy", Rank: 3, Help: "copy the command"},
			{Action: HistoryDelete, Keys: keyList("D"), Label: "delete", Help: "delete the command from the history; asks first"},
			{Action: HistoryStats, Keys: keyList("i"), Label: "stats", Help: "show what is run most, what fails, and when"},
			{Action: HistoryNext, Keys: keyList("n"), Help: "next match in the output"},
			{Action: HistoryPrevious, Keys: keyList("N"), Help: "previous match in the output"},
			{Action: HistorySave, Keys: keyList("S"), Label: "save", Help: "save the commands to a text file"},
			{Action: HistoryLoad, Keys: keyList("L"), Label: "load", Help: "load commands from a file or a shell's history"},
		}),
		define(ScopeHistory, "Show only", []Definition{
			{Action: HistoryHere, Keys: keyList("d", "recall alt+h"), Label: "here", Help: "only commands run in the last session's folder"},
			{Action: HistorySession, Keys: keyList("s", "recall alt+s"), Label: "session", Help: "only commands of the last session, or of all"},
			{Action: HistoryFailed, Keys: keyList("f", "recall alt+e"), Label: "failed", Help: "only failures, or all"},
			{Action: HistoryWho, Keys: keyList("w", "recall alt+w"), Label: "who", Help: "everyone's commands, only yours, only the agents'"},
			{Action: HistoryToday, Keys: keyList("t", "recall alt+t"), Label: "today", Help: "only today, or any time"},
			{Action: HistoryUnique, Keys: keyList("u", "recall alt+u"), Label: "unique", Help: "group repeated commands, or show every run"},
		}),
		define(ScopeFiles, "", []Definition{
			{Action: FilesUp, Keys: keyList("h", "left"), Label: "up", Rank: 2, Help: "parent folder"},
			{Action: FilesInto, Keys: keyList("l", "right"), Help: "open the folder, or the full preview"},
			{Action: FilesOpenWith, Keys: keyList("E"), Help: "choose a program to open the files with"},
			{Action: FilesTab, Keys: keyList("T"), Help: "open this folder in a new tab"},
			{Action: FilesTabClose, Keys: keyList("W"), Help: "close the tab"},
			{Action: FilesTabNext, Keys: keyList("]"), Help: "next tab"},
			{Action: FilesTabBack, Keys: keyList("["), Help: "previous tab"},
			{Action: FilesTerminal, Keys: keyList("t", "preview t"), Label: "terminal", Rank: 6, Help: "open a session here", Also: "shell"},
			{Action: FilesTrash, Keys: keyList("ctrl+t"), Help: "list the trash: restore, delete permanently, empty"},
			{Action: FilesExtract, Keys: keyList("U"), Help: "unpack the archive"},
			{Action: FilesPack, Keys: keyList("Z"), Help: "pack the marked files, or this one, into an archive"},
			{Action: FilesGoTo, Keys: keyList("c"), Label: "go to", Rank: 6, Help: "go to a folder; tab completes", Also: "cd jump zoxide directory"},
			{Action: FilesHome, Keys: keyList("~"), Help: "home folder"},
			{Action: FilesBack, Keys: keyList("-"), Help: "previous folder"},
			{Action: FilesMarks, Keys: keyList("b"), Label: "bookmarks", Rank: 6, Help: "go to a bookmark"},
			{Action: FilesKeep, Keys: keyList("B"), Help: "bookmark the folder, or remove the bookmark"},
			{Action: FilesPath, Keys: keyList("y"), Help: "copy the path"},
		}),
		define(ScopeFiles, "Change", []Definition{
			{Action: FilesEdit, Keys: keyList("e", "preview e"), Label: "edit", Rank: 3, Help: "edit the file in a new session", Also: "open vim editor"},
			{Action: FilesNew, Keys: keyList("n"), Label: "new", Rank: 5, Help: "create a file, or a folder if the name ends in /", Also: "touch mkdir directory"},
			{Action: FilesRename, Keys: keyList("R"), Label: "rename", Rank: 4, Help: "rename; marked files in your editor", Also: "mv name"},
			{Action: FilesCopy, Keys: keyList("C"), Label: "copy", Rank: 4, Help: "copy the marked files, or this one", Also: "cp duplicate"},
			{Action: FilesMove, Keys: keyList("M"), Label: "move", Rank: 4, Help: "move the marked files, or this one", Also: "mv"},
			{Action: FilesDelete, Keys: keyList("D"), Label: "trash", Rank: 4, Help: "move to the trash", Also: "remove rm delete"},
			{Action: FilesErase, Keys: keyList("X"), Help: "delete permanently; asks first", Also: "remove rm shred"},
			{Action: FilesUndo, Keys: keyList("u"), Help: "undo the last copy, move, rename or delete"},
			{Action: FilesRun, Keys: keyList("x"), Help: "run the file in a session"},
		}),
		define(ScopeFiles, "Find and mark", []Definition{
			{Action: FilesMarkAll, Keys: keyList("v"), Help: "invert the marks"},
			{Action: FilesFind, Keys: keyList("f"), Label: "find", Rank: 5, Help: "find files below this folder by name", Also: "fd locate fzf"},
			{Action: FilesSearch, Keys: keyList("ctrl+f"), Label: "search", Rank: 5, Help: "search in the files below this folder", Also: "grep ripgrep rg contents"},
			{Action: FilesHidden, Keys: keyList("."), Label: "hidden", Rank: 6, Help: "show or hide hidden files", Also: "dotfiles"},
			{Action: FilesReload, Keys: keyList("ctrl+r"), Help: "reload the folder"},
		}),
		define(ScopeFiles, sortGroup, []Definition{
			{Action: FilesSort, Keys: keyList("o"), Label: "sort", Rank: 6, Help: "sort by name, size, time or extension", Also: "order"},
			{Action: FilesReverse, Keys: keyList("O"), Help: "reverse the order"},
			{Action: FilesSortName, Keys: keyList("N"), Help: "sort by name; again reverses it"},
			{Action: FilesSortSize, Keys: keyList("S"), Help: "sort by size; again reverses it"},
			{Action: FilesSortTime, Keys: keyList("L"), Help: "sort by time of change; again reverses it"},
			{Action: FilesSortExtension, Keys: keyList("K"), Help: "sort by kind (extension); again reverses it"},
		}),
	)
}

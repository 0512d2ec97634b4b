package keymap

// A Definition is an action as the catalogue has it.
type Definition struct {
	Action Action
	Scope  Scope    // of keys that name no scope
	Keys   []string // default keys, each "key" or "scope key": "alt+1", "prefix c", "list q"
	Short  string   // for the status bar: one or two words
	Help   string   // one line
	Rank   int      // place in the status bar, from 1; 0 keeps it out
}

// Catalogue lists every action with its default keys, in the order of help.
func Catalogue() []Definition {
	all := [][]Definition{
		everywhere(), layout(), sessions(), lists(), processes(), logs(),
		scrolling(), history(), files(), overlays(),
	}
	var catalogue []Definition
	for _, part := range all {
		catalogue = append(catalogue, part...)
	}
	return catalogue
}

func everywhere() []Definition {
	return []Definition{
		{Prefix, ScopeGlobal, k("ctrl+b"), "commands", "start a command; press twice to send the key to the program", 1},
		{ViewSessions, ScopePrefix, k("1", "global alt+1", "list 1", "log 1", "preview 1"), "sessions", "show the sessions", 0},
		{ViewProcesses, ScopePrefix, k("2", "global alt+2", "list 2", "log 2", "preview 2"), "processes", "show the processes", 0},
		{ViewHistory, ScopePrefix, k("3", "global alt+3", "list 3", "log 3", "preview 3"), "history", "show the command history", 0},
		{ViewFiles, ScopePrefix, k("4", "global alt+4", "list 4", "log 4", "preview 4"), "files", "show the files", 0},
		{Requests, ScopePrefix, k("a", "list A", "log A", "preview A"), "requests", "review agents' requests", 0},
		{Inbox, ScopePrefix, k("u"), "inbox", "show what needs you, and answer it", 0},
		{Machines, ScopePrefix, k("M"), "machines", "other machines: connect, add, upgrade, remove", 0},
		{Browser, ScopePrefix, k("B"), "browser", "open in browser: the link, and its QR code for a phone", 0},
		{Detach, ScopePrefix, k("d"), "detach", "detach; everything keeps running", 7},
		{Help, ScopePrefix, k("?", "list ?", "log ?", "preview ?", "inbox ?"), "keys", "show the keys", 8},
		{Palette, ScopePrefix, k(":", "list :", "list ctrl+p", "log :", "log ctrl+p", "preview :"), "palette", "find an action, session, process or command", 0},
		{ThemePick, ScopePrefix, k("T"), "theme", "choose a theme, with a live preview", 0},
		{TipsHide, ScopePrefix, k("esc"), "", "hide the tips", 0},
	}
}

func layout() []Definition {
	return []Definition{
		{FocusLeft, ScopePrefix, k("left", "h", "global alt+left"), "", "focus the pane to the left", 0},
		{FocusDown, ScopePrefix, k("down", "j", "global alt+down"), "", "focus the pane below", 0},
		{FocusUp, ScopePrefix, k("up", "k", "global alt+up"), "", "focus the pane above", 0},
		{FocusRight, ScopePrefix, k("right", "l", "global alt+right"), "", "focus the pane to the right", 0},
		{FocusNext, ScopePrefix, k("o", "list tab", "log tab", "preview tab"), "next pane", "focus the next pane", 6},
		{FocusPrevious, ScopePrefix, k("O", "list shift+tab", "log shift+tab", "preview shift+tab"), "", "focus the previous pane", 0},
		{FocusLast, ScopePrefix, k(";"), "", "go back to the pane focused before", 0},
		{PaneNumbers, ScopePrefix, k("q"), "", "number the panes; a digit goes to one", 0},
		{FocusList, ScopePrefix, k("s"), "list", "focus the list, or go back to the terminal", 6},
		{SplitBeside, ScopePrefix, k("%", "|"), "split", "split: open a new session beside this one", 2},
		{SplitBelow, ScopePrefix, k("\"", "-"), "split below", "split: open a new session below this one", 3},
		{PaneZoom, ScopePrefix, k("z", "processes z", "log z", "files z", "preview z"), "zoom", "zoom the pane", 4},
		{PaneFloat, ScopePrefix, k("f"), "", "show the floating pane, or put it away", 0},
		{PaneClose, ScopePrefix, k("w"), "close pane", "close the pane; its session keeps running", 0},
		{ResizeLeft, ScopePrefix, k("H", "ctrl+left"), "", "move the pane's border to the left", 0},
		{ResizeDown, ScopePrefix, k("J", "ctrl+down"), "", "move the pane's border down", 0},
		{ResizeUp, ScopePrefix, k("K", "ctrl+up"), "", "move the pane's border up", 0},
		{ResizeRight, ScopePrefix, k("L", "ctrl+right"), "", "move the pane's border to the right", 0},
		{LayoutEqual, ScopePrefix, k("="), "", "make all panes the same size", 0},
		{PaneSwapNext, ScopePrefix, k("}"), "", "swap the pane with the next one", 0},
		{PaneSwapPrevious, ScopePrefix, k("{"), "", "swap the pane with the previous one", 0},
		{PaneBreak, ScopePrefix, k("!"), "", "move the pane to a tab of its own", 0},
		{PaneMove, ScopePrefix, k("m"), "", "move the pane to another tab", 0},
		{LayoutSave, ScopePrefix, k("S"), "", "save the layout under a name", 0},
		{LayoutShow, ScopePrefix, k("space"), "layouts", "choose a layout: a saved one, columns, rows, tiles", 0},
	}
}

func sessions() []Definition {
	return []Definition{
		{SessionNew, ScopePrefix, k("c", "sessions n"), "new", "start a session", 1},
		{SessionNewTree, ScopePrefix, k("G", "sessions W"), "new worktree", "start a session in a new git worktree and branch", 0},
		{SessionTree, ScopePrefix, k("g", "sessions w"), "worktree", "merge, remove or keep the session's worktree", 0},
		{SessionNext, ScopePrefix, k("n"), "next", "go to the next session", 5},
		{SessionPrevious, ScopePrefix, k("p"), "", "go to the previous session", 0},
		{SessionLast, ScopePrefix, k("b"), "", "go back to the session shown before", 0},
		{SessionWaiting, ScopePrefix, k("tab"), "needs you", "go to the next session whose agent needs you", 0},
		{SessionRename, ScopePrefix, k(",", "sessions r"), "rename", "rename the session", 0},
		{SessionEnd, ScopePrefix, k("x", "sessions x"), "kill", "kill the session; asks first", 4},
		{SessionKeyboard, ScopePrefix, k("i", "sessions i"), "keyboard", "keep agents from typing into the session, or allow it again", 0},
		{SessionOpen, ScopePrefix, k("I", "sessions I"), "", "let sandboxed agents type into the session, or stop", 0},
		{SessionForget, ScopeSessions, k("D"), "delete", "delete an exited session and its log", 0},
		{SessionFleet, ScopeSessions, k("F"), "", "show the sessions of the fleet, among its processes", 0},
		{ScrollMode, ScopePrefix, k("["), "scroll", "scrollback: scroll, search, select, copy", 6},
		{PasteBuffer, ScopePrefix, k("]"), "paste", "paste the last copy", 0},
		{TerminalReset, ScopePrefix, k("R"), "reset", "reset mouse, keys and screen after a killed program", 0},
		{HistoryInsert, ScopePrefix, k("r"), "history", "find a command and insert it at the prompt", 0},
	}
}

func lists() []Definition {
	return []Definition{
		{Open, ScopeList, k("enter"), "open", "open the selected row", 1},
		{MoveDown, ScopeList, k("j", "down"), "", "next row", 0},
		{MoveUp, ScopeList, k("k", "up"), "", "previous row", 0},
		{MovePageDown, ScopeList, k("pgdown"), "", "one page down", 0},
		{MovePageUp, ScopeList, k("pgup"), "", "one page up", 0},
		{MoveFirst, ScopeList, k("g", "home"), "", "first row", 0},
		{MoveLast, ScopeList, k("G", "end"), "", "last row", 0},
		{Filter, ScopeList, k("/"), "filter", "show only rows that match", 5},
		{Clear, ScopeList, k("esc"), "", "clear the filter", 0},
		{Quit, ScopeList, k("q", "log q", "preview q"), "detach", "detach; everything keeps running", 7},
	}
}

func scrolling() []Definition {
	return []Definition{
		{ScrollDown, ScopeScroll, k("j", "down", "ctrl+n", "log j", "log down"), "", "one line down; 10j moves ten", 0},
		{ScrollUp, ScopeScroll, k("k", "up", "ctrl+p", "log k", "log up"), "", "one line up", 0},
		{ScrollLeft, ScopeScroll, k("h", "left"), "", "one character to the left", 0},
		{ScrollRight, ScopeScroll, k("l", "right"), "", "one character to the right", 0},
		{ScrollWord, ScopeScroll, k("w"), "", "next word", 0},
		{ScrollWordBack, ScopeScroll, k("b"), "", "start of the word, or the previous word", 0},
		{ScrollWordEnd, ScopeScroll, k("e"), "", "end of the word, or of the next", 0},
		{ScrollLineStart, ScopeScroll, k("0"), "", "start of the line", 0},
		{ScrollLineText, ScopeScroll, k("^"), "", "first non-blank character of the line", 0},
		{ScrollLineEnd, ScopeScroll, k("$"), "", "end of the line", 0},
		{ScrollTop, ScopeScroll, k("H"), "", "top of the screen", 0},
		{ScrollMiddle, ScopeScroll, k("M"), "", "middle of the screen", 0},
		{ScrollBottom, ScopeScroll, k("L"), "", "bottom of the screen", 0},
		{ScrollParagraph, ScopeScroll, k("}"), "", "next blank line", 0},
		{ScrollParagraphBack, ScopeScroll, k("{"), "", "previous blank line", 0},
		{ScrollPageDown, ScopeScroll, k("pgdown", "ctrl+f", "log pgdown", "log ctrl+f", "log space"), "", "one page down", 0},
		{ScrollPageUp, ScopeScroll, k("pgup", "log pgup"), "page up", "one page up; so does the prefix pressed twice", 5},
		{ScrollHalfDown, ScopeScroll, k("ctrl+d", "log ctrl+d"), "", "half a page down", 0},
		{ScrollHalfUp, ScopeScroll, k("ctrl+u", "log ctrl+u"), "", "half a page up", 0},
		{ScrollFirst, ScopeScroll, k("g", "home", "log g", "log home"), "", "the oldest line", 0},
		{ScrollLast, ScopeScroll, k("G", "end", "log G", "log end"), "", "the newest line, or the line with the number typed before", 0},
		{ScrollCommandBack, ScopeScroll, k("["), "previous command", "prompt of the previous command, if the shell marks them", 4},
		{ScrollCommand, ScopeScroll, k("]"), "", "prompt of the next command", 0},
		{ScrollSearch, ScopeScroll, k("/"), "search", "search down", 1},
		{ScrollSearchBack, ScopeScroll, k("?"), "", "search up", 0},
		{ScrollNext, ScopeScroll, k("n"), "", "next match", 0},
		{ScrollPrevious, ScopeScroll, k("N"), "", "previous match", 0},
		{ScrollSelect, ScopeScroll, k("v", "space"), "select", "start or clear a selection", 2},
		{ScrollSelectLine, ScopeScroll, k("V"), "", "select lines", 0},
		{ScrollSelectBlock, ScopeScroll, k("ctrl+v"), "", "select a block", 0},
		{ScrollSelectOutput, ScopeScroll, k("s"), "", "select the output of this command", 0},
		{ScrollSwap, ScopeScroll, k("o"), "", "other end of the selection, or open the path here", 0},
		{ScrollCopy, ScopeScroll, k("y"), "copy", "copy the selection, also to the clipboard", 3},
		{ScrollOpen, ScopeScroll, k("enter"), "", "copy the selection, or open the path or URL here", 0},
		{ScrollCopyLine, ScopeScroll, k("Y"), "", "copy the line", 0},
		{ScrollSave, ScopeScroll, k("S"), "", "save the whole scrollback to a file", 0},
		{ScrollCancel, ScopeScroll, k("esc"), "", "leave the selection, then the search, then scrollback", 0},
		{ScrollLeave, ScopeScroll, k("q", "ctrl+c"), "back", "back to the live screen", 6},
	}
}

func processes() []Definition {
	return []Definition{
		{ProcessNew, ScopeProcesses, k("n"), "new", "start a process", 2},
		{ProcessStart, ScopeProcesses, k("u"), "start", "start what has ended; asks before it starts several", 0},
		{ProcessRestart, ScopeProcesses, k("r"), "restart", "restart the process; asks if it is running", 3},
		{ProcessStop, ScopeProcesses, k("x"), "stop", "stop the process; asks first", 3},
		{ProcessKill, ScopeProcesses, k("X"), "kill", "kill the process at once; asks first", 0},
		{ProcessSignal, ScopeProcesses, k("s"), "signal", "send the process a signal", 0},
		{ProcessKeepAlive, ScopeProcesses, k("a"), "keep alive", "toggle keep-alive: restart the process whenever it exits", 0},
		{Mark, ScopeProcesses, k("space", "history space", "files space"), "mark", "mark the row; actions apply to all marked rows", 6},
		{ProcessFold, ScopeProcesses, k("f"), "fold", "fold or unfold the project", 0},
		{ProcessFleet, ScopeProcesses, k("F"), "fleet", "show the processes of the fleet, or those here again", 0},
		{ProcessGroup, ScopeProcesses, k("b"), "", "group the processes of the fleet by host or a label", 0},
		{ProcessSort, ScopeProcesses, k("o"), "sort", "sort by the next column", 6},
		{ProcessReverse, ScopeProcesses, k("O"), "", "reverse the order", 0},
		{ProcessSortState, ScopeProcesses, k("S"), "", "sort by state; again reverses it", 0},
		{ProcessSortName, ScopeProcesses, k("N"), "", "sort by name; again reverses it", 0},
		{ProcessSortPID, ScopeProcesses, k("P"), "", "sort by pid; again reverses it", 0},
		{ProcessSortCPU, ScopeProcesses, k("C"), "", "sort by CPU; again reverses it", 0},
		{ProcessSortMemory, ScopeProcesses, k("M"), "", "sort by memory; again reverses it", 0},
		{ProcessSortUp, ScopeProcesses, k("U"), "", "sort by the time since the start; again reverses it", 0},
		{ProcessSortRestarts, ScopeProcesses, k("R"), "", "sort by restarts; again reverses it", 0},
		{ProcessCharts, ScopeProcesses, k("i"), "charts", "show or hide charts of CPU and memory", 0},
		{ProcessSearch, ScopeProcesses, k("ctrl+f"), "", "search the log of the process", 0},
		{ProcessLogs, ScopeProcesses, k("m", "log m"), "merge logs", "merge the logs of the marked rows, or of the project", 5},
		{ProcessForget, ScopeProcesses, k("D"), "delete", "delete an exited process and its log; asks first", 0},
		{ProcessForgetAll, ScopeProcesses, k("ctrl+d"), "delete all", "delete all exited processes and their logs; asks first", 0},
	}
}

func logs() []Definition {
	return []Definition{
		{LogFollow, ScopeLog, k("f"), "follow", "follow the output, or pause", 1},
		{LogSearch, ScopeLog, k("/"), "search", "search the whole log", 1},
		{LogNext, ScopeLog, k("n"), "next", "next match below", 1},
		{LogPrevious, ScopeLog, k("N"), "previous", "next match above", 1},
		{LogWrap, ScopeLog, k("w"), "wrap", "wrap long lines, or scroll sideways", 1},
		{LogTimes, ScopeLog, k("t"), "times", "show or hide timestamps", 0},
		{LogPretty, ScopeLog, k("p"), "JSON", "show lines of JSON in columns, or as they are", 0},
		{LogLeft, ScopeLog, k("left", "h"), "", "scroll to the left", 0},
		{LogRight, ScopeLog, k("right", "l"), "", "scroll to the right", 0},
		{LogStream, ScopeLog, k("e"), "", "switch between stdout and stderr, if they are kept apart", 0},
		{LogSave, ScopeLog, k("S"), "save", "save the log to a file", 1},
		{LogLeave, ScopeLog, k("esc"), "table", "clear the search, or go back to the table", 1},
	}
}

func history() []Definition {
	return []Definition{
		{HistoryRun, ScopeHistory, k("r", "recall alt+r"), "run", "run the command again in the background", 2},
		{HistoryCopy, ScopeHistory, k("y", "recall alt+y"), "copy", "copy the command", 3},
		{HistoryForget, ScopeHistory, k("D"), "delete", "delete the command from the history; asks first", 0},
		{HistoryHere, ScopeHistory, k("d", "recall alt+h"), "here", "only commands run in the last session's folder", 0},
		{HistorySession, ScopeHistory, k("s", "recall alt+s"), "session", "only commands of the last session, or of all", 0},
		{HistoryFailed, ScopeHistory, k("f", "recall alt+e"), "failed", "only failures, or all", 0},
		{HistoryWho, ScopeHistory, k("w", "recall alt+w"), "who", "everyone's commands, only yours, only the agents'", 0},
		{HistoryToday, ScopeHistory, k("t", "recall alt+t"), "today", "only today, or ever", 0},
		{HistoryUnique, ScopeHistory, k("u", "recall alt+u"), "unique", "group repeated commands, or show every run", 0},
		{HistoryFleet, ScopeHistory, k("F"), "fleet", "search the history of the fleet, or that of here again", 0},
		{HistoryStats, ScopeHistory, k("i"), "stats", "count what is run often, what fails, and when", 0},
		{HistoryNext, ScopeHistory, k("n"), "", "next match in the output", 0},
		{HistoryPrevious, ScopeHistory, k("N"), "", "previous match in the output", 0},
		{HistorySave, ScopeHistory, k("S"), "save", "save the commands to a text file", 0},
		{HistoryLoad, ScopeHistory, k("L"), "load", "load commands from a file or a shell's history", 0},
		{HistoryPick, ScopeRecall, k("enter", "tab"), "insert at the prompt", "insert the command at the prompt, or go to the list", 1},
		{HistoryOlder, ScopeRecall, k("down", "ctrl+r", "ctrl+n"), "", "older command", 0},
		{HistoryNewer, ScopeRecall, k("up", "ctrl+s", "ctrl+p"), "", "newer command", 0},
		{HistoryLeave, ScopeRecall, k("esc", "ctrl+c", "ctrl+g"), "close", "clear the search, or close", 6},
	}
}

func files() []Definition {
	return []Definition{
		{FilesUp, ScopeFiles, k("h", "left"), "up", "parent folder", 2},
		{FilesInto, ScopeFiles, k("l", "right"), "", "open the folder, or the full preview", 0},
		{FilesEdit, ScopeFiles, k("e", "preview e"), "edit", "edit the file in a new session", 3},
		{FilesOpenWith, ScopeFiles, k("E"), "", "choose a program to open the files with", 0},
		{FilesTab, ScopeFiles, k("T"), "", "open this folder in a new tab", 0},
		{FilesTabClose, ScopeFiles, k("W"), "", "close the tab", 0},
		{FilesTabNext, ScopeFiles, k("]"), "", "next tab", 0},
		{FilesTabBack, ScopeFiles, k("["), "", "previous tab", 0},
		{FilesTerminal, ScopeFiles, k("t", "preview t"), "terminal", "open a session here", 6},
		{FilesNew, ScopeFiles, k("n"), "new", "create a file, or a folder if the name ends in /", 5},
		{FilesRename, ScopeFiles, k("R"), "rename", "rename; marked files in your editor", 4},
		{FilesCopy, ScopeFiles, k("C"), "copy", "copy the marked files, or this one", 4},
		{FilesMove, ScopeFiles, k("M"), "move", "move the marked files, or this one", 4},
		{FilesDelete, ScopeFiles, k("D"), "trash", "move to the trash", 4},
		{FilesErase, ScopeFiles, k("X"), "", "delete for good; asks first", 0},
		{FilesTrash, ScopeFiles, k("ctrl+t"), "", "list the trash: restore, delete for good, empty", 0},
		{FilesExtract, ScopeFiles, k("U"), "", "unpack the archive", 0},
		{FilesPack, ScopeFiles, k("Z"), "", "pack the marked files, or this one, into an archive", 0},
		{FilesUndo, ScopeFiles, k("u"), "", "undo the last copy, move, rename or delete", 0},
		{FilesMarkAll, ScopeFiles, k("v"), "", "invert the marks", 0},
		{FilesFind, ScopeFiles, k("f"), "find", "find files below this folder by name", 5},
		{FilesSearch, ScopeFiles, k("ctrl+f"), "search", "search in the files below this folder", 5},
		{FilesGoTo, ScopeFiles, k("c"), "go to", "go to a folder; tab completes", 5},
		{FilesHome, ScopeFiles, k("~"), "", "home folder", 0},
		{FilesBack, ScopeFiles, k("-"), "", "previous folder", 0},
		{FilesMarks, ScopeFiles, k("b"), "bookmarks", "go to a bookmark", 6},
		{FilesKeep, ScopeFiles, k("B"), "", "bookmark the folder, or remove the bookmark", 0},
		{FilesRun, ScopeFiles, k("x"), "", "run the file in a session", 0},
		{FilesPath, ScopeFiles, k("y"), "", "copy the path", 0},
		{FilesSort, ScopeFiles, k("o"), "sort", "sort by name, size, time or extension", 6},
		{FilesReverse, ScopeFiles, k("O"), "", "reverse the order", 0},
		{FilesSortName, ScopeFiles, k("N"), "", "sort by name; again reverses it", 0},
		{FilesSortSize, ScopeFiles, k("S"), "", "sort by size; again reverses it", 0},
		{FilesSortTime, ScopeFiles, k("L"), "", "sort by the last change; again reverses it", 0},
		{FilesSortExtension, ScopeFiles, k("K"), "", "sort by kind (extension); again reverses it", 0},
		{FilesHidden, ScopeFiles, k("."), "hidden", "show or hide hidden files", 6},
		{FilesReload, ScopeFiles, k("ctrl+r"), "", "reload the folder", 0},
		{PreviewDown, ScopePreview, k("j", "down"), "", "one line down", 0},
		{PreviewUp, ScopePreview, k("k", "up"), "", "one line up", 0},
		{PreviewPageDown, ScopePreview, k("pgdown", "space", "ctrl+f"), "page", "one page down", 3},
		{PreviewPageUp, ScopePreview, k("pgup"), "", "one page up", 0},
		{PreviewHalfDown, ScopePreview, k("ctrl+d"), "", "half a page down", 0},
		{PreviewHalfUp, ScopePreview, k("ctrl+u"), "", "half a page up", 0},
		{PreviewFirst, ScopePreview, k("g", "home"), "first", "the beginning", 4},
		{PreviewLast, ScopePreview, k("G", "end"), "last", "the end", 4},
		{PreviewLeft, ScopePreview, k("left"), "", "scroll to the left", 0},
		{PreviewRight, ScopePreview, k("right", "l"), "", "scroll to the right", 0},
		{PreviewWrap, ScopePreview, k("w"), "wrap", "wrap long lines, or scroll sideways", 3},
		{PreviewSearch, ScopePreview, k("/"), "search", "search the file as you type", 2},
		{PreviewNext, ScopePreview, k("n"), "next", "next match", 3},
		{PreviewPrevious, ScopePreview, k("N"), "", "previous match", 0},
		{PreviewLeave, ScopePreview, k("esc", "h", "enter"), "back", "back to the list", 1},
	}
}

func overlays() []Definition {
	return []Definition{
		{Accept, ScopePrompt, k("enter", "dialog y", "form enter", "picker enter"), "accept", "accept", 1},
		{Cancel, ScopePrompt, k("esc", "ctrl+c", "dialog n", "dialog esc", "dialog q", "dialog ctrl+c", "form esc", "form ctrl+c", "picker esc", "picker ctrl+c"), "cancel", "cancel", 2},
		{FormNext, ScopeForm, k("tab"), "next field", "complete the path, or go to the next field", 0},
		{FormPrevious, ScopeForm, k("shift+tab"), "", "go to the previous field", 0},
		{FormDown, ScopeForm, k("down"), "", "go to the next line, or to the next field", 0},
		{FormUp, ScopeForm, k("up"), "", "go to the previous line, or to the previous field", 0},
		{InboxYes, ScopeInbox, k("y"), "yes", "answer yes: types y; a digit types itself", 1},
		{InboxNo, ScopeInbox, k("n"), "no", "answer no: types n", 1},
		{InboxWrite, ScopeInbox, k("tab"), "write", "write an answer", 2},
		{InboxOpen, ScopeInbox, k("enter"), "open", "open the session", 3},
		{InboxSeen, ScopeInbox, k("x"), "seen", "take what is done out of the inbox", 4},
		{InboxDiff, ScopeInbox, k("d"), "diff", "show what was changed in the session's worktree", 4},
		{InboxDown, ScopeInbox, k("j", "down"), "", "next", 0},
		{InboxUp, ScopeInbox, k("k", "up"), "", "previous", 0},
		{InboxLeave, ScopeInbox, k("esc", "q", "ctrl+c"), "close", "close", 5},
		{RequestAllow, ScopeRequest, k("y"), "allow", "allow this call", 1},
		{RequestAlways, ScopeRequest, k("a"), "always", "allow this call, now and whenever it is repeated", 3},
		{RequestDeny, ScopeRequest, k("n"), "refuse", "refuse this call", 2},
		{RequestNext, ScopeRequest, k("tab"), "next", "show the next request", 4},
		{Close, ScopeHelp, k("esc", "q", "?", "enter", "ctrl+c", "request esc", "request q", "request ctrl+c"), "close", "close", 1},
		{PickerDown, ScopePicker, k("down", "ctrl+n", "ctrl+j"), "", "next", 0},
		{PickerUp, ScopePicker, k("up", "ctrl+p", "ctrl+k"), "", "previous", 0},
		{PickerPageDown, ScopePicker, k("pgdown"), "", "one page down", 0},
		{PickerPageUp, ScopePicker, k("pgup"), "", "one page up", 0},
		{HelpSearch, ScopeHelp, k("/"), "search", "search the keys", 2},
		{HelpFirst, ScopeHelp, k("g", "home", "request g", "request home"), "", "the first line", 0},
		{HelpLast, ScopeHelp, k("G", "end", "request G", "request end"), "", "the last line", 0},
		{HelpDown, ScopeHelp, k("j", "down", "request j", "request down"), "", "one line down", 0},
		{HelpUp, ScopeHelp, k("k", "up", "request k", "request up"), "", "one line up", 0},
		{HelpPageDown, ScopeHelp, k("pgdown", "space", "request pgdown", "request space"), "", "one page down", 0},
		{HelpPageUp, ScopeHelp, k("pgup", "request pgup"), "", "one page up", 0},
	}
}

func k(names ...string) []string { return names }

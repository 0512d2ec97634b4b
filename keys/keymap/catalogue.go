package keymap

// A Definition is an action as the catalogue has it.
type Definition struct {
	Action  Action
	Scope   Scope    // of keys that name no scope
	Keys    []string // default keys, each "key" or "scope key": "alt+1", "prefix c", "list q"
	Short   string   // for the status bar: one or two words
	Help    string   // one line
	Rank    int      // place in the status bar, from 1; 0 keeps it out
	Planned bool     // named and bound, but not yet there to use
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
		{Prefix, ScopeGlobal, k("ctrl+b"), "commands", "start a command; press twice to send the key to the program", 1, false},
		{ViewSessions, ScopePrefix, k("1", "global alt+1", "list 1", "log 1", "preview 1"), "sessions", "show the sessions", 0, false},
		{ViewProcesses, ScopePrefix, k("2", "global alt+2", "list 2", "log 2", "preview 2"), "processes", "show the processes", 0, false},
		{ViewHistory, ScopePrefix, k("3", "global alt+3", "list 3", "log 3", "preview 3"), "history", "show the command history", 0, false},
		{ViewFiles, ScopePrefix, k("4", "global alt+4", "list 4", "log 4", "preview 4"), "files", "show the files", 0, false},
		{Requests, ScopePrefix, k("a", "list A", "log A", "preview A"), "requests", "review agents' requests", 0, false},
		{Detach, ScopePrefix, k("d"), "detach", "detach; everything keeps running", 7, false},
		{Help, ScopePrefix, k("?", "list ?", "log ?", "preview ?"), "keys", "show the keys", 8, false},
		{Palette, ScopePrefix, k(":", "list :", "list ctrl+p", "log :", "log ctrl+p", "preview :"), "palette", "find an action, session, process or command", 0, false},
		{ThemePick, ScopePrefix, k("T"), "theme", "choose a theme, with a live preview", 0, false},
		{TipsHide, ScopePrefix, k("esc"), "", "hide the tips", 0, false},
	}
}

func layout() []Definition {
	return []Definition{
		{FocusLeft, ScopePrefix, k("left", "h", "global alt+left"), "", "focus the pane to the left", 0, false},
		{FocusDown, ScopePrefix, k("down", "j", "global alt+down"), "", "focus the pane below", 0, false},
		{FocusUp, ScopePrefix, k("up", "k", "global alt+up"), "", "focus the pane above", 0, false},
		{FocusRight, ScopePrefix, k("right", "l", "global alt+right"), "", "focus the pane to the right", 0, false},
		{FocusNext, ScopePrefix, k("o", "list tab", "log tab", "preview tab"), "next pane", "focus the next pane", 6, false},
		{FocusPrevious, ScopePrefix, k(";", "list shift+tab", "log shift+tab", "preview shift+tab"), "", "focus the previous pane", 0, false},
		{FocusList, ScopePrefix, k("s"), "list", "focus the list, or go back to the terminal", 6, false},
		{SplitBeside, ScopePrefix, k("%", "|"), "split", "split: open a new session beside this one", 2, false},
		{SplitBelow, ScopePrefix, k("\"", "-"), "split below", "split: open a new session below this one", 3, false},
		{PaneZoom, ScopePrefix, k("z", "processes z", "log z", "files z", "preview z"), "zoom", "zoom the pane", 4, false},
		{PaneClose, ScopePrefix, k("w"), "close pane", "close the pane; its session keeps running", 0, false},
		{ResizeLeft, ScopePrefix, k("H", "ctrl+left"), "", "move the pane's border to the left", 0, false},
		{ResizeDown, ScopePrefix, k("J", "ctrl+down"), "", "move the pane's border down", 0, false},
		{ResizeUp, ScopePrefix, k("K", "ctrl+up"), "", "move the pane's border up", 0, false},
		{ResizeRight, ScopePrefix, k("L", "ctrl+right"), "", "move the pane's border to the right", 0, false},
		{LayoutEqual, ScopePrefix, k("="), "", "make all panes the same size", 0, false},
		{PaneSwapNext, ScopePrefix, k("}"), "", "swap the pane with the next one", 0, false},
		{PaneSwapPrevious, ScopePrefix, k("{"), "", "swap the pane with the previous one", 0, false},
		{PaneBreak, ScopePrefix, k("!"), "", "move the pane to a tab of its own", 0, false},
		{PaneMove, ScopePrefix, k("m"), "", "move the pane to another tab", 0, false},
		{LayoutSave, ScopePrefix, k("S"), "", "save the layout under a name", 0, false},
		{LayoutShow, ScopePrefix, k("space"), "layouts", "choose a layout: a saved one, columns, rows, tiles", 0, false},
	}
}

func sessions() []Definition {
	return []Definition{
		{SessionNew, ScopePrefix, k("c", "sessions n"), "new", "start a session", 1, false},
		{SessionNext, ScopePrefix, k("n"), "next", "go to the next session", 5, false},
		{SessionPrevious, ScopePrefix, k("p"), "", "go to the previous session", 0, false},
		{SessionRename, ScopePrefix, k(",", "sessions r"), "rename", "rename the session", 0, false},
		{SessionEnd, ScopePrefix, k("x", "sessions x"), "kill", "kill the session; asks first", 4, false},
		{SessionKeyboard, ScopePrefix, k("i", "sessions i"), "keyboard", "keep agents from typing into the session, or allow it again", 0, false},
		{SessionOpen, ScopePrefix, k("I", "sessions I"), "", "let sandboxed agents type into the session, or stop", 0, false},
		{SessionForget, ScopeSessions, k("D"), "delete", "delete an exited session and its log", 0, false},
		{ScrollMode, ScopePrefix, k("["), "scroll", "scrollback: scroll, search, select, copy", 6, false},
		{PasteBuffer, ScopePrefix, k("]"), "paste", "paste the last copy", 0, false},
		{HistoryInsert, ScopePrefix, k("r"), "history", "find a command and insert it at the prompt", 0, false},
	}
}

func lists() []Definition {
	return []Definition{
		{Open, ScopeList, k("enter"), "open", "open the selected row", 1, false},
		{MoveDown, ScopeList, k("j", "down"), "", "next row", 0, false},
		{MoveUp, ScopeList, k("k", "up"), "", "previous row", 0, false},
		{MovePageDown, ScopeList, k("pgdown"), "", "one page down", 0, false},
		{MovePageUp, ScopeList, k("pgup"), "", "one page up", 0, false},
		{MoveFirst, ScopeList, k("g", "home"), "", "first row", 0, false},
		{MoveLast, ScopeList, k("G", "end"), "", "last row", 0, false},
		{Filter, ScopeList, k("/"), "filter", "show only rows that match", 5, false},
		{Clear, ScopeList, k("esc"), "", "clear the filter", 0, false},
		{Quit, ScopeList, k("q", "log q", "preview q"), "detach", "detach; everything keeps running", 7, false},
	}
}

func scrolling() []Definition {
	return []Definition{
		{ScrollDown, ScopeScroll, k("j", "down", "ctrl+n", "log j", "log down"), "", "one line down; 10j moves ten", 0, false},
		{ScrollUp, ScopeScroll, k("k", "up", "ctrl+p", "log k", "log up"), "", "one line up", 0, false},
		{ScrollLeft, ScopeScroll, k("h", "left"), "", "one character to the left", 0, false},
		{ScrollRight, ScopeScroll, k("l", "right"), "", "one character to the right", 0, false},
		{ScrollWord, ScopeScroll, k("w"), "", "next word", 0, false},
		{ScrollWordBack, ScopeScroll, k("b"), "", "start of the word, or the previous word", 0, false},
		{ScrollWordEnd, ScopeScroll, k("e"), "", "end of the word, or of the next", 0, false},
		{ScrollLineStart, ScopeScroll, k("0"), "", "start of the line", 0, false},
		{ScrollLineText, ScopeScroll, k("^"), "", "first non-blank character of the line", 0, false},
		{ScrollLineEnd, ScopeScroll, k("$"), "", "end of the line", 0, false},
		{ScrollTop, ScopeScroll, k("H"), "", "top of the screen", 0, false},
		{ScrollMiddle, ScopeScroll, k("M"), "", "middle of the screen", 0, false},
		{ScrollBottom, ScopeScroll, k("L"), "", "bottom of the screen", 0, false},
		{ScrollParagraph, ScopeScroll, k("}"), "", "next blank line", 0, false},
		{ScrollParagraphBack, ScopeScroll, k("{"), "", "previous blank line", 0, false},
		{ScrollPageDown, ScopeScroll, k("pgdown", "ctrl+f", "log pgdown", "log ctrl+f", "log space"), "", "one page down", 0, false},
		{ScrollPageUp, ScopeScroll, k("pgup", "log pgup"), "page up", "one page up; so does the prefix pressed twice", 5, false},
		{ScrollHalfDown, ScopeScroll, k("ctrl+d", "log ctrl+d"), "", "half a page down", 0, false},
		{ScrollHalfUp, ScopeScroll, k("ctrl+u", "log ctrl+u"), "", "half a page up", 0, false},
		{ScrollFirst, ScopeScroll, k("g", "home", "log g", "log home"), "", "the oldest line", 0, false},
		{ScrollLast, ScopeScroll, k("G", "end", "log G", "log end"), "", "the newest line, or the line with the number typed before", 0, false},
		{ScrollCommandBack, ScopeScroll, k("["), "previous command", "prompt of the previous command, if the shell marks them", 4, false},
		{ScrollCommand, ScopeScroll, k("]"), "", "prompt of the next command", 0, false},
		{ScrollSearch, ScopeScroll, k("/"), "search", "search down", 1, false},
		{ScrollSearchBack, ScopeScroll, k("?"), "", "search up", 0, false},
		{ScrollNext, ScopeScroll, k("n"), "", "next match", 0, false},
		{ScrollPrevious, ScopeScroll, k("N"), "", "previous match", 0, false},
		{ScrollSelect, ScopeScroll, k("v", "space"), "select", "start or clear a selection", 2, false},
		{ScrollSelectLine, ScopeScroll, k("V"), "", "select lines", 0, false},
		{ScrollSelectBlock, ScopeScroll, k("ctrl+v"), "", "select a block", 0, false},
		{ScrollSelectOutput, ScopeScroll, k("s"), "", "select the output of this command", 0, false},
		{ScrollSwap, ScopeScroll, k("o"), "", "other end of the selection, or open the path here", 0, false},
		{ScrollCopy, ScopeScroll, k("y"), "copy", "copy the selection, also to the clipboard", 3, false},
		{ScrollOpen, ScopeScroll, k("enter"), "", "copy the selection, or open the path or URL here", 0, false},
		{ScrollCopyLine, ScopeScroll, k("Y"), "", "copy the line", 0, false},
		{ScrollSave, ScopeScroll, k("S"), "", "save the whole scrollback to a file", 0, false},
		{ScrollCancel, ScopeScroll, k("esc"), "", "leave the selection, then the search, then scrollback", 0, false},
		{ScrollLeave, ScopeScroll, k("q", "ctrl+c"), "back", "back to the live screen", 6, false},
	}
}

func processes() []Definition {
	return []Definition{
		{ProcessNew, ScopeProcesses, k("n"), "new", "start a process", 2, false},
		{ProcessRestart, ScopeProcesses, k("r"), "restart", "restart the process", 3, false},
		{ProcessStop, ScopeProcesses, k("x"), "stop", "stop the process; asks first", 3, false},
		{ProcessKill, ScopeProcesses, k("X"), "kill", "kill the process at once; asks first", 0, false},
		{ProcessSignal, ScopeProcesses, k("s"), "signal", "send the process a signal", 0, false},
		{ProcessKeepAlive, ScopeProcesses, k("a"), "keep alive", "toggle keep-alive: restart the process whenever it exits", 0, false},
		{Mark, ScopeProcesses, k("space", "history space", "files space"), "mark", "mark the row; actions apply to all marked rows", 6, false},
		{ProcessSort, ScopeProcesses, k("o"), "sort", "sort by the next column", 6, false},
		{ProcessReverse, ScopeProcesses, k("O"), "", "reverse the order", 0, false},
		{ProcessCharts, ScopeProcesses, k("i"), "charts", "show or hide charts of CPU and memory", 0, false},
		{ProcessForget, ScopeProcesses, k("D"), "delete", "delete an exited process and its log; asks first", 0, false},
	}
}

func logs() []Definition {
	return []Definition{
		{LogFollow, ScopeLog, k("f"), "follow", "follow the output, or pause", 1, false},
		{LogSearch, ScopeLog, k("/"), "search", "search the whole log for a regular expression", 1, false},
		{LogNext, ScopeLog, k("n"), "next", "next match below", 1, false},
		{LogPrevious, ScopeLog, k("N"), "previous", "next match above", 1, false},
		{LogWrap, ScopeLog, k("w"), "wrap", "wrap long lines, or scroll sideways", 1, false},
		{LogTimes, ScopeLog, k("t"), "times", "show or hide timestamps", 0, false},
		{LogLeft, ScopeLog, k("left", "h"), "", "scroll to the left", 0, false},
		{LogRight, ScopeLog, k("right", "l"), "", "scroll to the right", 0, false},
		{LogStream, ScopeLog, k("e"), "", "switch between stdout and stderr, if they are kept apart", 0, false},
		{LogSave, ScopeLog, k("S"), "save", "save the log to a file", 1, false},
		{LogLeave, ScopeLog, k("esc"), "table", "clear the search, or go back to the table", 1, false},
	}
}

func history() []Definition {
	return []Definition{
		{HistoryRun, ScopeHistory, k("r", "recall alt+r"), "run", "run the command again in the background", 2, false},
		{HistoryCopy, ScopeHistory, k("y", "recall alt+y"), "copy", "copy the command", 3, false},
		{HistoryForget, ScopeHistory, k("D"), "delete", "delete the command from the history; asks first", 0, false},
		{HistoryHere, ScopeHistory, k("d", "recall alt+h"), "here", "only commands run in the last session's folder", 0, false},
		{HistorySession, ScopeHistory, k("s", "recall alt+s"), "session", "only commands of the last session, or of all", 0, false},
		{HistoryFailed, ScopeHistory, k("f", "recall alt+e"), "failed", "only failures, or all", 0, false},
		{HistoryWho, ScopeHistory, k("w", "recall alt+w"), "who", "everyone's commands, only yours, only the agents'", 0, false},
		{HistoryToday, ScopeHistory, k("t", "recall alt+t"), "today", "only today, or ever", 0, false},
		{HistoryUnique, ScopeHistory, k("u", "recall alt+u"), "unique", "group repeated commands, or show every run", 0, false},
		{HistorySave, ScopeHistory, k("S"), "save", "save the commands to a text file", 0, false},
		{HistoryLoad, ScopeHistory, k("L"), "load", "load commands from a file or a shell's history", 0, false},
		{HistoryPick, ScopeRecall, k("enter", "tab"), "insert at the prompt", "insert the command at the prompt, or go to the list", 1, false},
		{HistoryOlder, ScopeRecall, k("down", "ctrl+r", "ctrl+n"), "", "older command", 0, false},
		{HistoryNewer, ScopeRecall, k("up", "ctrl+s", "ctrl+p"), "", "newer command", 0, false},
		{HistoryLeave, ScopeRecall, k("esc", "ctrl+c", "ctrl+g"), "close", "clear the search, or close", 6, false},
	}
}

func files() []Definition {
	return []Definition{
		{FilesUp, ScopeFiles, k("h", "left"), "up", "parent folder", 2, false},
		{FilesInto, ScopeFiles, k("l", "right"), "", "open the folder, or the full preview", 0, false},
		{FilesEdit, ScopeFiles, k("e", "preview e"), "edit", "edit the file in a new session", 3, false},
		{FilesTerminal, ScopeFiles, k("t", "preview t"), "terminal", "open a session here", 6, false},
		{FilesNew, ScopeFiles, k("n"), "new", "create a file, or a folder if the name ends in /", 5, false},
		{FilesRename, ScopeFiles, k("R"), "rename", "rename; marked files in your editor", 4, false},
		{FilesCopy, ScopeFiles, k("C"), "copy", "copy the marked files, or this one", 4, false},
		{FilesMove, ScopeFiles, k("M"), "move", "move the marked files, or this one", 4, false},
		{FilesDelete, ScopeFiles, k("D"), "trash", "move to the trash", 4, false},
		{FilesErase, ScopeFiles, k("X"), "", "delete for good; asks first", 0, false},
		{FilesUndo, ScopeFiles, k("u"), "", "undo the last copy, move, rename or delete", 0, false},
		{FilesMarkAll, ScopeFiles, k("v"), "", "invert the marks", 0, false},
		{FilesFind, ScopeFiles, k("f"), "find", "find files below this folder by name", 5, false},
		{FilesSearch, ScopeFiles, k("ctrl+f"), "search", "search in the files below this folder", 5, false},
		{FilesGoTo, ScopeFiles, k("c"), "go to", "go to a folder; tab completes", 5, false},
		{FilesHome, ScopeFiles, k("~"), "", "home folder", 0, false},
		{FilesBack, ScopeFiles, k("-"), "", "previous folder", 0, false},
		{FilesMarks, ScopeFiles, k("b"), "bookmarks", "go to a bookmark", 6, false},
		{FilesKeep, ScopeFiles, k("B"), "", "bookmark the folder, or remove the bookmark", 0, false},
		{FilesRun, ScopeFiles, k("x"), "", "run the file in a session", 0, false},
		{FilesPath, ScopeFiles, k("y"), "", "copy the path", 0, false},
		{FilesSort, ScopeFiles, k("o"), "sort", "sort by name, size, time or extension", 6, false},
		{FilesReverse, ScopeFiles, k("O"), "", "reverse the order", 0, false},
		{FilesHidden, ScopeFiles, k("."), "hidden", "show or hide hidden files", 6, false},
		{FilesReload, ScopeFiles, k("ctrl+r"), "", "reload the folder", 0, false},
		{PreviewDown, ScopePreview, k("j", "down"), "", "one line down", 0, false},
		{PreviewUp, ScopePreview, k("k", "up"), "", "one line up", 0, false},
		{PreviewPageDown, ScopePreview, k("pgdown", "space", "ctrl+f"), "page", "one page down", 3, false},
		{PreviewPageUp, ScopePreview, k("pgup"), "", "one page up", 0, false},
		{PreviewHalfDown, ScopePreview, k("ctrl+d"), "", "half a page down", 0, false},
		{PreviewHalfUp, ScopePreview, k("ctrl+u"), "", "half a page up", 0, false},
		{PreviewFirst, ScopePreview, k("g", "home"), "first", "the beginning", 4, false},
		{PreviewLast, ScopePreview, k("G", "end"), "last", "the end", 4, false},
		{PreviewLeft, ScopePreview, k("left"), "", "scroll to the left", 0, false},
		{PreviewRight, ScopePreview, k("right", "l"), "", "scroll to the right", 0, false},
		{PreviewWrap, ScopePreview, k("w"), "wrap", "wrap long lines, or scroll sideways", 3, false},
		{PreviewSearch, ScopePreview, k("/"), "search", "search the file for a regular expression", 2, false},
		{PreviewNext, ScopePreview, k("n"), "next", "next match", 3, false},
		{PreviewPrevious, ScopePreview, k("N"), "", "previous match", 0, false},
		{PreviewLeave, ScopePreview, k("esc", "h", "enter"), "back", "back to the list", 1, false},
	}
}

func overlays() []Definition {
	return []Definition{
		{Accept, ScopePrompt, k("enter", "dialog y", "form enter", "picker enter"), "accept", "accept", 1, false},
		{Cancel, ScopePrompt, k("esc", "ctrl+c", "dialog n", "dialog esc", "dialog q", "dialog ctrl+c", "form esc", "form ctrl+c", "picker esc", "picker ctrl+c"), "cancel", "cancel", 2, false},
		{FormNext, ScopeForm, k("tab"), "next field", "complete the path, or go to the next field", 0, false},
		{FormPrevious, ScopeForm, k("shift+tab"), "", "go to the previous field", 0, false},
		{FormDown, ScopeForm, k("down"), "", "go to the next line, or to the next field", 0, false},
		{FormUp, ScopeForm, k("up"), "", "go to the previous line, or to the previous field", 0, false},
		{RequestAllow, ScopeRequest, k("y"), "allow", "allow this call", 1, false},
		{RequestAlways, ScopeRequest, k("a"), "always", "allow this call, now and whenever it is repeated", 2, false},
		{RequestDeny, ScopeRequest, k("n"), "refuse", "refuse this call", 3, false},
		{RequestNext, ScopeRequest, k("tab"), "next", "show the next request", 4, false},
		{Close, ScopeHelp, k("esc", "q", "?", "enter", "ctrl+c", "request esc", "request q", "request ctrl+c"), "close", "close", 1, false},
		{PickerDown, ScopePicker, k("down", "ctrl+n", "ctrl+j"), "", "next", 0, false},
		{PickerUp, ScopePicker, k("up", "ctrl+p", "ctrl+k"), "", "previous", 0, false},
		{PickerPageDown, ScopePicker, k("pgdown"), "", "one page down", 0, false},
		{PickerPageUp, ScopePicker, k("pgup"), "", "one page up", 0, false},
		{HelpSearch, ScopeHelp, k("/"), "search", "search the keys", 2, false},
		{HelpFirst, ScopeHelp, k("g", "home", "request g", "request home"), "", "the first line", 0, false},
		{HelpLast, ScopeHelp, k("G", "end", "request G", "request end"), "", "the last line", 0, false},
		{HelpDown, ScopeHelp, k("j", "down", "request j", "request down"), "", "one line down", 0, false},
		{HelpUp, ScopeHelp, k("k", "up", "request k", "request up"), "", "one line up", 0, false},
		{HelpPageDown, ScopeHelp, k("pgdown", "space", "request pgdown", "request space"), "", "one page down", 0, false},
		{HelpPageUp, ScopeHelp, k("pgup", "request pgup"), "", "one page up", 0, false},
	}
}

func k(names ...string) []string { return names }

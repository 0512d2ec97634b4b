package keymap

import "slices"

// A Definition describes an action in the catalogue.
type Definition struct {
	Action Action   // for keys without a scope
	Scope  Scope    // of keys that name no scope
	Keys   []string // default keys, each "key" or "scope key": "alt+1", "prefix c", "list q"
	Emacs  []string // keys in scroll mode for Emacs users
	Label  string   // for the status bar: one or two words
	Rank   int      // position in the status bar, from 1; 0 if not shown
	Help   string   // one line
	Group  string   // heading in the help of Scope; "" for none
	Row    string   // name in the list of keys after the prefix, instead of Label; actions of a group can share a row
	Also   string   // other words to search for, from tmux, screen, zellij, vim and file managers
}

// define sets the scope and group of definitions.
func define(scope Scope, group string, definitions []Definition) []Definition {
	for i := range definitions {
		definitions[i].Scope, definitions[i].Group = scope, group
	}
	return definitions
}

func keyList(names ...string) []string { return names }

// Catalogue lists every action with its default keys, in the order of help. In each scope, actions
// without a group come first.
func Catalogue() []Definition {
	return slices.Concat(
		define(ScopeGlobal, "", []Definition{
			{Action: Prefix, Keys: keyList("ctrl+b"), Label: "commands", Rank: 1, Help: "start a command; press twice to send the key to the program"},
		}),
		define(ScopePrefix, "Sessions", slices.Concat([]Definition{
			{Action: SessionNew, Keys: keyList("c", "sessions n"), Label: "new", Rank: 1, Help: "start a session", Also: "new-window new-session create open terminal shell tab screen"},
			{Action: SessionNewTree, Keys: keyList("G", "sessions W"), Label: "new worktree", Help: "start a session in a new git worktree and branch", Row: "worktrees", Also: "checkout agent isolate parallel"},
			{Action: SessionTree, Keys: keyList("g", "sessions w"), Label: "worktree", Help: "merge, remove or keep the session's worktree", Row: "worktrees", Also: "git branch discard diff finish"},
			{Action: SessionNext, Keys: keyList("n"), Label: "next", Rank: 5, Help: "go to the next session", Row: "next, previous", Also: "next-window tab switch"},
			{Action: SessionPrevious, Keys: keyList("p"), Help: "go to the previous session", Row: "next, previous", Also: "previous-window tab switch"},
			{Action: SessionLast, Keys: keyList("b"), Help: "go back to the session shown last", Row: "last used", Also: "last-window toggle alternate other tab"},
		}, tabActions(), []Definition{
			{Action: TabRename, Keys: keyList("."), Label: "name tab", Help: "name the tab, or remove its name", Row: "tab, name it", Also: "rename-window title rename"},
			{Action: SessionWaiting, Keys: keyList("tab"), Label: "needs you", Help: "go to the next session whose agent needs you", Row: "waiting, inbox", Also: "attention blocked done waiting unread"},
			{Action: Inbox, Keys: keyList("u"), Label: "inbox", Help: "show what needs you, and answer it", Row: "waiting, inbox", Also: "attention agents blocked done questions notifications"},
			{Action: FocusList, Keys: keyList("s"), Label: "list", Rank: 6, Help: "focus the list, or go back to the terminal", Also: "choose-tree sidebar"},
			{Action: SessionKill, Keys: keyList("x", "sessions x"), Label: "kill", Rank: 4, Help: "kill the session; asks first", Also: "kill-pane kill-window kill-session quit exit close stop terminate"},
			{Action: SessionRename, Keys: keyList(",", "sessions r"), Label: "rename", Help: "rename the session", Row: "rename, reset", Also: "rename-session title name"},
			{Action: TerminalReset, Keys: keyList("R"), Label: "reset", Help: "reset mouse, keys and screen after a killed program", Row: "rename, reset", Also: "send-keys -R garbled modes stty sane tput"},
			{Action: InputDrop, Keys: keyList("D"), Help: "drop what you typed while the machine is offline", Row: "rename, reset", Also: "queue queued cancel"},
			{Action: SessionKeyboard, Keys: keyList("i", "sessions i"), Label: "keyboard", Help: "keep agents from typing into the session, or allow it again", Row: "agents' access", Also: "lock readonly read-only"},
			{Action: SessionOpen, Keys: keyList("I", "sessions I"), Help: "let sandboxed agents type into the session, or stop", Row: "agents' access"},
		})),
		define(ScopePrefix, "Text", []Definition{
			{Action: ScrollMode, Keys: keyList("["), Label: "scroll", Rank: 6, Help: "scrollback: scroll, search, select, copy", Row: "scroll, paste", Also: "copy-mode scrollback history buffer selection"},
			{Action: PasteBuffer, Keys: keyList("]"), Label: "paste", Help: "paste the last copy", Row: "scroll, paste", Also: "paste-buffer clipboard"},
			{Action: OutputSearch, Keys: keyList("/"), Label: "search", Help: "search what all sessions and processes have printed", Row: "search, history", Also: "grep find logs scrollback"},
			{Action: HistoryInsert, Keys: keyList("r"), Label: "history", Help: "find a command and insert it at the prompt", Row: "search, history", Also: "reverse-search recall fzf atuin"},
		}),
		define(ScopePrefix, "Panes", []Definition{
			{Action: SplitBeside, Keys: keyList("%", "|"), Label: "split", Rank: 2, Help: "split: open a new session beside this one", Row: "split right", Also: "vertical vsplit split-window -h right side column new-pane"},
			{Action: SplitBelow, Keys: keyList("\"", "-"), Label: "split below", Rank: 3, Help: "split: open a new session below this one", Also: "horizontal hsplit split-window -v down bottom row new-pane"},
			{Action: PaneZoom, Keys: keyList("z", "processes z", "log z", "files z", "preview z"), Label: "zoom", Rank: 4, Help: "zoom the pane", Row: "zoom, float", Also: "fullscreen maximize maximise resize-pane -Z"},
			{Action: PaneFloat, Keys: keyList("f"), Help: "show the floating pane, or hide it", Row: "zoom, float"},
			{Action: FocusLeft, Keys: keyList("left", "h", "global alt+left"), Help: "focus the pane to the left", Row: "focus", Also: "select-pane go move"},
			{Action: FocusDown, Keys: keyList("down", "j", "global alt+down"), Help: "focus the pane below", Row: "focus", Also: "select-pane go move"},
			{Action: FocusUp, Keys: keyList("up", "k", "global alt+up"), Help: "focus the pane above", Row: "focus", Also: "select-pane go move"},
			{Action: FocusRight, Keys: keyList("right", "l", "global alt+right"), Help: "focus the pane to the right", Row: "focus", Also: "select-pane go move"},
			{Action: FocusNext, Keys: keyList("o", "list tab", "log tab", "preview tab"), Label: "next pane", Rank: 6, Help: "focus the next pane", Row: "next, previous", Also: "select-pane cycle switch other"},
			{Action: FocusPrevious, Keys: keyList("O", "list shift+tab", "log shift+tab", "preview shift+tab"), Help: "focus the previous pane", Row: "next, previous", Also: "select-pane cycle switch other"},
			{Action: FocusLast, Keys: keyList(";"), Help: "go back to the pane focused last", Row: "last used", Also: "last-pane toggle alternate"},
			{Action: PaneNumbers, Keys: keyList("q"), Help: "number the panes; press a digit to go to one", Row: "by number", Also: "display-panes jump select-pane"},
			{Action: PaneClose, Keys: keyList("w"), Label: "close pane", Help: "close the pane; its session keeps running", Row: "close", Also: "hide unsplit kill-pane"},
			{Action: PaneSwapNext, Keys: keyList("}"), Help: "swap the pane with the next one", Row: "swap", Also: "swap-pane exchange rotate"},
			{Action: PaneSwapPrevious, Keys: keyList("{"), Help: "swap the pane with the previous one", Row: "swap", Also: "swap-pane exchange rotate"},
			{Action: PaneBreak, Keys: keyList("!"), Help: "move the pane to a tab of its own", Row: "to another tab", Also: "break-pane window"},
			{Action: PaneMove, Keys: keyList("m"), Help: "move the pane to another tab", Row: "to another tab", Also: "join-pane move-pane"},
		}),
		define(ScopePrefix, "Layout", []Definition{
			{Action: LayoutShow, Keys: keyList("space"), Label: "layouts", Help: "choose a layout: a saved one, columns, rows, tiles", Row: "choose, save", Also: "select-layout even tiled arrange tmuxinator"},
			{Action: LayoutSave, Keys: keyList("S"), Help: "save the layout under a name", Row: "choose, save", Also: "tmuxinator resurrect"},
			{Action: ResizeLeft, Keys: keyList("H", "ctrl+left"), Help: "move the pane's border to the left", Row: "resize", Also: "resize-pane wider narrower grow shrink"},
			{Action: ResizeDown, Keys: keyList("J", "ctrl+down"), Help: "move the pane's border down", Row: "resize", Also: "resize-pane taller grow shrink"},
			{Action: ResizeUp, Keys: keyList("K", "ctrl+up"), Help: "move the pane's border up", Row: "resize", Also: "resize-pane taller grow shrink"},
			{Action: ResizeRight, Keys: keyList("L", "ctrl+right"), Help: "move the pane's border to the right", Row: "resize", Also: "resize-pane wider narrower grow shrink"},
			{Action: LayoutEqual, Keys: keyList("="), Help: "make all panes the same size", Row: "same size", Also: "select-layout even balance equalize"},
		}),
		define(ScopePrefix, "Tandem", slices.Concat([]Definition{
			{Action: Help, Keys: keyList("?", "list ?", "log ?", "preview ?", "inbox ?", "lines ?"), Label: "keys", Rank: 8, Help: "show the keys", Row: "all keys", Also: "list-keys shortcuts bindings cheatsheet"},
			{Action: Detach, Keys: keyList("d"), Label: "detach", Rank: 7, Help: "detach; everything keeps running", Also: "detach-client quit exit leave"},
			{Action: Palette, Keys: keyList(":", "list :", "list ctrl+p", "log :", "log ctrl+p", "preview :"), Label: "palette", Help: "find an action, session, process or command", Row: "find anything", Also: "command-prompt menu"},
		}, listViewActions(), []Definition{
			{Action: Machines, Keys: keyList("M"), Label: "machines", Help: "other machines: connect, add, upgrade, remove", Row: "machines, web", Also: "hosts servers remote ssh"},
			{Action: Browser, Keys: keyList("B"), Label: "browser", Help: "open in browser: the link, and its QR code for a phone", Row: "machines, web", Also: "web page url mobile share"},
			{Action: Requests, Keys: keyList("a", "list A", "log A", "preview A"), Label: "requests", Help: "review agents' requests", Row: "requests", Also: "approve permission allow agents"},
			{Action: QuestionOpen, Keys: keyList("enter"), Help: "answer the question that waits", Row: "answer", Also: "dialog conflict"},
			{Action: ThemePick, Keys: keyList("T"), Label: "theme", Help: "choose a theme, with a live preview", Row: "theme, no tips", Also: "colors colours appearance dark light"},
			{Action: TipsHide, Keys: keyList("esc"), Help: "hide the tips", Row: "theme, no tips"},
		})),
		define(ScopeList, "", []Definition{
			{Action: Open, Keys: keyList("enter", "lines enter"), Label: "open", Rank: 1, Help: "open the selected row"},
			{Action: MoveDown, Keys: keyList("j", "down", "lines j", "lines down"), Help: "next row"},
			{Action: MoveUp, Keys: keyList("k", "up", "lines k", "lines up"), Help: "previous row"},
			{Action: MovePageDown, Keys: keyList("pgdown", "lines pgdown"), Help: "one page down"},
			{Action: MovePageUp, Keys: keyList("pgup", "lines pgup"), Help: "one page up"},
			{Action: MoveFirst, Keys: keyList("g", "home", "lines g", "lines home"), Help: "first row"},
			{Action: MoveLast, Keys: keyList("G", "end", "lines G", "lines end"), Help: "last row"},
			{Action: Filter, Keys: keyList("/"), Label: "filter", Rank: 5, Help: "show only rows that match"},
			{Action: Clear, Keys: keyList("esc"), Help: "clear the filter"},
			{Action: Quit, Keys: keyList("q", "log q", "preview q"), Label: "detach", Rank: 7, Help: "detach; everything keeps running", Also: "detach-client exit leave"},
		}),
		define(ScopeInterrupted, "", []Definition{
			{Action: SessionRestore, Keys: keyList("enter"), Label: "restore", Help: "restore the session, with its last command typed", Also: "resurrect continuum resume"},
			{Action: SessionRestoreAll, Keys: keyList("R", "sessions R"), Label: "restore all", Help: "restore all sessions that a reboot or crash ended", Also: "resurrect continuum resume"},
			{Action: SessionDismiss, Keys: keyList("x"), Label: "dismiss", Help: "do not offer to restore the session again"},
		}),
		listViewKeys(),
		define(ScopeLog, "", []Definition{
			{Action: LogFollow, Keys: keyList("f"), Label: "follow", Rank: 1, Help: "follow the output, or pause", Also: "tail live"},
			{Action: LogSearch, Keys: keyList("/"), Label: "search", Rank: 1, Help: "search the whole log"},
			{Action: LogNext, Keys: keyList("n"), Label: "next", Rank: 1, Help: "next match below"},
			{Action: LogPrevious, Keys: keyList("N"), Label: "previous", Rank: 1, Help: "next match above"},
			{Action: LogWrap, Keys: keyList("w", "lines w"), Label: "wrap", Rank: 1, Help: "wrap long lines, or scroll sideways"},
			{Action: LogTimes, Keys: keyList("t"), Label: "times", Help: "show or hide timestamps"},
			{Action: LogPretty, Keys: keyList("p"), Label: "JSON", Help: "show JSON lines in columns, or unchanged"},
			{Action: LogLeft, Keys: keyList("left", "h", "lines left"), Help: "scroll to the left"},
			{Action: LogRight, Keys: keyList("right", "l", "lines right"), Help: "scroll to the right"},
			{Action: LogStream, Keys: keyList("e"), Help: "switch between stdout and stderr, if logged separately"},
			{Action: LogSave, Keys: keyList("S"), Label: "save", Rank: 1, Help: "save the log to a file", Also: "export write"},
			{Action: LogLeave, Keys: keyList("esc"), Label: "table", Rank: 1, Help: "clear the search, or go back to the table"},
		}),
		define(ScopeScroll, "", []Definition{
			{Action: ScrollDown, Keys: keyList("j", "down", "ctrl+n", "log j", "log down"), Emacs: keyList("down", "ctrl+n"), Help: "one line down; 10j moves ten"},
			{Action: ScrollUp, Keys: keyList("k", "up", "ctrl+p", "log k", "log up"), Emacs: keyList("up", "ctrl+p"), Help: "one line up"},
			{Action: ScrollLeft, Keys: keyList("h", "left"), Emacs: keyList("left"), Help: "one character to the left"},
			{Action: ScrollRight, Keys: keyList("l", "right"), Emacs: keyList("right", "ctrl+f"), Help: "one character to the right"},
			{Action: ScrollWord, Keys: keyList("w"), Emacs: keyList("alt+w"), Help: "next word"},
			{Action: ScrollWordBack, Keys: keyList("b"), Emacs: keyList("alt+b"), Help: "start of the word, or the previous word"},
			{Action: ScrollWordEnd, Keys: keyList("e"), Emacs: keyList("alt+f"), Help: "end of the word, or of the next"},
			{Action: ScrollLineStart, Keys: keyList("0"), Emacs: keyList("ctrl+a"), Help: "start of the line"},
			{Action: ScrollLineText, Keys: keyList("^"), Emacs: keyList("alt+m"), Help: "first non-blank character of the line"},
			{Action: ScrollLineEnd, Keys: keyList("$"), Emacs: keyList("ctrl+e"), Help: "end of the line"},
			{Action: ScrollTop, Keys: keyList("H"), Emacs: keyList("alt+t"), Help: "top of the screen"},
			{Action: ScrollMiddle, Keys: keyList("M"), Emacs: keyList("alt+r"), Help: "middle of the screen"},
			{Action: ScrollBottom, Keys: keyList("L"), Emacs: keyList("alt+l"), Help: "bottom of the screen"},
			{Action: ScrollParagraph, Keys: keyList("}"), Emacs: keyList("alt+}"), Help: "next blank line"},
			{Action: ScrollParagraphBack, Keys: keyList("{"), Emacs: keyList("alt+{"), Help: "previous blank line"},
			{Action: ScrollPageDown, Keys: keyList("pgdown", "ctrl+f", "log pgdown", "log ctrl+f", "log space"), Emacs: keyList("pgdown", "ctrl+v", "space"), Help: "one page down"},
			{Action: ScrollPageUp, Keys: keyList("pgup", "log pgup"), Emacs: keyList("pgup", "alt+v"), Label: "page up", Rank: 5, Help: "one page up; so does pressing the prefix twice"},
			{Action: ScrollHalfDown, Keys: keyList("ctrl+d", "log ctrl+d"), Emacs: keyList("ctrl+down"), Help: "half a page down"},
			{Action: ScrollHalfUp, Keys: keyList("ctrl+u", "log ctrl+u"), Emacs: keyList("ctrl+up"), Help: "half a page up"},
			{Action: ScrollFirst, Keys: keyList("g", "home", "log g", "log home"), Emacs: keyList("home", "alt+<"), Help: "the oldest line"},
			{Action: ScrollLast, Keys: keyList("G", "end", "log G", "log end"), Emacs: keyList("end", "alt+>"), Help: "the newest line, or the line whose number you typed"},
			{Action: ScrollCommandBack, Keys: keyList("["), Emacs: keyList("["), Label: "previous command", Rank: 4, Help: "prompt of the previous command, if the shell marks prompts"},
			{Action: ScrollCommand, Keys: keyList("]"), Emacs: keyList("]"), Help: "prompt of the next command"},
			{Action: ScrollCancel, Keys: keyList("esc"), Emacs: keyList("ctrl+g", "esc"), Help: "leave the selection, then the search, then scrollback"},
			{Action: ScrollLeave, Keys: keyList("q", "ctrl+c"), Emacs: keyList("q", "ctrl+c"), Label: "back", Rank: 6, Help: "back to the live screen"},
		}),
		define(ScopeScroll, "Search", []Definition{
			{Action: ScrollSearch, Keys: keyList("/"), Emacs: keyList("ctrl+s"), Label: "search", Rank: 1, Help: "search down"},
			{Action: ScrollSearchBack, Keys: keyList("?"), Emacs: keyList("ctrl+r"), Help: "search up"},
			{Action: ScrollNext, Keys: keyList("n"), Emacs: keyList("n"), Help: "next match"},
			{Action: ScrollPrevious, Keys: keyList("N"), Emacs: keyList("N"), Help: "previous match"},
		}),
		define(ScopeScroll, "Select and copy", []Definition{
			{Action: ScrollSelect, Keys: keyList("v", "space"), Emacs: keyList("ctrl+space"), Label: "select", Rank: 2, Help: "start or clear a selection"},
			{Action: ScrollSelectLine, Keys: keyList("V"), Emacs: keyList("V"), Help: "select lines"},
			{Action: ScrollSelectBlock, Keys: keyList("ctrl+v"), Emacs: keyList("R"), Help: "select a block"},
			{Action: ScrollSelectOutput, Keys: keyList("s"), Emacs: keyList("s"), Help: "select the output of this command"},
			{Action: ScrollSwap, Keys: keyList("o"), Emacs: keyList("ctrl+x"), Help: "other end of the selection, or open the path here"},
			{Action: ScrollCopy, Keys: keyList("y"), Emacs: keyList("ctrl+w", "y"), Label: "copy", Rank: 3, Help: "copy the selection, also to the clipboard"},
			{Action: ScrollOpen, Keys: keyList("enter"), Emacs: keyList("enter"), Help: "copy the selection, or open the path or URL here"},
			{Action: ScrollCopyLine, Keys: keyList("Y"), Emacs: keyList("ctrl+k"), Help: "copy the line"},
			{Action: ScrollSave, Keys: keyList("S"), Emacs: keyList("S"), Help: "save the whole scrollback to a file"},
			{Action: ScrollScrub, Keys: keyList("X"), Emacs: keyList("X"), Help: "overwrite the selected text wherever it is kept; asks first"},
		}),
		define(ScopeRecall, "", []Definition{
			{Action: HistoryPick, Keys: keyList("enter", "tab"), Label: "insert at the prompt", Rank: 1, Help: "insert the command at the prompt, or go to the list"},
			{Action: HistoryOlder, Keys: keyList("down", "ctrl+r", "ctrl+n"), Help: "older command"},
			{Action: HistoryNewer, Keys: keyList("up", "ctrl+s", "ctrl+p"), Help: "newer command"},
			{Action: HistoryLeave, Keys: keyList("esc", "ctrl+c", "ctrl+g"), Label: "close", Rank: 6, Help: "clear the search, or close"},
		}),
		define(ScopeOutputs, "", []Definition{
			{Action: LinesFocus, Keys: keyList("enter", "down", "tab"), Label: "lines", Rank: 1, Help: "go to the lines found"},
			{Action: OutputsLeave, Keys: keyList("esc", "ctrl+c"), Label: "close", Rank: 6, Help: "close"},
		}),
		define(ScopeLines, "", []Definition{
			{Action: LinesInsert, Keys: keyList("r"), Label: "insert at the prompt", Rank: 2, Help: "insert the command that printed the line at the prompt"},
			{Action: LinesCopy, Keys: keyList("y"), Label: "copy", Rank: 3, Help: "copy the line, or all marked lines"},
			{Action: LinesOutput, Keys: keyList("tab", "shift+tab"), Label: "output", Rank: 4, Help: "go to the output around the line, or back to the lines"},
			{Action: LinesPattern, Keys: keyList("/"), Label: "pattern", Rank: 5, Help: "edit the pattern"},
			{Action: LinesBack, Keys: keyList("esc"), Label: "back", Rank: 6, Help: "remove the marks, or go back to the lines or the pattern"},
			{Action: LinesClose, Keys: keyList("q", "ctrl+c"), Help: "close"},
		}),
		define(ScopePreview, "", []Definition{
			{Action: PreviewDown, Keys: keyList("j", "down"), Help: "one line down"},
			{Action: PreviewUp, Keys: keyList("k", "up"), Help: "one line up"},
			{Action: PreviewPageDown, Keys: keyList("pgdown", "space", "ctrl+f"), Label: "page", Rank: 3, Help: "one page down"},
			{Action: PreviewPageUp, Keys: keyList("pgup"), Help: "one page up"},
			{Action: PreviewHalfDown, Keys: keyList("ctrl+d"), Help: "half a page down"},
			{Action: PreviewHalfUp, Keys: keyList("ctrl+u"), Help: "half a page up"},
			{Action: PreviewFirst, Keys: keyList("g", "home"), Label: "first", Rank: 4, Help: "the beginning"},
			{Action: PreviewLast, Keys: keyList("G", "end"), Label: "last", Rank: 4, Help: "the end"},
			{Action: PreviewLeft, Keys: keyList("left"), Help: "scroll to the left"},
			{Action: PreviewRight, Keys: keyList("right", "l"), Help: "scroll to the right"},
			{Action: PreviewWrap, Keys: keyList("w"), Label: "wrap", Rank: 3, Help: "wrap long lines, or scroll sideways"},
			{Action: PreviewSearch, Keys: keyList("/"), Label: "search", Rank: 2, Help: "search the file as you type"},
			{Action: PreviewNext, Keys: keyList("n"), Label: "next", Rank: 3, Help: "next match"},
			{Action: PreviewPrevious, Keys: keyList("N"), Help: "previous match"},
			{Action: PreviewLeave, Keys: keyList("esc", "h", "enter"), Label: "back", Rank: 1, Help: "back to the list"},
		}),
		define(ScopePrompt, "", []Definition{
			{Action: Accept, Keys: keyList("enter", "dialog y", "form enter", "picker enter"), Label: "accept", Rank: 1, Help: "accept"},
			{Action: Cancel, Keys: keyList("esc", "ctrl+c", "dialog n", "dialog esc", "dialog q", "dialog ctrl+c", "form esc", "form ctrl+c", "picker esc", "picker ctrl+c"), Label: "cancel", Rank: 2, Help: "cancel"},
		}),
		define(ScopeForm, "", []Definition{
			{Action: FormNext, Keys: keyList("tab"), Label: "next field", Help: "complete the path, or go to the next field"},
			{Action: FormPrevious, Keys: keyList("shift+tab"), Help: "go to the previous field"},
			{Action: FormDown, Keys: keyList("down"), Help: "go to the next line, or to the next field"},
			{Action: FormUp, Keys: keyList("up"), Help: "go to the previous line, or to the previous field"},
		}),
		define(ScopeInbox, "", []Definition{
			{Action: InboxYes, Keys: keyList("y"), Label: "yes", Rank: 1, Help: "answer yes: types y; a digit types itself"},
			{Action: InboxNo, Keys: keyList("n"), Label: "no", Rank: 1, Help: "answer no: types n"},
			{Action: InboxWrite, Keys: keyList("tab"), Label: "write", Rank: 2, Help: "write an answer"},
			{Action: InboxOpen, Keys: keyList("enter"), Label: "open", Rank: 3, Help: "open the session"},
			{Action: InboxSeen, Keys: keyList("x"), Label: "seen", Rank: 4, Help: "clear a finished item, undo an answer"},
			{Action: InboxDiff, Keys: keyList("d"), Label: "diff", Rank: 4, Help: "show what was changed in the session's worktree"},
			{Action: InboxDown, Keys: keyList("j", "down"), Help: "next"},
			{Action: InboxUp, Keys: keyList("k", "up"), Help: "previous"},
			{Action: InboxLeave, Keys: keyList("esc", "q", "ctrl+c"), Label: "close", Rank: 5, Help: "close"},
		}),
		define(ScopeRequest, "", []Definition{
			{Action: RequestAllow, Keys: keyList("y"), Label: "allow", Rank: 1, Help: "allow this call"},
			{Action: RequestAlways, Keys: keyList("a"), Label: "always", Rank: 3, Help: "allow this call, now and whenever it is repeated"},
			{Action: RequestDeny, Keys: keyList("n"), Label: "refuse", Rank: 2, Help: "refuse this call"},
			{Action: RequestNext, Keys: keyList("tab"), Label: "next", Rank: 4, Help: "show the next request"},
		}),
		define(ScopeHelp, "", []Definition{
			{Action: Close, Keys: keyList("esc", "q", "?", "enter", "ctrl+c", "request esc", "request q", "request ctrl+c"), Label: "close", Rank: 1, Help: "close"},
			{Action: HelpSearch, Keys: keyList("/"), Label: "search", Rank: 2, Help: "search the keys"},
			{Action: HelpFirst, Keys: keyList("g", "home", "request g", "request home"), Help: "the first line"},
			{Action: HelpLast, Keys: keyList("G", "end", "request G", "request end"), Help: "the last line"},
			{Action: HelpDown, Keys: keyList("j", "down", "request j", "request down"), Help: "one line down"},
			{Action: HelpUp, Keys: keyList("k", "up", "request k", "request up"), Help: "one line up"},
			{Action: HelpPageDown, Keys: keyList("pgdown", "space", "request pgdown", "request space"), Help: "one page down"},
			{Action: HelpPageUp, Keys: keyList("pgup", "request pgup"), Help: "one page up"},
		}),
		define(ScopePicker, "", []Definition{
			{Action: PickerDown, Keys: keyList("down", "ctrl+n", "ctrl+j"), Help: "next"},
			{Action: PickerUp, Keys: keyList("up", "ctrl+p", "ctrl+k"), Help: "previous"},
			{Action: PickerPageDown, Keys: keyList("pgdown"), Help: "one page down"},
			{Action: PickerPageUp, Keys: keyList("pgup"), Help: "one page up"},
		}),
	)
}

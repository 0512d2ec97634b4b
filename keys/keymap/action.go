package keymap

// An Action is something the user can do with a key. Its value is the name in the configuration.
type Action string

const (
	Prefix Action = "prefix"

	FocusLeft     Action = "focus.left"
	FocusDown     Action = "focus.down"
	FocusUp       Action = "focus.up"
	FocusRight    Action = "focus.right"
	FocusNext     Action = "focus.next"
	FocusPrevious Action = "focus.previous"
	FocusLast     Action = "focus.last"
	FocusList     Action = "focus.list"

	SplitBeside Action = "split.beside"
	SplitBelow  Action = "split.below"
	PaneZoom    Action = "pane.zoom"
	PaneClose   Action = "pane.close"
	ResizeLeft  Action = "resize.left"
	ResizeDown  Action = "resize.down"
	ResizeUp    Action = "resize.up"
	ResizeRight Action = "resize.right"

	LayoutEqual      Action = "layout.equal"
	LayoutSave       Action = "layout.save"
	LayoutShow       Action = "layout.show"
	PaneSwapNext     Action = "pane.swapnext"
	PaneSwapPrevious Action = "pane.swapprevious"
	PaneFloat        Action = "pane.float"
	PaneBreak        Action = "pane.break"
	PaneMove         Action = "pane.move"
	PaneNumbers      Action = "pane.numbers"

	TabRename Action = "tab.rename"

	SessionNew      Action = "session.new"
	SessionNext     Action = "session.next"
	SessionPrevious Action = "session.previous"
	SessionLast     Action = "session.last"
	SessionRename   Action = "session.rename"
	SessionKill     Action = "session.kill"
	SessionDelete   Action = "session.delete"
	SessionRestore  Action = "session.restore"
	SessionDismiss  Action = "session.dismiss"
	SessionKeyboard Action = "session.keyboard"
	SessionOpen     Action = "session.open"
	SessionWaiting  Action = "session.waiting"
	SessionNewTree  Action = "session.newworktree"
	SessionTree     Action = "session.worktree"

	SessionRestoreAll Action = "session.restoreall"

	ScrollMode    Action = "scroll.mode"
	PasteBuffer   Action = "paste"
	TerminalReset Action = "terminal.reset"
	InputDrop     Action = "input.drop"
	HistoryInsert Action = "history.insert"
	Palette       Action = "palette"
	Help          Action = "help"
	Detach        Action = "detach"

	MoveDown     Action = "move.down"
	MoveUp       Action = "move.up"
	MovePageDown Action = "move.pagedown"
	MovePageUp   Action = "move.pageup"
	MoveFirst    Action = "move.first"
	MoveLast     Action = "move.last"
	Open         Action = "open"
	Filter       Action = "filter"
	Clear        Action = "clear"
	Mark         Action = "mark"
	Quit         Action = "quit"

	ScrollDown          Action = "scroll.down"
	ScrollUp            Action = "scroll.up"
	ScrollLeft          Action = "scroll.left"
	ScrollRight         Action = "scroll.right"
	ScrollWord          Action = "scroll.word"
	ScrollWordBack      Action = "scroll.wordback"
	ScrollWordEnd       Action = "scroll.wordend"
	ScrollLineStart     Action = "scroll.linestart"
	ScrollLineText      Action = "scroll.linetext"
	ScrollLineEnd       Action = "scroll.lineend"
	ScrollTop           Action = "scroll.top"
	ScrollMiddle        Action = "scroll.middle"
	ScrollBottom        Action = "scroll.bottom"
	ScrollParagraph     Action = "scroll.paragraph"
	ScrollParagraphBack Action = "scroll.paragraphback"
	ScrollPageDown      Action = "scroll.pagedown"
	ScrollPageUp        Action = "scroll.pageup"
	ScrollHalfDown      Action = "scroll.halfdown"
	ScrollHalfUp        Action = "scroll.halfup"
	ScrollFirst         Action = "scroll.first"
	ScrollLast          Action = "scroll.last"
	ScrollCommand       Action = "scroll.command"
	ScrollCommandBack   Action = "scroll.commandback"
	ScrollLeave         Action = "scroll.leave"
	ScrollCancel        Action = "scroll.cancel"
	ScrollSearch        Action = "scroll.search"
	ScrollSearchBack    Action = "scroll.searchback"
	ScrollNext          Action = "scroll.next"
	ScrollPrevious      Action = "scroll.previous"
	ScrollSelect        Action = "scroll.select"
	ScrollSelectLine    Action = "scroll.selectline"
	ScrollSelectBlock   Action = "scroll.selectblock"
	ScrollSelectOutput  Action = "scroll.selectoutput"
	ScrollSwap          Action = "scroll.swap"
	ScrollOpen          Action = "scroll.open"
	ScrollCopy          Action = "scroll.copy"
	ScrollCopyLine      Action = "scroll.copyline"
	ScrollSave          Action = "scroll.save"
	ScrollScrub         Action = "scroll.scrub"

	LogFollow   Action = "log.follow"
	LogWrap     Action = "log.wrap"
	LogTimes    Action = "log.times"
	LogPretty   Action = "log.pretty"
	LogLeft     Action = "log.left"
	LogRight    Action = "log.right"
	LogSearch   Action = "log.search"
	LogNext     Action = "log.next"
	LogPrevious Action = "log.previous"
	LogStream   Action = "log.stream"
	LogSave     Action = "log.save"
	LogLeave    Action = "log.leave"

	HistoryPick  Action = "history.pick"
	HistoryLeave Action = "history.leave"
	HistoryOlder Action = "history.older"
	HistoryNewer Action = "history.newer"

	OutputSearch Action = "output.search"
	OutputsLeave Action = "output.leave"
	LinesFocus   Action = "lines.focus"
	LinesBack    Action = "lines.back"
	LinesClose   Action = "lines.close"
	LinesPattern Action = "lines.pattern"
	LinesOutput  Action = "lines.output"
	LinesInsert  Action = "lines.insert"
	LinesCopy    Action = "lines.copy"

	PreviewDown     Action = "preview.down"
	PreviewUp       Action = "preview.up"
	PreviewPageDown Action = "preview.pagedown"
	PreviewPageUp   Action = "preview.pageup"
	PreviewHalfDown Action = "preview.halfdown"
	PreviewHalfUp   Action = "preview.halfup"
	PreviewFirst    Action = "preview.first"
	PreviewLast     Action = "preview.last"
	PreviewLeft     Action = "preview.left"
	PreviewRight    Action = "preview.right"
	PreviewWrap     Action = "preview.wrap"
	PreviewSearch   Action = "preview.search"
	PreviewNext     Action = "preview.next"
	PreviewPrevious Action = "preview.previous"
	PreviewLeave    Action = "preview.leave"

	Inbox      Action = "inbox"
	InboxOpen  Action = "inbox.open"
	InboxYes   Action = "inbox.yes"
	InboxNo    Action = "inbox.no"
	InboxWrite Action = "inbox.write"
	InboxSeen  Action = "inbox.seen"
	InboxDiff  Action = "inbox.diff"
	InboxDown  Action = "inbox.down"
	InboxUp    Action = "inbox.up"
	InboxLeave Action = "inbox.leave"

	Machines Action = "machines"
	Browser  Action = "browser"

	Requests      Action = "requests"
	QuestionOpen  Action = "question.open"
	RequestAllow  Action = "request.allow"
	RequestAlways Action = "request.always"
	RequestDeny   Action = "request.deny"
	RequestNext   Action = "request.next"

	Accept Action = "accept"
	Cancel Action = "cancel"
	Close  Action = "close"

	FormNext     Action = "form.next"
	FormPrevious Action = "form.previous"
	FormDown     Action = "form.down"
	FormUp       Action = "form.up"

	ThemePick Action = "theme"
	TipsHide  Action = "tips.hide"

	PickerDown     Action = "picker.down"
	PickerUp       Action = "picker.up"
	PickerPageDown Action = "picker.pagedown"
	PickerPageUp   Action = "picker.pageup"

	HelpSearch   Action = "help.search"
	HelpDown     Action = "help.down"
	HelpUp       Action = "help.up"
	HelpPageDown Action = "help.pagedown"
	HelpPageUp   Action = "help.pageup"
	HelpFirst    Action = "help.first"
	HelpLast     Action = "help.last"
)

// A Scope is a context in which keys have a meaning.
type Scope string

const (
	ScopeGlobal   Scope = "global"   // everywhere, including terminals
	ScopePrefix   Scope = "prefix"   // the key after the prefix
	ScopeTerminal Scope = "terminal" // a live terminal: keys go to its program
	ScopeList     Scope = "list"     // every pane with a list
	ScopeScroll   Scope = "scroll"   // scroll and copy mode
	ScopeLog      Scope = "log"      // the log of a process
	ScopePreview  Scope = "preview"  // the preview of a file
	ScopeHelp     Scope = "help"     // the overlay of keys
	ScopeDialog   Scope = "dialog"   // a question with two buttons
	ScopeRequest  Scope = "request"  // an agent's request
	ScopeInbox    Scope = "inbox"    // the inbox
	ScopePrompt   Scope = "prompt"   // a line of text being typed
	ScopePicker   Scope = "picker"   // a list narrowed by typing
	ScopeForm     Scope = "form"     // several lines of text
	ScopeRecall   Scope = "recall"   // the line to search the history
	ScopeOutputs  Scope = "output"   // the line to search all output
	ScopeLines    Scope = "lines"    // the lines found there

	ScopeInterrupted Scope = "interrupted" // a session that a reboot or crash ended
)

// A scopeInfo describes a scope.
type scopeInfo struct {
	scope Scope
	title string  // heading in help
	outer []Scope // looked up after it
}

// listScopes lists the scopes in the order of the reference.
func listScopes() []scopeInfo {
	global := []Scope{ScopeGlobal}
	all := []scopeInfo{
		{ScopePrefix, "After the prefix", nil},
		{ScopeTerminal, "Terminal", global},
		{ScopeInterrupted, "Session that a reboot or crash ended", global},
	}
	for _, v := range Views() {
		all = append(all, scopeInfo{v.Scope, v.Name, []Scope{ScopeList, ScopeGlobal}})
	}
	return append(all, []scopeInfo{
		{ScopeList, "Lists", global},
		{ScopeGlobal, "Everywhere", nil},
		{ScopeScroll, "Scroll mode", global},
		{ScopeLog, "Log", global},
		{ScopePreview, "Preview", global},
		{ScopeHelp, "Help", nil},
		{ScopeRequest, "Request of an agent", nil},
		{ScopeInbox, "Inbox", nil},
		{ScopePrompt, "Prompt", nil},
		{ScopePicker, "Palette", nil},
		{ScopeDialog, "Question", nil},
		{ScopeForm, "Form", nil},
		{ScopeRecall, "Search of the history", global},
		{ScopeOutputs, "Search of all output", nil},
		{ScopeLines, "Lines found in all output", nil},
	}...)
}

// Title returns the scope's heading in help.
func (s Scope) Title() string {
	for _, info := range listScopes() {
		if info.scope == s {
			return info.title
		}
	}
	return string(s)
}

// Chains lists the scopes looked up together, from the focused pane outward. A key may have only
// one meaning per chain.
func Chains() (chains [][]Scope) {
	for _, info := range listScopes() {
		chains = append(chains, append([]Scope{info.scope}, info.outer...))
	}
	return chains
}

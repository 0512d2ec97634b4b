package api

// The operation table. An operation is called with its Call method and served
// with Handle; docs/api.md is made from this list.
var (
	EngineInfo = Operation[Empty, Info]{"engine.info",
		"Tells the engine's and keeper's pids, version and paths.", Read}
	EngineStop = Operation[EngineStopInput, Empty]{"engine.stop",
		"Stops the engine; sessions and processes go on unless all is set.", Destructive}

	SessionStart = Operation[SessionStartInput, Process]{"session.start",
		"Starts a program in a new terminal.", Write}
	SessionList = Operation[Empty, SessionListOutput]{"session.list",
		"Lists sessions, those that have ended included.", Read}
	SessionGet = Operation[IDInput, Process]{"session.get",
		"Tells all about one session.", Read}
	SessionWrite = Operation[SessionWriteInput, Empty]{"session.write",
		"Types text or named keys into a session.", Write}
	SessionRead = Operation[SessionReadInput, SessionReadOutput]{"session.read",
		"Reads a session's output from an absolute byte offset.", Read}
	SessionScreen = Operation[SessionScreenInput, Screen]{"session.screen",
		"Shows what a session's terminal displays now.", Read}
	SessionResize = Operation[SessionResizeInput, Empty]{"session.resize",
		"Sets the size of a session's terminal.", Write}
	SessionRename = Operation[SessionRenameInput, Process]{"session.rename",
		"Gives a session another name.", Write}
	SessionKill = Operation[IDInput, Process]{"session.kill",
		"Ends a session and all that runs in it, and answers when it has ended.", Destructive}

	ProcessRemove = Operation[IDInput, Empty]{"process.remove",
		"Forgets a session or process that has ended, with its log.", Destructive}
)

// Operations lists the whole table in a fixed order.
func Operations() []Entry {
	return []Entry{
		EngineInfo.entry(), EngineStop.entry(),
		SessionStart.entry(), SessionList.entry(), SessionGet.entry(), SessionWrite.entry(),
		SessionRead.entry(), SessionScreen.entry(), SessionResize.entry(), SessionRename.entry(),
		SessionKill.entry(),
		ProcessRemove.entry(),
	}
}

// Info is the answer of engine.info.
type Info struct {
	EnginePID int    `json:"engine_pid"`
	KeeperPID int    `json:"keeper_pid"` // 0 while a new keeper is being started
	Version   string `json:"version"`
	Protocol  int    `json:"protocol"`
	DataDir   string `json:"data_dir"`
	Socket    string `json:"socket"`
	BootID    string `json:"boot_id"`
	Running   int    `json:"running"` // sessions and processes with a live child
}

// IDInput names one session or process: its id, a prefix of the id that no
// other has, or its name.
type IDInput struct {
	ID string `json:"id"`
}

// EngineStopInput is the input of engine.stop.
type EngineStopInput struct {
	All     bool   `json:"all,omitempty"`     // end every session and process, and the keeper, first
	Replace string `json:"replace,omitempty"` // executable of the engine that the keeper starts instead
}

// SessionStartInput is the input of session.start.
type SessionStartInput struct {
	Command []string          `json:"command,omitempty"` // argv; empty is the person's shell
	Name    string            `json:"name,omitempty"`    // default: the program's base name, made unique
	CWD     string            `json:"cwd,omitempty"`     // default: the home directory
	Env     map[string]string `json:"env,omitempty"`     // added to the engine's environment
	Cols    int               `json:"cols,omitempty"`    // default 80
	Rows    int               `json:"rows,omitempty"`    // default 24
	Actor   string            `json:"actor,omitempty"`   // default "person"
}

// SessionListOutput is the output of session.list, oldest first.
type SessionListOutput struct {
	Sessions []Process `json:"sessions"`
}

// SessionWriteInput is the input of session.write. Of Text, Keys and Paste
// what is set is sent, in this order.
type SessionWriteInput struct {
	ID    string   `json:"id"`
	Text  string   `json:"text,omitempty"`  // sent as it is
	Keys  []string `json:"keys,omitempty"`  // key names, "ctrl+c", "up", "enter", encoded for the program's modes
	Paste string   `json:"paste,omitempty"` // sent as a paste, bracketed when the program asked for it
}

// SessionReadInput is the input of session.read.
type SessionReadInput struct {
	ID    string `json:"id"`
	Since int64  `json:"since"`         // absolute offset; negative counts from the end
	Max   int    `json:"max,omitempty"` // bytes; default 64 KiB, at most 1 MiB
}

// SessionReadOutput is the output of session.read: raw terminal bytes, with
// what is not UTF-8 replaced.
type SessionReadOutput struct {
	Data       string `json:"data"`
	NextCursor int64  `json:"next_cursor"` // Since of the next call
	Dropped    int64  `json:"dropped"`     // bytes after Since that the log's bound has cost
	State      State  `json:"state"`
}

// SessionScreenInput is the input of session.screen.
type SessionScreenInput struct {
	ID         string `json:"id"`
	ANSI       bool   `json:"ansi,omitempty"`       // keep colours and styles as SGR sequences
	Scrollback int    `json:"scrollback,omitempty"` // this many lines of history before the screen
}

// Screen is what a terminal displays. Lines carry no trailing blanks and no
// control characters but the SGR sequences asked for.
type Screen struct {
	Cols      int      `json:"cols"`
	Rows      int      `json:"rows"`
	Lines     []string `json:"lines"`
	Cursor    Cursor   `json:"cursor"`
	Title     string   `json:"title"`
	AltScreen bool     `json:"alt_screen"`
	State     State    `json:"state"`
}

// SessionResizeInput is the input of session.resize.
type SessionResizeInput struct {
	ID   string `json:"id"`
	Cols int    `json:"cols"` // 1…1000
	Rows int    `json:"rows"` // 1…1000
}

// SessionRenameInput is the input of session.rename.
type SessionRenameInput struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

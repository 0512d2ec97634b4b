package api

import (
	"context"
	"fmt"
)

// The operation table. An operation is called with its Call method and served
// with Handle; docs/api.md is made from this list.
var (
	EngineInfo = NewOperation[Empty, Info]("engine.info",
		"Tells the engine's and keeper's pids, version and paths.", Read)
	EngineStop = NewOperation[EngineStopInput, Empty]("engine.stop",
		"Stops the engine; sessions and processes go on unless all is set.", Destructive)
	EngineOperations = NewOperation[Empty, EngineOperationsOutput]("engine.operations",
		"Lists the operations that the engine has, and the fields that each understands.", Read)

	SessionStart = NewOperation[SessionStartInput, Process]("session.start",
		"Starts a program in a new terminal.", Write)
	SessionList = NewOperation[Empty, SessionListOutput]("session.list",
		"Lists sessions, those that have ended included.", Read)
	SessionGet = NewOperation[IDInput, Process]("session.get",
		"Tells all about one session.", Read)
	SessionWrite = NewOperation[SessionWriteInput, SessionWriteOutput]("session.write",
		"Types text or named keys into a session, and returns once its terminal has accepted them, after at most 2 seconds.", Write)
	SessionRead = NewOperation[SessionReadInput, SessionReadOutput]("session.read",
		"Reads a session's output from an absolute byte offset.", Read)
	SessionScreen = NewOperation[SessionScreenInput, Screen]("session.screen",
		"Shows what a session's terminal displays now.", Read)
	SessionResize = NewOperation[SessionResizeInput, Empty]("session.resize",
		"Sets the size of a session's terminal.", Write)
	SessionRename = NewOperation[SessionRenameInput, Process]("session.rename",
		"Gives a session another name.", Write)
	SessionKill = NewOperation[IDInput, Process]("session.kill",
		"Ends a session and all that runs in it, and answers when it has ended.", Destructive)

	ProcessStart = NewOperation[ProcessStartInput, Process]("process.start",
		"Starts a program in the background and supervises it.", Write)
	ProcessList = NewOperation[ProcessListInput, ProcessListOutput]("process.list",
		"Lists sessions and processes, those that have ended included.", Read)
	ProcessGet = NewOperation[IDInput, Process]("process.get",
		"Tells all about one session or process, measured.", Read)
	ProcessStop = NewOperation[ProcessStopInput, Process]("process.stop",
		"Ends a process and all that it started, and answers when nothing of it is left.", Destructive)
	ProcessStopAll = NewOperation[ProcessStopAllInput, ProcessStopAllOutput]("process.stop_all",
		"Ends all processes.", Destructive)
	ProcessRestart = NewOperation[ProcessRestartInput, Process]("process.restart",
		"Restarts a process; one that has ended is started again.", Destructive)
	ProcessSignal = NewOperation[ProcessSignalInput, Empty]("process.signal",
		"Sends a signal to a process and all in its group.", Destructive)
	ProcessLog = NewOperation[ProcessLogInput, ProcessLogOutput]("process.log",
		"Reads or searches the log of a session or process.", Read)
	ProcessWait = NewOperation[ProcessWaitInput, ProcessWaitOutput]("process.wait",
		"Waits until a process has ended, is ready, prints something, listens or falls silent.", Read)
	ProcessUpdate = NewOperation[ProcessUpdateInput, Process]("process.update",
		"Changes the name, restart policy or log bound of a process.", Write)
	ProcessRemove = NewOperation[IDInput, Empty]("process.remove",
		"Forgets a session or process that has ended, with its log.", Destructive)

	Exec = NewOperation[ExecInput, ExecOutput]("exec",
		"Runs a command and gives its output and exit status.", Destructive)

	EnvGet = NewOperation[EnvInput, EnvVar]("env.get",
		"Reads a variable of the environment for what is started from now on.", Read)
	EnvSet = NewOperation[EnvSetInput, Empty]("env.set",
		"Sets a variable of the environment for what is started from now on.", Write)
	EnvUnset = NewOperation[EnvInput, Empty]("env.unset",
		"Removes a variable that env.set has set.", Write)
	EnvList = NewOperation[EnvListInput, EnvListOutput]("env.list",
		"Lists what env.set has set.", Read)
)

// Operations lists the whole table in a fixed order.
func Operations() []Entry {
	return []Entry{
		EngineInfo.Entry, EngineStop.Entry, EngineOperations.Entry, EnginePeer.Entry,
		SessionStart.Entry, SessionList.Entry, SessionGet.Entry, SessionWrite.Entry,
		SessionRead.Entry, SessionScreen.Entry, SessionResize.Entry, SessionRename.Entry,
		SessionKill.Entry, SessionFind.Entry, SessionText.Entry, SessionRecord.Entry,
		ProcessStart.Entry, ProcessList.Entry, ProcessGet.Entry, ProcessStop.Entry,
		ProcessStopAll.Entry, ProcessRestart.Entry, ProcessSignal.Entry, ProcessLog.Entry,
		ProcessWait.Entry, ProcessUpdate.Entry, ProcessRemove.Entry,
		SessionExec.Entry, SessionWait.Entry, SessionForeground.Entry, SessionKeyboard.Entry, ProcessWrite.Entry,
		AgentReport.Entry, AgentExplain.Entry, AgentSeen.Entry, AgentWait.Entry,
		Exec.Entry,
		HistorySearch.Entry, HistoryAdd.Entry, HistoryRemove.Entry, HistoryClear.Entry,
		HistorySave.Entry, HistoryLoad.Entry, HistoryLoading.Entry, HistoryStats.Entry,
		CommandsList.Entry, CommandsAdd.Entry, CommandsReplace.Entry,
		FilesRead.Entry, FilesReadJSON.Entry, FilesWrite.Entry, FilesEdit.Entry, FilesReport.Entry,
		FilesList.Entry, FilesStat.Entry, FilesMkdir.Entry, FilesSet.Entry, FilesDelete.Entry, FilesMove.Entry,
		FilesCopy.Entry, FilesFind.Entry, FilesGrep.Entry, FilesTransfer.Entry, FilesJob.Entry,
		FilesCancel.Entry, FilesRestore.Entry, FilesTrashed.Entry, FilesWatch.Entry, FilesGit.Entry,
		PolicyCheck.Entry, RequestList.Entry, RequestAnswer.Entry, AuditAdd.Entry, AuditList.Entry,
		EnvGet.Entry, EnvSet.Entry, EnvUnset.Entry, EnvList.Entry,
		MachineList.Entry, MachineConnect.Entry, FleetStatus.Entry, FleetList.Entry, FleetProcesses.Entry, FleetHistory.Entry, FleetAny.Entry,
		LayoutGet.Entry, LayoutPut.Entry, LayoutRemove.Entry,
		WorktreeAdd.Entry, WorktreeList.Entry, WorktreeRemove.Entry,
	}
}

// Info is the answer of engine.info.
type Info struct {
	EnginePID      int    `json:"engine_pid" jsonschema:"process id of the engine"`
	KeeperPID      int    `json:"keeper_pid" jsonschema:"process id of the keeper; 0 while a new one is being started"`
	Version        string `json:"version" jsonschema:"version of the engine"`
	Protocol       int    `json:"protocol" jsonschema:"highest number of the API that the engine speaks"`
	OldestProtocol int    `json:"oldest_protocol,omitempty" jsonschema:"lowest number of the API that it speaks; missing: the same"`
	DataDir        string `json:"data_dir" jsonschema:"the data folder"`
	Home           string `json:"home,omitempty" jsonschema:"the home folder of its user"`
	Shell          string `json:"shell,omitempty" jsonschema:"what can run a command line: bash, or sh where there is none"`
	Socket         string `json:"socket" jsonschema:"path of the engine's socket"`
	BootID         string `json:"boot_id" jsonschema:"id of the boot that the pids belong to"`
	Running        int    `json:"running" jsonschema:"sessions and processes with a live child"`

	Unread []string `json:"unread,omitempty" jsonschema:"records that cannot be read at the moment, with the reason; their processes keep running but are missing from lists until then"`
}

// EngineOperationsOutput is the output of engine.operations.
type EngineOperationsOutput struct {
	Operations []OperationFields `json:"operations" jsonschema:"in the order of the table"`
}

// OperationFields is an operation as an engine of any release knows it.
type OperationFields struct {
	Name   string   `json:"name" jsonschema:"of the operation"`
	Input  []string `json:"input" jsonschema:"fields that it understands"`
	Output []string `json:"output" jsonschema:"fields that it answers with"`
}

// IDInput names one session or process: its id, a prefix of the id that no
// other has, or its name.
type IDInput struct {
	ID string `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
}

// EngineStopInput is the input of engine.stop.
type EngineStopInput struct {
	All     bool   `json:"all,omitempty" jsonschema:"end every session and process, and the keeper, first"`
	Replace string `json:"replace,omitempty" jsonschema:"path of the executable that the keeper starts as the engine instead"`
	Restart bool   `json:"restart,omitempty" jsonschema:"start the same engine again; sessions and processes go on"`
}

// ShellPrompt is the variable of a session's environment that gives bash, zsh and Python a prompt in
// place of the user's. Their startup scripts take it out of the environment.
const ShellPrompt = "TANDEM_SHELL_PROMPT"

// SessionStartInput is the input of session.start.
type SessionStartInput struct {
	Command []string          `json:"command,omitempty" jsonschema:"program and arguments; default the user's shell"`
	Name    string            `json:"name,omitempty" jsonschema:"default: the program's base name, made unique"`
	CWD     string            `json:"cwd,omitempty" jsonschema:"working directory; default the home directory"`
	Env     map[string]string `json:"env,omitempty" jsonschema:"environment variables on top of the engine's"`
	Environ map[string]string `json:"environ,omitempty" jsonschema:"the environment to start from, the caller's for example; default: the engine's own"`
	Umask   string            `json:"umask,omitempty" jsonschema:"file mode creation mask in octal, such as 0022; default: the engine's"`
	CWDOf   string            `json:"cwd_of,omitempty" jsonschema:"session in whose present folder to start, where that can be told; else cwd"`
	Cols    int               `json:"cols,omitempty" jsonschema:"width in cells; default 80"`
	Rows    int               `json:"rows,omitempty" jsonschema:"height in cells; default 24"`
	Actor   string            `json:"actor,omitempty" jsonschema:"who starts it, \"person\" or \"agent:NAME\"; default \"person\""`
	Lease   Lease             `json:"lease,omitempty" jsonschema:"of what an agent starts: detached, session or forever; default detached"`
	Sandbox *Sandbox          `json:"sandbox,omitempty" jsonschema:"confinement"`
	ID      string            `json:"id,omitempty" jsonschema:"12 lower-case hex digits that no other has, by which the caller knows the session before the answer and may ask for it again; default: new ones"`
}

// SessionListOutput is the output of session.list, oldest first.
type SessionListOutput struct {
	Sessions []Process `json:"sessions" jsonschema:"oldest first"`
}

// SessionWriteInput is the input of session.write. Of Text, Keys and Paste
// what is set is sent, in this order.
type SessionWriteInput struct {
	ID    string   `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	Text  string   `json:"text,omitempty" jsonschema:"sent as it is"`
	Keys  []string `json:"keys,omitempty" jsonschema:"key names such as ctrl+c, up or enter, encoded for the program's modes"`
	Paste string   `json:"paste,omitempty" jsonschema:"sent as a paste, bracketed when the program asked for it"`
}

// SessionWriteOutput is the output of session.write. Bytes are counted as sent to the
// terminal: first the text, then the encoded keys and paste.
type SessionWriteOutput struct {
	Written int `json:"written" jsonschema:"number of bytes that the terminal accepted: first of the text, then of the encoded keys and paste"`
	Dropped int `json:"dropped,omitempty" jsonschema:"number of remaining bytes, not accepted in time; they are not written later"`
}

// TypeInto types into a session. It returns an error if the terminal does not accept all input.
func TypeInto(ctx context.Context, e Engine, in SessionWriteInput) error {
	out, err := SessionWrite.Call(ctx, e, in)
	if err != nil {
		return err
	}
	return out.Short(in.ID)
}

// Short returns an error if the terminal of the session called name did not accept all
// input. The error says how much was written and how to send the rest.
func (o SessionWriteOutput) Short(name string) error {
	if o.Dropped == 0 {
		return nil
	}
	return Errorf(CodeConflict, "type into %s: the program is not reading input: wrote %d of %d bytes", name, o.Written, o.Written+o.Dropped).
		WithHint(fmt.Sprintf("Wait until the program reads its input, then send the rest, without the first %d bytes.", o.Written))
}

// SessionReadInput is the input of session.read.
type SessionReadInput struct {
	ID    string `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	Since int64  `json:"since" jsonschema:"absolute offset; negative counts from the end"`
	Max   int    `json:"max,omitempty" jsonschema:"bytes at most; default 64 KiB, limit 1 MiB"`
	Plain bool   `json:"plain,omitempty" jsonschema:"the end of it as the terminal shows it: text without what was overwritten and a prompt where nothing is typed yet, and nothing of a full-screen program"`
}

// SessionReadOutput is the output of session.read: raw terminal bytes, with
// what is not UTF-8 replaced.
type SessionReadOutput struct {
	Data       string `json:"data" jsonschema:"raw terminal bytes, with what is not UTF-8 replaced"`
	NextCursor int64  `json:"next_cursor" jsonschema:"since of the next call"`
	Dropped    int64  `json:"dropped" jsonschema:"bytes after since that are gone because the log is bounded"`
	State      State  `json:"state" jsonschema:"of the session"`
	AltScreen  bool   `json:"alt_screen,omitempty" jsonschema:"a full-screen program is shown"`
}

func (o *SessionReadOutput) Bulk() []Member {
	return []Member{{Name: "data", Text: &o.Data}}
}

// SessionScreenInput is the input of session.screen.
type SessionScreenInput struct {
	ID         string `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	ANSI       bool   `json:"ansi,omitempty" jsonschema:"keep colours and styles as SGR sequences"`
	Scrollback int    `json:"scrollback,omitempty" jsonschema:"this many lines of history before the screen"`
	Picture    string `json:"picture,omitempty" jsonschema:"png or svg: draw it too"`
	Ends       bool   `json:"ends,omitempty" jsonschema:"report how each line ends"`
}

// Screen is what a terminal displays. Lines carry no trailing blanks and no
// control characters but the SGR sequences asked for.
type Screen struct {
	Cols      int      `json:"cols" jsonschema:"width in cells"`
	Rows      int      `json:"rows" jsonschema:"height in cells"`
	Lines     []string `json:"lines" jsonschema:"history asked for, then the rows of the screen, without trailing blanks"`
	Cursor    Cursor   `json:"cursor" jsonschema:"where it is and how it looks"`
	Title     string   `json:"title" jsonschema:"set by the program"`
	AltScreen bool     `json:"alt_screen" jsonschema:"the alternate screen is shown"`
	State     State    `json:"state" jsonschema:"of the session"`
	Picture   []byte   `json:"picture,omitempty" jsonschema:"base64: the picture asked for"`

	Ends []LineEnd `json:"ends,omitempty" jsonschema:"how each line ends, if asked for"`
}

// LineEnd is how a line of a Screen ends.
type LineEnd struct {
	Printed int  `json:"printed" jsonschema:"cells up to the last one printed, blanks included; above the screen, blanks that end a line are lost"`
	Wrapped bool `json:"wrapped,omitempty" jsonschema:"the line continues in the next one"`
}

func (o *Screen) Bulk() []Member {
	return []Member{{Name: "picture", Data: &o.Picture}}
}

// SessionResizeInput is the input of session.resize.
type SessionResizeInput struct {
	ID   string `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	Cols int    `json:"cols" jsonschema:"width in cells, 1 to 1000"`
	Rows int    `json:"rows" jsonschema:"height in cells, 1 to 1000"`
}

// SessionRenameInput is the input of session.rename.
type SessionRenameInput struct {
	ID   string `json:"id" jsonschema:"id or name, or the beginning of one that no other has"`
	Name string `json:"name" jsonschema:"the new name"`

	Revision int64 `json:"revision,omitempty" jsonschema:"revision of the session that this change is based on; conflict if changed since; 0 for any"`
}

package api

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// This is the table of operations. Clients use Call, and the engine uses server.Handle. docs/api.md
// is generated from it.
var (
	EngineInfo = NewOperation[Empty, Info]("engine.info",
		"Returns the engine's and keeper's pids, version and paths.", Read,
		Row[Empty]{Access: Unrestricted})
	EngineStop = NewOperation[EngineStopInput, Empty]("engine.stop",
		"Stops the engine; sessions and processes keep running unless all is set.", Destructive,
		Row[EngineStopInput]{Access: Unrestricted, Outlives: true, Repeat: RepeatNever})
	EngineOperations = NewOperation[Empty, EngineOperationsOutput]("engine.operations",
		"Lists the engine's operations and the fields of each.", Read,
		Row[Empty]{Access: Unrestricted})

	SessionStart = NewOperation[SessionStartInput, Process]("session.start",
		"Starts a program in a new terminal.", Write,
		Row[SessionStartInput]{Access: Starting, Repeat: RepeatMarked, OtherID: (*SessionStartInput).otherID,
			Subject: (*SessionStartInput).subject, Adapt: (*SessionStartInput).adapt})
	SessionList = NewOperation[Empty, SessionListOutput]("session.list",
		"Lists sessions, including those that have exited.", Read,
		Row[Empty]{Access: Unrestricted})
	SessionGet = NewOperation[IDInput, Process]("session.get",
		"Returns all details of one session.", Read,
		Row[IDInput]{Access: Unrestricted, IDs: (*IDInput).ids})
	SessionWrite = NewOperation[SessionWriteInput, SessionWriteOutput]("session.write",
		"Types text or named keys into a session, and returns once its terminal has accepted them, or after 2 seconds.", Write,
		Row[SessionWriteInput]{Access: Typing, Repeat: RepeatNever, IDs: (*SessionWriteInput).ids, Subject: (*SessionWriteInput).subject})
	SessionInsert = NewOperation[SessionInsertInput, Empty]("session.insert",
		"Types a command at a session's prompt without running it.", Write,
		Row[SessionInsertInput]{Access: Typing, Repeat: RepeatNever, IDs: (*SessionInsertInput).ids, Subject: (*SessionInsertInput).subject})
	SessionRead = NewOperation[SessionReadInput, SessionReadOutput]("session.read",
		"Reads a session's output from an absolute byte offset.", Read,
		Row[SessionReadInput]{Access: Unrestricted, IDs: (*SessionReadInput).ids})
	SessionScreen = NewOperation[SessionScreenInput, Screen]("session.screen",
		"Returns the current screen of a session.", Read,
		Row[SessionScreenInput]{Access: Unrestricted, IDs: (*SessionScreenInput).ids})
	SessionResize = NewOperation[SessionResizeInput, Empty]("session.resize",
		"Sets the size of a session's terminal.", Write,
		Row[SessionResizeInput]{Access: Changing, Repeat: RepeatAlways, IDs: (*SessionResizeInput).ids})
	SessionRename = NewOperation[SessionRenameInput, Process]("session.rename",
		"Renames a session.", Write,
		Row[SessionRenameInput]{Access: Changing, Repeat: RepeatMarked, IDs: (*SessionRenameInput).ids})
	SessionKill = NewOperation[IDInput, Process]("session.kill",
		"Kills a session and everything running in it, and returns once it has exited.", Destructive,
		Row[IDInput]{Access: Changing, Outlives: true, Repeat: RepeatEnded, IDs: (*IDInput).ids})

	ProcessStart = NewOperation[ProcessStartInput, Process]("process.start",
		"Starts a program in the background and supervises it.", Write,
		Row[ProcessStartInput]{Access: Starting, Repeat: RepeatMarked, OtherID: (*ProcessStartInput).otherID,
			Subject: (*ProcessStartInput).subject, Adapt: (*ProcessStartInput).adapt})
	ProcessList = NewOperation[ProcessListInput, ProcessListOutput]("process.list",
		"Lists sessions and processes, including those that have exited.", Read,
		Row[ProcessListInput]{Access: Unrestricted})
	ProcessGet = NewOperation[IDInput, Process]("process.get",
		"Returns all details of one session or process, with its metrics.", Read,
		Row[IDInput]{Access: Unrestricted, IDs: (*IDInput).ids})
	ProcessStop = NewOperation[ProcessStopInput, Process]("process.stop",
		"Stops a process and everything it started, and returns once all have exited.", Destructive,
		Row[ProcessStopInput]{Access: Changing, Outlives: true, Repeat: RepeatEnded, IDs: (*ProcessStopInput).ids})
	ProcessStopAll = NewOperation[ProcessStopAllInput, ProcessStopAllOutput]("process.stop_all",
		"Stops all processes.", Destructive,
		Row[ProcessStopAllInput]{Access: Changing, Outlives: true, Repeat: RepeatAlways})
	ProcessRestart = NewOperation[ProcessRestartInput, Process]("process.restart",
		"Restarts a process, or starts it again if it has exited.", Destructive,
		Row[ProcessRestartInput]{Access: Changing, Outlives: true, Repeat: RepeatMarked, IDs: (*ProcessRestartInput).ids})
	ProcessSignal = NewOperation[ProcessSignalInput, Empty]("process.signal",
		"Sends a signal to a process and its group.", Destructive,
		Row[ProcessSignalInput]{Access: Changing, Repeat: RepeatNever, IDs: (*ProcessSignalInput).ids})
	ProcessLog = NewOperation[ProcessLogInput, ProcessLogOutput]("process.log",
		"Reads or searches the log of a session or process.", Read,
		Row[ProcessLogInput]{Access: Unrestricted, IDs: (*ProcessLogInput).ids})
	ProcessLogs = NewOperation[ProcessLogsInput, ProcessLogsOutput]("process.logs",
		"Reads or searches the logs of several sessions and processes as one, in the order of time.", Read,
		Row[ProcessLogsInput]{Access: Unrestricted, IDs: (*ProcessLogsInput).ids, Several: true})
	ProcessWait = NewOperation[ProcessWaitInput, ProcessWaitOutput]("process.wait",
		"Waits until a process exits, is ready, prints something, listens on a port or falls silent.", Read,
		Row[ProcessWaitInput]{Access: Unrestricted, IDs: (*ProcessWaitInput).ids})
	ProcessUpdate = NewOperation[ProcessUpdateInput, Process]("process.update",
		"Changes the name, restart policy or log limit of a process.", Write,
		Row[ProcessUpdateInput]{Access: Changing, Repeat: RepeatMarked, IDs: (*ProcessUpdateInput).ids})
	ProcessRemove = NewOperation[IDInput, Empty]("process.remove",
		"Deletes the record and log of an exited session or process.", Destructive,
		Row[IDInput]{Access: Changing, Outlives: true, Repeat: RepeatGone, IDs: (*IDInput).ids})

	Exec = NewOperation[ExecInput, ExecOutput]("exec",
		"Runs a command and returns its output and exit status.", Destructive,
		Row[ExecInput]{Access: Starting, Repeat: RepeatMarked, OtherID: (*ExecInput).otherID,
			Subject: (*ExecInput).subject, Adapt: (*ExecInput).adapt})

	EnvGet = NewOperation[EnvInput, EnvVar]("env.get",
		"Returns a variable from the environment of future sessions and processes.", Read,
		Row[EnvInput]{Access: Unrestricted})
	EnvSet = NewOperation[EnvSetInput, Empty]("env.set",
		"Sets a variable in the environment of future sessions and processes.", Write,
		Row[EnvSetInput]{Access: OnVariables, Repeat: RepeatAlways})
	EnvUnset = NewOperation[EnvInput, Empty]("env.unset",
		"Removes a variable set by env.set.", Write,
		Row[EnvInput]{Access: OnVariables, Repeat: RepeatGone})
	EnvList = NewOperation[EnvListInput, EnvListOutput]("env.list",
		"Lists the variables set by env.set.", Read,
		Row[EnvListInput]{Access: Unrestricted})
)

// Operations returns the whole table, in a fixed order.
func Operations() []Entry {
	return []Entry{
		EngineInfo.Entry, EngineStop.Entry, EngineOperations.Entry, EnginePeer.Entry,
		SessionStart.Entry, SessionList.Entry, SessionGet.Entry, SessionWrite.Entry, SessionInsert.Entry,
		SessionRead.Entry, SessionScreen.Entry, SessionResize.Entry, SessionRename.Entry,
		SessionKill.Entry, SessionFind.Entry, SessionText.Entry, SessionRecord.Entry, SessionRestore.Entry, SessionDismiss.Entry,
		ProcessStart.Entry, ProcessList.Entry, ProcessGet.Entry, ProcessStop.Entry,
		ProcessStopAll.Entry, ProcessRestart.Entry, ProcessSignal.Entry, ProcessLog.Entry, ProcessLogs.Entry,
		ProcessWait.Entry, ProcessUpdate.Entry, ProcessRemove.Entry, OutputSearch.Entry, ScrubFind.Entry, ScrubRun.Entry,
		SessionExec.Entry, SessionWait.Entry, SessionForeground.Entry, SessionKeyboard.Entry, ProcessWrite.Entry,
		AgentReport.Entry, AgentExplain.Entry, AgentSeen.Entry, AgentWait.Entry,
		Exec.Entry,
		HistorySearch.Entry, HistoryAdd.Entry, HistoryRemove.Entry, HistoryClear.Entry,
		HistorySave.Entry, HistoryLoad.Entry, HistoryLoading.Entry, HistoryStats.Entry,
		CommandsList.Entry, CommandsAdd.Entry, CommandsReplace.Entry,
		FilesRead.Entry, FilesReadJSON.Entry, FilesWrite.Entry, FilesEdit.Entry, FilesReport.Entry,
		FilesList.Entry, FilesStat.Entry, FilesMkdir.Entry, FilesSet.Entry, FilesDelete.Entry, FilesMove.Entry,
		FilesCopy.Entry, FilesFind.Entry, FilesGrep.Entry, FilesTransfer.Entry, FilesTransferBetween.Entry, FilesJob.Entry,
		FilesCancel.Entry, FilesRestore.Entry, FilesTrashed.Entry, FilesWatch.Entry, FilesGit.Entry,
		PolicyCheck.Entry, PolicyEnd.Entry, RequestList.Entry, RequestAnswer.Entry, RequestUndo.Entry, AuditList.Entry,
		EnvGet.Entry, EnvSet.Entry, EnvUnset.Entry, EnvList.Entry,
		MachineList.Entry, MachineConnect.Entry, FleetStatus.Entry, FleetList.Entry, FleetAny.Entry,
		LayoutGet.Entry, LayoutChanges.Entry, LayoutPut.Entry, LayoutRemove.Entry,
		WorktreeAdd.Entry, WorktreeList.Entry, WorktreeRemove.Entry,
	}
}

// Info is the output of engine.info.
type Info struct {
	EnginePID      int       `json:"engine_pid" jsonschema:"process id of the engine"`
	StartedAt      time.Time `json:"started_at" jsonschema:"when the engine's program started; an upgrade or a restart changes it, not the process id"`
	KeeperPID      int       `json:"keeper_pid" jsonschema:"process id of the keeper; 0 while a new one is being started"`
	Version        string    `json:"version" jsonschema:"version of the engine"`
	Protocol       int       `json:"protocol" jsonschema:"highest protocol of the engine"`
	OldestProtocol int       `json:"oldest_protocol,omitempty" jsonschema:"lowest protocol of the engine; if missing, the same as \"protocol\""`
	DataDir        string    `json:"data_dir" jsonschema:"the data folder"`
	Home           string    `json:"home,omitempty" jsonschema:"the home folder of its user"`
	Shell          string    `json:"shell,omitempty" jsonschema:"the shell for command lines: bash, or sh if there is no bash"`
	Socket         string    `json:"socket" jsonschema:"path of the engine's socket"`
	BootID         string    `json:"boot_id" jsonschema:"id of the boot to which the pids belong"`
	Running        int       `json:"running" jsonschema:"sessions and processes with a live child"`

	KeptOutput *KeptOutput `json:"kept_output,omitempty" jsonschema:"output kept of sessions and one-shot commands whose records were removed to make room; missing from an older engine"`

	Unread []string `json:"unread,omitempty" jsonschema:"sessions and processes unreachable at the moment, because a record or terminal cannot be read, with the reason; they keep running but are missing from lists until then"`
}

// EngineOperationsOutput is the output of engine.operations.
type EngineOperationsOutput struct {
	Operations []OperationFields `json:"operations" jsonschema:"in the order of the table"`
}

// CheckInput returns an error unless the engine knows an input field of an operation. An engine of an
// older release ignores fields that it does not know.
func (out EngineOperationsOutput) CheckInput(operation, field string) error {
	for _, o := range out.Operations {
		if o.Name == operation && slices.Contains(o.Input, field) {
			return nil
		}
	}
	return Errorf(CodeNotSupported, "call %s: the engine is of an older release without %s", operation, field)
}

// OperationFields lists the fields of an operation, as known to the engine's release.
type OperationFields struct {
	Name   string   `json:"name" jsonschema:"name of the operation"`
	Input  []string `json:"input" jsonschema:"its input fields"`
	Output []string `json:"output" jsonschema:"its output fields"`
}

// IDInput names one session or process by its id, a unique prefix of the id, or its name. The error
// is not_found if there is no match, and ambiguous if there are several.
type IDInput struct {
	ID string `json:"id" jsonschema:"id, unique prefix of an id, or name"`
}

// EngineStopInput is the input of engine.stop.
type EngineStopInput struct {
	All     bool   `json:"all,omitempty" jsonschema:"stop every session and process, and the keeper, first"`
	Replace string `json:"replace,omitempty" jsonschema:"path of an executable to run as the engine from now on; sessions and processes keep running"`
	InPlace bool   `json:"in_place,omitempty" jsonschema:"the executable in \"replace\" can continue in the engine's process; otherwise the keeper starts it"`
	Restart bool   `json:"restart,omitempty" jsonschema:"start the same engine again; sessions and processes keep running"`
}

// ShellPrompt is an environment variable: the prompt of bash, zsh and Python in a session, in place
// of the user's. Tandem's startup scripts for these shells unset it.
const ShellPrompt = "TANDEM_SHELL_PROMPT"

// SessionStartInput is the input of session.start.
type SessionStartInput struct {
	Command []string          `json:"command,omitempty" jsonschema:"program and arguments; default the user's shell"`
	Name    string            `json:"name,omitempty" jsonschema:"default: the program's base name, made unique"`
	CWD     string            `json:"cwd,omitempty" jsonschema:"working directory; default the home directory"`
	Env     map[string]string `json:"env,omitempty" jsonschema:"environment variables on top of the engine's"`
	Environ map[string]string `json:"environ,omitempty" jsonschema:"the base environment, for example the caller's; default: the engine's own" audit:"-"`
	Umask   string            `json:"umask,omitempty" jsonschema:"file mode creation mask in octal, such as 0022; default: the engine's" audit:"-"`
	CWDOf   string            `json:"cwd_of,omitempty" jsonschema:"session whose current folder to start in, if known; otherwise \"cwd\""`
	Cols    int               `json:"cols,omitempty" jsonschema:"width in cells; default 80"`
	Rows    int               `json:"rows,omitempty" jsonschema:"height in cells; default 24"`
	Actor   string            `json:"actor,omitempty" jsonschema:"who starts it: person, agent:NAME, or tandem for itself; default person" audit:"-"`
	Lease   Lease             `json:"lease,omitempty" jsonschema:"if started by an agent: detached, session or forever; default detached"`
	Sandbox *Sandbox          `json:"sandbox,omitempty" jsonschema:"confinement"`
	Private bool              `json:"private,omitempty" jsonschema:"keep its screen, output, title, folder, command and input only in memory; only the user may ask for it"`
	ID      string            `json:"id,omitempty" jsonschema:"unique id of 12 lower-case hex digits, chosen by the caller so that it can retry the call; default: a new one"`
}

// SessionListOutput is the output of session.list, the oldest session first.
type SessionListOutput struct {
	Sessions []Process `json:"sessions" jsonschema:"oldest first"`
}

// SessionWriteInput is the input of session.write. Text, Keys and Paste are typed in this order.
type SessionWriteInput struct {
	ID    string   `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	Text  string   `json:"text,omitempty" jsonschema:"text to send unchanged" audit:"typed"`
	Keys  []string `json:"keys,omitempty" jsonschema:"key names such as ctrl+c, up or enter, encoded for the program's modes" audit:"typed"`
	Paste string   `json:"paste,omitempty" jsonschema:"text to send as a paste, bracketed when the program asked for it" audit:"typed"`
}

// SessionWriteOutput is the output of session.write. It counts the bytes sent to the terminal:
// first the text, then the encoded keys and the paste.
type SessionWriteOutput struct {
	Written int `json:"written" jsonschema:"number of bytes that the terminal accepted: first of the text, then of the encoded keys and paste"`
	Dropped int `json:"dropped,omitempty" jsonschema:"number of remaining bytes, not accepted in time; they are not written later"`
}

// TypeInto types into a session. It returns an error if the terminal does not accept all of the
// input.
func TypeInto(ctx context.Context, e Engine, in SessionWriteInput) error {
	out, err := SessionWrite.Call(ctx, e, in)
	if err != nil {
		return err
	}
	return out.ShortWriteError(in.ID)
}

// ShortWriteError returns an error if the terminal has not accepted all of the input. The error
// says how much was written and how to send the rest. name is the session.
func (o SessionWriteOutput) ShortWriteError(name string) error {
	if o.Dropped == 0 {
		return nil
	}
	return Errorf(CodeConflict, "type into %s: the program is not reading input: wrote %d of %d bytes", name, o.Written, o.Written+o.Dropped).
		WithHint(fmt.Sprintf("Wait until the program reads its input, then send the rest, without the first %d bytes.", o.Written))
}

// SessionInsertInput is the input of session.insert.
type SessionInsertInput struct {
	ID    string `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	Text  string `json:"text" jsonschema:"the command; control characters, and line breaks at its end, are left out" audit:"typed"`
	Lines bool   `json:"lines,omitempty" jsonschema:"type line breaks even if the program does not support pastes and may run each line; otherwise such a call fails with the reason runs_lines"`
}

// SessionReadInput is the input of session.read.
type SessionReadInput struct {
	ID    string `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	Since int64  `json:"since" jsonschema:"absolute offset; negative counts from the end"`
	Max   int    `json:"max,omitempty" jsonschema:"maximum bytes; default 64 KiB, at most 1 MiB"`
	Plain bool   `json:"plain,omitempty" jsonschema:"return the end of the output as text: without overwritten characters, an empty prompt and full-screen programs"`
}

// SessionReadOutput is the output of session.read.
type SessionReadOutput struct {
	Data       string `json:"data" jsonschema:"raw terminal bytes, invalid UTF-8 replaced"`
	NextCursor int64  `json:"next_cursor" jsonschema:"pass this as \"since\" in the next call"`
	Dropped    int64  `json:"dropped" jsonschema:"number of bytes after \"since\" lost because the log is limited"`
	State      State  `json:"state" jsonschema:"state of the session"`
	AltScreen  bool   `json:"alt_screen,omitempty" jsonschema:"a full-screen program is shown"`
}

func (o *SessionReadOutput) Bulk() []Member {
	return []Member{{Name: "data", Text: &o.Data}}
}

// SessionScreenInput is the input of session.screen.
type SessionScreenInput struct {
	ID         string `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	ANSI       bool   `json:"ansi,omitempty" jsonschema:"keep colours and styles as SGR sequences"`
	Scrollback int    `json:"scrollback,omitempty" jsonschema:"number of lines of scrollback before the screen"`
	Picture    string `json:"picture,omitempty" jsonschema:"also draw the screen, as a png or svg"`
	Ends       bool   `json:"ends,omitempty" jsonschema:"report how each line ends"`
}

// Screen is the contents of a terminal. Lines have no trailing blanks and no control characters
// except requested SGR sequences.
type Screen struct {
	Cols      int      `json:"cols" jsonschema:"width in cells"`
	Rows      int      `json:"rows" jsonschema:"height in cells"`
	Lines     []string `json:"lines" jsonschema:"requested scrollback, then the rows of the screen, without trailing blanks"`
	Cursor    Cursor   `json:"cursor" jsonschema:"position and shape of the cursor"`
	Title     string   `json:"title" jsonschema:"title set by the program"`
	AltScreen bool     `json:"alt_screen" jsonschema:"the alternate screen is shown"`
	State     State    `json:"state" jsonschema:"state of the session"`
	Picture   []byte   `json:"picture,omitempty" jsonschema:"the requested picture in base64"`

	Ends []LineEnd `json:"ends,omitempty" jsonschema:"how each line ends, if requested"`
}

// LineEnd describes the end of a line of a Screen.
type LineEnd struct {
	Printed int  `json:"printed" jsonschema:"cells up to the last one printed, blanks included; above the screen, blanks that end a line are lost"`
	Wrapped bool `json:"wrapped,omitempty" jsonschema:"the line continues in the next one"`
}

func (o *Screen) Bulk() []Member {
	return []Member{{Name: "picture", Data: &o.Picture}}
}

// SessionResizeInput is the input of session.resize.
type SessionResizeInput struct {
	ID   string `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	Cols int    `json:"cols" jsonschema:"width in cells, 1 to 1000"`
	Rows int    `json:"rows" jsonschema:"height in cells, 1 to 1000"`
}

// SessionRenameInput is the input of session.rename.
type SessionRenameInput struct {
	ID   string `json:"id" jsonschema:"id, unique prefix of an id, or name"`
	Name string `json:"name" jsonschema:"the new name"`

	Revision int64 `json:"revision,omitempty" jsonschema:"revision of the session that this change is based on; fails with conflict if it has changed since; 0 for any revision"`
}

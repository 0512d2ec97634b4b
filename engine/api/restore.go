package api

import (
	"slices"
	"time"
)

// These are the operations on ended sessions. A reboot or crash has ended an interrupted one.
var (
	SessionRestore = NewOperation[SessionRestoreInput, SessionRestoreOutput]("session.restore",
		"Starts a shell in each ended session, below its old screen and in its last folder, and types the command that ran there without running it.", Write,
		Row[SessionRestoreInput]{Access: UserOnly, Repeat: RepeatMarked, IDs: (*SessionRestoreInput).ids, Adapt: (*SessionRestoreInput).adapt})
	SessionDismiss = NewOperation[SessionDismissInput, Empty]("session.dismiss",
		"Stops offering to restore interrupted sessions; they stay listed as exited.", Write,
		Row[SessionDismissInput]{Access: UserOnly, Repeat: RepeatAlways, IDs: (*SessionDismissInput).ids})
)

// Values of Interruption.By.
const (
	ByReboot = "reboot"
	ByCrash  = "crash" // engine and keeper died together
)

// An Interruption describes how a reboot or crash ended a session.
type Interruption struct {
	By      string    `json:"by" jsonschema:"reboot, or crash if engine and keeper died together"`
	At      time.Time `json:"at" jsonschema:"when the machine booted again, or when the loss was noticed"`
	Program string    `json:"program,omitempty" jsonschema:"command that ran, with secrets replaced by ***; empty if the shell was at its prompt, or if unknown"`
}

// SessionRestoreInput is the input of session.restore.
type SessionRestoreInput struct {
	IDs     []string          `json:"ids,omitempty" jsonschema:"ids, unique prefixes of ids, or names of ended sessions, however they ended"`
	All     bool              `json:"all,omitempty" jsonschema:"restore all interrupted sessions"`
	Environ map[string]string `json:"environ,omitempty" jsonschema:"the base environment, for example the caller's; default: the engine's own; ignored for sessions started by agents, which keep their own" audit:"-"`
	Umask   string            `json:"umask,omitempty" jsonschema:"file mode creation mask in octal, such as 0022; default: each session's former one" audit:"-"`

	RestoreID string `json:"restore_id,omitempty" jsonschema:"id made by the caller for this call; a second call with the same id returns the sessions that the first restored" audit:"-"`
}

// SessionRestoreOutput is the output of session.restore.
type SessionRestoreOutput struct {
	Restored []RestoredSession `json:"restored" jsonschema:"the restored sessions, oldest first if \"all\" is set"`
	Failed   []RestoreFailure  `json:"failed,omitempty" jsonschema:"the sessions that could not be restored"`
}

// A RestoredSession is a session started again.
type RestoredSession struct {
	Process Process `json:"process" jsonschema:"the session"`
	Folder  string  `json:"folder" jsonschema:"folder it was started in"`
	Note    string  `json:"note,omitempty" jsonschema:"why the session was not started in its last folder, in one sentence"`
}

// A RestoreFailure is a session that could not be restored.
type RestoreFailure struct {
	ID    string `json:"id" jsonschema:"its id, as given if there is no such session"`
	Name  string `json:"name,omitempty" jsonschema:"its name"`
	Error string `json:"error" jsonschema:"why it could not be restored"`
}

// SessionDismissInput is the input of session.dismiss.
type SessionDismissInput struct {
	IDs []string `json:"ids,omitempty" jsonschema:"ids, unique prefixes of ids, or names of sessions"`
	All bool     `json:"all,omitempty" jsonschema:"dismiss all interrupted sessions"`
}

// IsOpen reports whether a session is running, or was interrupted and can be restored.
func (p *Process) IsOpen() bool { return !p.State.Ended() || p.Interrupted != nil }

func (in *SessionRestoreInput) ids() []*string {
	in.IDs = slices.Clone(in.IDs) // the caller keeps its list
	return pointersTo(in.IDs)
}

func (in *SessionDismissInput) ids() []*string {
	in.IDs = slices.Clone(in.IDs)
	return pointersTo(in.IDs)
}

// adapt removes the environment, which is this machine's, from an input for another machine.
func (in *SessionRestoreInput) adapt(machine string) {
	if machine != "" {
		in.Environ, in.Umask = nil, ""
	}
}

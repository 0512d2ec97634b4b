package api

// A Repeat says whether a call can be retried if the engine exits before answering, when
// it is unknown whether the call was carried out.
type Repeat string

const (
	RepeatAlways Repeat = "always" // a second call has no further effect
	RepeatGone   Repeat = "gone"   // like always; not_found then means that the first call removed it
	RepeatEnded  Repeat = "ended"  // like always; ended or not_found then means that the first call stopped it
	RepeatMarked Repeat = "marked" // only if the input is Marked, so that the engine recognizes the second call
	RepeatNever  Repeat = "never"  // a second call may act twice or undo another client's change
)

// repeats maps the name of every write operation to its Repeat.
var repeats = map[string]Repeat{
	EngineStop.Name: RepeatNever,

	SessionStart.Name: RepeatMarked, SessionWrite.Name: RepeatNever, SessionExec.Name: RepeatNever,
	SessionResize.Name: RepeatAlways, SessionRename.Name: RepeatMarked, SessionKill.Name: RepeatEnded,
	SessionKeyboard.Name: RepeatAlways,

	ProcessStart.Name: RepeatMarked, ProcessStop.Name: RepeatEnded, ProcessStopAll.Name: RepeatAlways,
	ProcessRestart.Name: RepeatMarked, ProcessSignal.Name: RepeatNever, ProcessUpdate.Name: RepeatMarked,
	ProcessRemove.Name: RepeatGone, ProcessWrite.Name: RepeatNever, Exec.Name: RepeatMarked,

	// A late report would hide a newer one.
	AgentReport.Name: RepeatNever, AgentSeen.Name: RepeatAlways,

	HistoryAdd.Name: RepeatNever, HistoryRemove.Name: RepeatAlways, HistoryClear.Name: RepeatAlways,
	HistorySave.Name: RepeatNever, HistoryLoad.Name: RepeatMarked,
	// The list of commands is lost with the engine.
	CommandsAdd.Name: RepeatAlways, CommandsReplace.Name: RepeatAlways,

	FilesWrite.Name: RepeatNever, FilesEdit.Name: RepeatNever, FilesReport.Name: RepeatNever,
	FilesMkdir.Name: RepeatNever, FilesSet.Name: RepeatNever, FilesDelete.Name: RepeatNever, FilesMove.Name: RepeatNever,
	FilesCopy.Name: RepeatNever, FilesTransfer.Name: RepeatNever, FilesCancel.Name: RepeatNever, FilesRestore.Name: RepeatNever,

	// Requests are lost with the engine, and agents retry them under new ids.
	RequestAnswer.Name: RepeatNever, AuditAdd.Name: RepeatNever,

	EnvSet.Name: RepeatAlways, EnvUnset.Name: RepeatGone,
	MachineConnect.Name: RepeatAlways,
	LayoutPut.Name:      RepeatMarked, LayoutRemove.Name: RepeatGone,
	WorktreeAdd.Name: RepeatNever, WorktreeRemove.Name: RepeatNever,
}

// RepeatOf returns the operation's Repeat; "" if none is declared.
func RepeatOf(name string, effect Effect) Repeat {
	if effect == Read {
		return RepeatAlways
	}
	return repeats[name]
}

// IsRepeatable reports whether a call can be retried after the engine exited.
func IsRepeatable(name string, effect Effect, in any) bool {
	switch RepeatOf(name, effect) {
	case RepeatAlways, RepeatGone, RepeatEnded:
		return true
	case RepeatMarked:
		marked, ok := in.(Marked)
		return ok && marked.HasMark()
	}
	return false
}

// Marked is implemented by inputs with a mark from the caller: an id, a time, or the revision on
// which a change is based. By it the engine recognizes a call already carried out, and rejects one
// that would undo a newer change.
type Marked interface {
	HasMark() bool
}

func (in SessionStartInput) HasMark() bool   { return in.ID != "" }
func (in ProcessStartInput) HasMark() bool   { return in.ID != "" }
func (in ExecInput) HasMark() bool           { return in.ID != "" }
func (in ProcessRestartInput) HasMark() bool { return in.RestartID != "" }
func (in ProcessUpdateInput) HasMark() bool  { return in.Revision != 0 }
func (in SessionRenameInput) HasMark() bool  { return in.Revision != 0 }
func (in HistoryLoadInput) HasMark() bool    { return in.Recent || !in.At.IsZero() }

// HasMark reports true for a named layout too: saving it again has no further effect.
func (in LayoutPutInput) HasMark() bool { return in.Revision != 0 || in.Name != "" }

package api

// A Repeat says whether a call can be repeated if the engine exits before it answers. Then it is
// unknown whether the call was carried out.
type Repeat string

const (
	RepeatAlways Repeat = "always" // a second call has no further effect
	RepeatGone   Repeat = "gone"   // like always; not_found then means that the first call removed it
	RepeatEnded  Repeat = "ended"  // like always; ended or not_found then means that the first call stopped it
	RepeatMarked Repeat = "marked" // only if the input is Marked, so that the engine recognizes the second call
	RepeatNever  Repeat = "never"  // a second call may act twice or undo another client's change
)

// RepeatOf returns the Repeat of an operation, or "" if none is declared.
func RepeatOf(name string, effect Effect) Repeat {
	if effect == Read {
		return RepeatAlways
	}
	e, _ := Find(name)
	return e.repeat
}

// IsRepeatable reports whether a call can be repeated after the engine has exited.
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

// Marked is implemented by inputs that contain a mark from the caller: an id, a time, or the
// revision on which a change is based. With it the engine recognises a call that it has carried out
// already, and rejects one that would undo a newer change.
type Marked interface {
	HasMark() bool
}

func (in SessionStartInput) HasMark() bool   { return in.ID != "" }
func (in ProcessStartInput) HasMark() bool   { return in.ID != "" }
func (in ExecInput) HasMark() bool           { return in.ID != "" }
func (in ProcessRestartInput) HasMark() bool { return in.RestartID != "" }
func (in SessionRestoreInput) HasMark() bool { return in.RestoreID != "" }
func (in ProcessUpdateInput) HasMark() bool  { return in.Revision != 0 }
func (in SessionRenameInput) HasMark() bool  { return in.Revision != 0 }
func (in HistoryLoadInput) HasMark() bool    { return in.Recent || !in.At.IsZero() }

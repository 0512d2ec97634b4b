package api

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"tandem/keys"
)

// The functions of the operations' rows.

func (in *IDInput) ids() []*string              { return []*string{&in.ID} }
func (in *SessionWriteInput) ids() []*string    { return []*string{&in.ID} }
func (in *SessionInsertInput) ids() []*string   { return []*string{&in.ID} }
func (in *SessionReadInput) ids() []*string     { return []*string{&in.ID} }
func (in *SessionScreenInput) ids() []*string   { return []*string{&in.ID} }
func (in *SessionFindInput) ids() []*string     { return []*string{&in.ID} }
func (in *SessionTextInput) ids() []*string     { return []*string{&in.ID} }
func (in *SessionRecordInput) ids() []*string   { return []*string{&in.ID} }
func (in *SessionWaitInput) ids() []*string     { return []*string{&in.ID} }
func (in *SessionResizeInput) ids() []*string   { return []*string{&in.ID} }
func (in *SessionRenameInput) ids() []*string   { return []*string{&in.ID} }
func (in *SessionExecInput) ids() []*string     { return []*string{&in.ID} }
func (in *SessionKeyboardInput) ids() []*string { return []*string{&in.ID} }
func (in *ProcessLogInput) ids() []*string      { return []*string{&in.ID} }
func (in *ProcessWaitInput) ids() []*string     { return []*string{&in.ID} }
func (in *ProcessStopInput) ids() []*string     { return []*string{&in.ID} }
func (in *ProcessRestartInput) ids() []*string  { return []*string{&in.ID} }
func (in *ProcessSignalInput) ids() []*string   { return []*string{&in.ID} }
func (in *ProcessUpdateInput) ids() []*string   { return []*string{&in.ID} }
func (in *ProcessWriteInput) ids() []*string    { return []*string{&in.ID} }
func (in *AgentReportInput) ids() []*string     { return []*string{&in.ID} }
func (in *AgentSeenInput) ids() []*string       { return []*string{&in.ID} }
func (in *HistorySearchInput) ids() []*string   { return []*string{&in.Process} }
func (in *AttachOptions) ids() []*string        { return []*string{&in.ID} }

func (in *AgentWaitInput) ids() []*string {
	in.IDs = slices.Clone(in.IDs) // the caller keeps its list
	return pointersTo(in.IDs)
}

func pointersTo(ids []string) (all []*string) {
	for i := range ids {
		all = append(all, &ids[i])
	}
	return all
}

func (in *SessionStartInput) otherID() *string  { return &in.ID }
func (in *ProcessStartInput) otherID() *string  { return &in.ID }
func (in *ExecInput) otherID() *string          { return &in.ID }
func (in *RequestAnswerInput) otherID() *string { return &in.ID }
func (in *RequestUndoInput) otherID() *string   { return &in.ID }
func (in *FileJobInput) otherID() *string       { return &in.ID }

func (in *HistoryRemoveInput) host() *string { return &in.Host }
func (in *PolicyCheckInput) host() *string   { return &in.Host }
func (in *OutputSearchInput) host() *string  { return &in.Host }

// adapt removes the list of machines, because the process is only on one.
func (in *HistorySearchInput) adapt(machine string) {
	if machine != "" {
		in.Hosts, in.Soon = nil, false
	}
}

// adapt removes the session whose folder is to be used, if it is on another machine. From an input
// for another machine, it also removes the environment, which is this machine's.
func (in *SessionStartInput) adapt(machine string) {
	name, id := MachineOf(in.CWDOf)
	if in.CWDOf = id; name != machine {
		in.CWDOf = ""
	}
	if machine != "" {
		in.Environ, in.Umask = nil, ""
	}
}

func (in *ProcessStartInput) adapt(machine string) {
	if machine != "" {
		in.Environ, in.Umask = nil, ""
	}
}

func (in *ExecInput) adapt(machine string) {
	if machine != "" {
		in.Environ, in.Umask = nil, ""
	}
}

func (in *ExecInput) subject() Subject {
	return commandSubject(in.Command, in.CWD, in.Env, in.Environ)
}

func (in *SessionStartInput) subject() Subject {
	s := commandSubject(in.Command, in.CWD, in.Env, in.Environ)
	s.CWDOf = in.CWDOf
	return s
}

// IsPrivate reports whether the input asks for a private session. Then it is not recorded, except
// for an agent, which may not ask for one.
func (in *SessionStartInput) IsPrivate() bool { return in.Private }
func (in *ProcessStartInput) IsPrivate() bool { return in.Private }

// subject includes the command of the readiness check, which is run repeatedly.
func (in *ProcessStartInput) subject() Subject {
	s := commandSubject(in.Command, in.CWD, in.Env, in.Environ)
	if in.Ready != nil && len(in.Ready.Command) > 0 {
		s.Check = in.Ready.Command
	}
	return s
}

func (in *SessionWriteInput) subject() Subject {
	return Subject{Command: in.Text + TextOfKeys(in.Keys) + in.Paste}
}

func (in *SessionInsertInput) subject() Subject { return Subject{Command: in.Text} }
func (in *SessionExecInput) subject() Subject   { return Subject{Command: in.Command} }
func (in *ProcessWriteInput) subject() Subject  { return Subject{Command: in.Text} }

// TextOfKeys returns the text typed by keys. Each enter is a line break, except at the end.
func TextOfKeys(names []string) string {
	var text strings.Builder
	for _, name := range names {
		k, _ := keys.Parse(name) // the operation rejects unknown names
		if k.Code == keys.Enter {
			text.WriteByte('\n')
		}
		text.WriteString(k.Text)
	}
	return strings.TrimRight(text.String(), "\n")
}

// about returns the subject of a call on files.
func (s *FileScope) about(paths []*string) Subject {
	about := Subject{Base: s.Base}
	for _, path := range paths {
		about.Paths = append(about.Paths, s.In(*path))
	}
	return about
}

// pathsIn returns pointers to the paths in items, except empty ones. It first replaces items with a
// copy, so the caller's list stays unchanged.
func pathsIn(items *[]FileMove) (all []*string) {
	*items = slices.Clone(*items)
	for i := range *items {
		item := &(*items)[i]
		all = append(all, &item.Path)
		if item.To != "" {
			all = append(all, &item.To)
		}
	}
	return all
}

func (in *FilesPathInput) paths() []*string     { return []*string{&in.Path} }
func (in *FilesReadInput) paths() []*string     { return []*string{&in.Path} }
func (in *FilesListInput) paths() []*string     { return []*string{&in.Path} }
func (in *FilesFindInput) paths() []*string     { return []*string{&in.Path} }
func (in *FilesGrepInput) paths() []*string     { return []*string{&in.Path} }
func (in *FilesWatchInput) paths() []*string    { return []*string{&in.Path} }
func (in *FilesGitInput) paths() []*string      { return []*string{&in.Path} }
func (in *FilesWriteInput) paths() []*string    { return []*string{&in.Path} }
func (in *FilesEditInput) paths() []*string     { return []*string{&in.Path} }
func (in *FilesMkdirInput) paths() []*string    { return []*string{&in.Path} }
func (in *FilesSetInput) paths() []*string      { return []*string{&in.Path} }
func (in *FilesDeleteInput) paths() []*string   { return []*string{&in.Path} }
func (in *FilesMoveInput) paths() []*string     { return []*string{&in.Path, &in.To} }
func (in *FilesTransferInput) paths() []*string { return pathsIn(&in.Items) }
func (in *FilesRestoreInput) paths() []*string  { return pathsIn(&in.Items) }
func (in *HistorySaveInput) paths() []*string   { return []*string{&in.Path} }
func (in *HistoryLoadInput) paths() []*string   { return []*string{&in.Path} }

// subject is the first subject, which is the main one of the call.
func (in *PolicyCheckInput) subject() Subject {
	if len(in.Subjects) == 0 {
		return Subject{}
	}
	return in.Subjects[0]
}

// subject is only the folder, because the engine chooses the name of the file.
func (in *FilesWriteOutputInput) subject() Subject { return Subject{Paths: []string{"~/outputs"}} }

// Streams returns entries for the long-lived connections that the engine serves in addition to
// operations.
func Streams() []Entry {
	return []Entry{
		newEntry("events.watch", "Streams the changes of all sessions and processes.", Read,
			Row[WatchInput]{Access: Unrestricted}, reflect.TypeFor[Event]()),
		newEntry("session.attach", "Shows a session and types into it.", Write,
			Row[AttachOptions]{Access: Typing, IDs: (*AttachOptions).ids}, reflect.TypeFor[Output]()),
		newEntry("engine.open", "Connects to the engine of another machine.", Read,
			Row[OpenOptions]{Access: Unrestricted}, reflect.TypeFor[Empty]()),
	}
}

// entries returns the operations and streams by name.
var entries = sync.OnceValue(func() map[string]Entry {
	all := make(map[string]Entry)
	for _, e := range slices.Concat(Operations(), Streams()) {
		all[e.Name] = e
	}
	return all
})

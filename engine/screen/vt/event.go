package vt

// An Event is a message from the program beyond changes to the screen.
type Event interface{ event() }

// The events of a Terminal.
type (
	// TitleEvent is a new window title (OSC 0, 2), without control characters.
	TitleEvent struct{ Title string }
	// BellEvent is BEL.
	BellEvent struct{}
	// CWDEvent is the program's working directory (OSC 7, 9;9, 633 and 1337). Host is the last one
	// named by OSC 7 or 1337 (RemoteHost); "" if none.
	CWDEvent struct{ Host, Path string }
	// PromptEvent is a shell's mark of its prompt and commands (OSC 133 and 633). It is sent during
	// a replay too, because later events depend on it.
	PromptEvent struct {
		Mark      byte   // A prompt, B command, C output, D end, P part of a prompt, E the command line
		Exit      *int   // with D
		Line      string // with E; it may hold control characters
		Options   string // the other options, "name=value;…"; for E, everything after the line
		Remaining int    // bytes of the same Write after the mark
		Replay    bool   // true during a replay: replies are off
	}
	// NotifyEvent is a notification (OSC 9, 99 and 777).
	NotifyEvent struct{ Title, Body string }
	// ProgressEvent is OSC 9;4. State is 0 none, 1 normal, 2 error, 3 indeterminate or 4 paused.
	ProgressEvent struct{ State, Percent int }
	// ResetEvent reports that modes left on by a killed program were reset. The program's output
	// does not show this.
	ResetEvent struct{}
	// ClipboardEvent is a write to the clipboard (OSC 52), at most 1 MiB.
	ClipboardEvent struct{ Data []byte }
)

func (TitleEvent) event()     {}
func (BellEvent) event()      {}
func (CWDEvent) event()       {}
func (PromptEvent) event()    {}
func (NotifyEvent) event()    {}
func (ProgressEvent) event()  {}
func (ClipboardEvent) event() {}
func (ResetEvent) event()     {}

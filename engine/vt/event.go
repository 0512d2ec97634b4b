package vt

// An Event is something a program tells beyond the screen.
type Event interface{ event() }

// The events a Terminal passes on.
type (
	// TitleEvent: OSC 0, 2; control characters removed.
	TitleEvent struct{ Title string }
	// BellEvent: BEL.
	BellEvent struct{}
	// CWDEvent: OSC 7, and OSC 9;9, 633 and 1337, the program's working directory. Host is the one
	// that OSC 7 or 1337 (RemoteHost) has named last, "" for none.
	CWDEvent struct{ Host, Path string }
	// PromptEvent: OSC 133 and 633, what a shell says about its prompt and its
	// commands. It is passed on in a replay too, since what runs later depends
	// on it.
	PromptEvent struct {
		Mark      byte   // A prompt, B command, C output, D end, P part of a prompt, E the command line
		Exit      *int   // with D
		Line      string // with E; it may hold control characters
		Options   string // what else was said, "name=value;…"; of E what follows the line
		Remaining int    // bytes of the same Write that follow the mark
		Replay    bool   // replies are switched off
	}
	// NotifyEvent: OSC 9, 99 and 777.
	NotifyEvent struct{ Title, Body string }
	// ProgressEvent: OSC 9;4. State is 0 none, 1 normal, 2 error, 3
	// indeterminate, 4 paused.
	ProgressEvent struct{ State, Percent int }
	// ResetEvent: the modes left on by a killed program were reset. Viewers of the program's output
	// do not see this.
	ResetEvent struct{}
	// ClipboardEvent: OSC 52 write, at most 1 MiB.
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

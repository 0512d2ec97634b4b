// Package terminaltest provides a host for sessions in tests of other packages.
package terminaltest

import (
	"tandem/engine/screen/vt"
	"tandem/engine/session/prompt"
	"tandem/engine/session/terminal"
	"tandem/persist/inputnotes"
	"tandem/persist/ptylog"
)

// A Host keeps a session's log in a file and notes of its input in memory.
type Host struct {
	Log     string // path of the log
	Read    func() // called when all output has been read; may be nil
	Changed func() // called when facts have changed; may be nil
	Told    func(text string)
}

// OpenLog implements terminal.Host.
func (h Host) OpenLog() (terminal.Log, error) { return ptylog.Open(h.Log, ptylog.Options{}) }

// OpenInputNotes implements terminal.Host.
func (Host) OpenInputNotes() (*inputnotes.Notes, error) { return inputnotes.New(), nil }

// NewEmulator implements terminal.Host.
func (Host) NewEmulator(o vt.Options) terminal.Emulator { return vt.New(o) }

// OutputRead implements terminal.Host.
func (h Host) OutputRead() {
	if h.Read != nil {
		h.Read()
	}
}

// FactsChanged implements terminal.Host.
func (h Host) FactsChanged() {
	if h.Changed != nil {
		h.Changed()
	}
}

// Notify implements terminal.Host.
func (h Host) Notify(text string) {
	if h.Told != nil {
		h.Told(text)
	}
}

// LogGrows implements terminal.Host.
func (Host) LogGrows(int64) {}

// ScreenChanged implements terminal.Host.
func (Host) ScreenChanged() {}

// CommandRan implements terminal.Host.
func (Host) CommandRan(prompt.Command) {}

// ShownLine implements terminal.Host.
func (Host) ShownLine(line string) string { return line }

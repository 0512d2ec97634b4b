package store

import "time"

// An Interruption is the end of a session by a reboot or crash. Values are immutable.
type Interruption struct {
	By        string    `json:"by"` // "reboot" or "crash"
	At        time.Time `json:"at"`
	Folder    string    `json:"folder,omitempty"`    // last one on this machine, if known
	Program   string    `json:"program,omitempty"`   // command line that ran; "" at the prompt, or if unknown
	Dismissed bool      `json:"dismissed,omitempty"` // not to be offered again
}

package panes

import (
	"crypto/rand"
	"encoding/hex"
)

// NewID makes the id of a session or process, as the engine does.
func NewID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

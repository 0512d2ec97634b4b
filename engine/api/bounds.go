package api

import (
	"encoding/base64"
	"encoding/json"
)

// Bounds are what an agent is held to, whatever operation it calls. The server
// that it is connected to belongs to the person, and tells them with every
// request; the engine enforces them.
type Bounds struct {
	Name     string   `json:"name,omitempty"`      // what the person calls it: its token's name, or that of --as
	Sandbox  *Sandbox `json:"sandbox,omitempty"`   // of all that is done for it: programs, checks, files; nil: none
	Roots    []string `json:"roots,omitempty"`     // absolute folders that its operations on files reach; none: all
	Base     string   `json:"base,omitempty"`      // where its relative paths begin, absolute
	ReadOnly bool     `json:"read_only,omitempty"` // it may call only what changes nothing
}

// BoundsHeader is the HTTP header of a request that Header is the value of.
const BoundsHeader = "Tandem-Bounds"

// Header gives the bounds as the value of BoundsHeader.
func (b *Bounds) Header() string {
	text, _ := json.Marshal(b) // strings, numbers and booleans alone
	return base64.StdEncoding.EncodeToString(text)
}

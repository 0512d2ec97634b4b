package api

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"sync"
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

// boundsCache keeps the bounds that were decoded last: each agent sends the
// same ones with every request.
type boundsCache struct {
	mu    sync.Mutex
	known map[string]*Bounds
}

// mostBounds is how many agents' bounds are kept.
const mostBounds = 64

// of reads the bounds of a request. An agent that tells none is held to none but
// what holds for all agents; ones that cannot be read are a mistake, because they
// are there to restrict something.
func (c *boundsCache) of(r *http.Request) (*Bounds, *Error) {
	text := r.Header.Get(BoundsHeader)
	if text == "" {
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if b, ok := c.known[text]; ok {
		return b, nil
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, Errorf(CodeInvalid, "read bounds of the caller: %v", err)
	}
	var b Bounds
	if e := DecodeInput("", data, &b); e != nil {
		return nil, Errorf(CodeInvalid, "read bounds of the caller: %s", e.Message)
	}
	if len(c.known) >= mostBounds || c.known == nil {
		c.known = make(map[string]*Bounds)
	}
	c.known[text] = &b
	return &b, nil
}

package server

import (
	"encoding/base64"
	"net/http"
	"sync"

	"tandem/engine/api"
)

// boundsCache keeps the bounds that were decoded last: each agent sends the
// same ones with every request.
type boundsCache struct {
	mu    sync.Mutex
	known map[string]*api.Bounds
}

// mostBounds is how many agents' bounds are kept.
const mostBounds = 64

// of reads the bounds of a request. An agent that tells none is held to none but
// what holds for all agents; ones that cannot be read are a mistake, because they
// are there to restrict something.
func (c *boundsCache) of(r *http.Request) (*api.Bounds, *api.Error) {
	text := r.Header.Get(api.BoundsHeader)
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
		return nil, api.Errorf(api.CodeInvalid, "read bounds of the caller: %v", err)
	}
	var b api.Bounds
	if e := api.DecodeInput("", data, &b); e != nil {
		return nil, api.Errorf(api.CodeInvalid, "read bounds of the caller: %s", e.Message)
	}
	if len(c.known) >= mostBounds || c.known == nil {
		c.known = make(map[string]*api.Bounds)
	}
	c.known[text] = &b
	return &b, nil
}

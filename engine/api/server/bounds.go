package server

import (
	"encoding/base64"
	"net/http"
	"sync"

	"tandem/engine/api"
)

// boundsCache stores decoded bounds, because an agent sends the same ones with every request. The
// zero value is an empty cache.
type boundsCache struct {
	mu    sync.Mutex
	known map[string]*api.Bounds
}

// maxBounds is how many bounds are cached. A full cache is emptied.
const maxBounds = 64

// boundsOf decodes the bounds of a request. It returns nil if there are none. Malformed bounds are
// an error and never ignored, because they are restrictions.
func (c *boundsCache) boundsOf(r *http.Request) (*api.Bounds, *api.Error) {
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
	if wrong := api.DecodeStrictly("read bounds of the caller", data, &b); wrong != nil {
		return nil, wrong
	}
	if len(c.known) >= maxBounds || c.known == nil {
		c.known = make(map[string]*api.Bounds)
	}
	c.known[text] = &b
	return &b, nil
}

package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"tandem/engine/api"
	"tandem/engine/page/devices"
)

// usageInterval is the interval between measurements while a browser shows them.
const usageInterval = 2 * time.Second

// A use is the current resource use of a process.
type use struct {
	ID    string  `json:"id"`
	CPU   float64 `json:"cpu"` // percent of a core
	RSS   int64   `json:"rss"` // bytes
	Ports []int   `json:"ports,omitempty"`
}

// usage streams the resource use of all processes while the browser is connected: one event each
// time it changes.
func (p *Page) usage(w http.ResponseWriter, r *http.Request, d devices.Device) {
	if d.Session != "" {
		writeError(w, http.StatusForbidden, errors.New("this link shows one session only"))
		return
	}
	ctx, done := p.contextFor(r, d)
	defer done()
	w.Header().Set("Content-Type", "text/event-stream")
	s := sender{w, http.NewResponseController(w)}
	var before []byte
	tick := time.NewTicker(usageInterval)
	defer tick.Stop()
	for {
		// Detects a disconnected browser even if nothing changes.
		err := s.comment()
		if engine, failed := p.engines.connectTo(ctx, r.URL.Query().Get("host")); err == nil && failed == nil {
			out, failed := api.ProcessList.Call(ctx, engine, api.ProcessListInput{Metrics: true})
			now, _ := json.Marshal(usesOf(out.Processes))
			if failed == nil && !bytes.Equal(now, before) {
				before, err = now, s.event("", json.RawMessage(now))
			}
		}
		if err != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func usesOf(all []api.Process) []use {
	out := []use{}
	for _, p := range all {
		if m := p.Metrics; m != nil && !p.State.Ended() {
			out = append(out, use{p.ID, m.CPUPercent, m.RSSBytes, m.Ports})
		}
	}
	return out
}

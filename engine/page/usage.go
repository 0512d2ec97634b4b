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

// usagePace is how often processes are measured while a browser shows them.
const usagePace = 2 * time.Second

// A use is what a process uses now.
type use struct {
	ID    string  `json:"id"`
	CPU   float64 `json:"cpu"` // percent of a core
	RSS   int64   `json:"rss"` // bytes
	Ports []int   `json:"ports,omitempty"`
}

// usage sends what processes use, for as long as the browser listens: all of them in one
// event, when something is different.
func (p *Page) usage(w http.ResponseWriter, r *http.Request, d devices.Device) {
	if d.Session != "" {
		refuse(w, http.StatusForbidden, errors.New("this link shows one session only"))
		return
	}
	ctx, done := p.during(r, d)
	defer done()
	w.Header().Set("Content-Type", "text/event-stream")
	s := sender{w, http.NewResponseController(w)}
	var before []byte
	tick := time.NewTicker(usagePace)
	defer tick.Stop()
	for {
		err := s.comment()
		if engine, failed := p.engines.of(ctx, r.URL.Query().Get("host")); err == nil && failed == nil {
			out, failed := api.ProcessList.Call(ctx, engine, api.ProcessListInput{Metrics: true})
			now, _ := json.Marshal(uses(out.Processes))
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

func uses(all []api.Process) []use {
	out := []use{}
	for _, p := range all {
		if m := p.Metrics; m != nil && !p.State.Ended() {
			out = append(out, use{p.ID, m.CPUPercent, m.RSSBytes, m.Ports})
		}
	}
	return out
}

package service

import (
	"context"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/control/supervise"
	"tandem/engine/record/outputs"
)

// Output serves the search in what sessions and processes have printed.
type Output struct {
	Control  *supervise.Control
	Searcher outputs.Searcher
}

// Handle registers the operation.
func (s *Output) Handle(m *server.Mux) { server.Handle(m, api.OutputSearch, s.search) }

func (s *Output) search(ctx context.Context, in api.OutputSearchInput) (api.OutputSearchOutput, error) {
	// The search begins before the list is made, so that what changes meanwhile counts as changed.
	q, err := outputs.NewQuery(in)
	if err != nil {
		return api.OutputSearchOutput{}, err
	}
	var targets []outputs.Target
	err = s.Control.Visit(ctx, func(e supervise.Entry) {
		if e.View.ID != "" { // announced
			targets = append(targets, outputs.Target{Process: e.View, Source: e.Source()})
		}
	})
	if err != nil {
		return api.OutputSearchOutput{}, err
	}
	return s.Searcher.Search(ctx, q, targets)
}

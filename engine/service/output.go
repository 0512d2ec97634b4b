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
	// MayRead reports whether the caller may call an operation that only reads without asking the user.
	MayRead func(ctx context.Context, operation string) bool
}

// Handle registers the operation.
func (s *Output) Handle(m *server.Mux) { server.Handle(m, api.OutputSearch, s.search) }

func (s *Output) search(ctx context.Context, in api.OutputSearchInput) (api.OutputSearchOutput, error) {
	// The search begins before the list is made, so that what changes meanwhile counts as changed.
	q, err := outputs.NewQuery(in)
	if err != nil {
		return api.OutputSearchOutput{}, err
	}
	mayRead := map[api.Kind]bool{
		api.KindSession: s.MayRead(ctx, api.SessionRead.Name), api.KindProcess: s.MayRead(ctx, api.ProcessLog.Name),
	}
	var targets []outputs.Target
	withheld := 0
	err = s.Control.Visit(ctx, func(e supervise.Entry) {
		switch {
		case e.View.ID == "" || e.Rec.Private || !q.Accepts(e.View): // not announced, private, or not asked for
		case !mayRead[e.View.Kind]:
			withheld++
		default:
			targets = append(targets, outputs.Target{Process: e.View, Source: e.Source()})
		}
	})
	if err != nil {
		return api.OutputSearchOutput{}, err
	}
	q.MayRead = func(k api.Kind) bool { return mayRead[k] }
	out, err := s.Searcher.Search(ctx, q, targets)
	out.Withheld = withheld + s.Searcher.CountWithheld(ctx, q)
	return out, err
}

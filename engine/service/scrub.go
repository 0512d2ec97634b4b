package service

import (
	"context"
	"strconv"
	"strings"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/control/supervise"
	"tandem/engine/record/history"
	"tandem/engine/record/kept"
	"tandem/engine/record/scrub"
)

// minLine is the length of the shortest command line that is also searched for in other files.
const minLine = 8

// Scrub serves the operations that overwrite what was printed.
type Scrub struct {
	Control *supervise.Control
	History *history.History
	Kept    *kept.Output
	DataDir string
	// Run overwrites the places of a query and restarts the engine. It returns the places before that.
	Run func(ctx context.Context, q scrub.Query) (*scrub.Result, error)
}

// Handle registers the operations.
func (s *Scrub) Handle(m *server.Mux) {
	server.Handle(m, api.ScrubFind, func(ctx context.Context, in api.ScrubInput) (api.ScrubOutput, error) {
		return s.handle(ctx, in, func(ctx context.Context, q scrub.Query) (*scrub.Result, error) {
			return scrub.Find(ctx, s.DataDir, q, nil)
		})
	})
	server.Handle(m, api.ScrubRun, func(ctx context.Context, in api.ScrubInput) (api.ScrubOutput, error) {
		return s.handle(ctx, in, s.Run)
	})
}

func (s *Scrub) handle(ctx context.Context, in api.ScrubInput, do func(context.Context, scrub.Query) (*scrub.Result, error)) (out api.ScrubOutput, err error) {
	out.Places = []api.ScrubPlaces{}
	q, line, err := s.query(ctx, in)
	if err != nil {
		return out, err
	}
	out.Command = line
	names := map[string]string{}
	if err := s.Control.Visit(ctx, func(e supervise.Entry) { names[e.Rec.ID] = e.Rec.Name }); err != nil {
		return out, err
	}
	found, err := do(ctx, q)
	if err != nil {
		return out, err
	}
	for _, p := range found.Places {
		out.Places = append(out.Places, api.ScrubPlaces{Where: string(p.Where), ID: p.ID, Name: names[p.ID], Count: p.Count, Sample: p.Sample})
	}
	return out, nil
}

// query checks a request. line is the command of in.Last.
func (s *Scrub) query(ctx context.Context, in api.ScrubInput) (q scrub.Query, line string, err error) {
	given := 0
	for _, is := range []bool{in.Match != "", len(in.Texts) > 0, in.Last != ""} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return q, "", api.Errorf(api.CodeInvalid, "scrub: give one of match, texts and last")
	case in.Last == "" && in.All == (len(in.IDs) > 0):
		return q, "", api.Errorf(api.CodeInvalid, "scrub: give either ids or all")
	}
	if in.Last != "" {
		return s.lastCommand(ctx, in.Last)
	}
	q = scrub.Query{Expression: in.Match, Texts: in.Texts}
	for _, id := range in.IDs {
		full, err := s.fullID(ctx, id)
		if err != nil {
			return q, "", err
		}
		q.IDs = append(q.IDs, full)
	}
	return q, "", nil
}

// fullID returns the id of a session or process. One without a record may have kept output.
func (s *Scrub) fullID(ctx context.Context, id string) (string, error) {
	e, err := s.Control.FindEntry(ctx, id)
	if err == nil {
		return e.Rec.ID, nil
	}
	t, err := findKept(ctx, s.Kept, id, err)
	return t.Process.ID, err
}

// lastCommand returns the query for the last command that has ended in a session, and its line.
func (s *Scrub) lastCommand(ctx context.Context, session string) (q scrub.Query, line string, err error) {
	e, err := s.Control.FindEntry(ctx, session, api.KindSession)
	if err != nil {
		return q, "", err
	}
	runs, err := s.History.Search(ctx, api.HistorySearchInput{Process: e.Rec.ID, Kind: history.KindSession, Limit: 20})
	if err != nil {
		return q, "", err
	}
	for _, r := range runs.Rows {
		if r.LogEnd == 0 { // it still runs
			continue
		}
		q = scrub.Query{IDs: []string{e.Rec.ID}, Last: &scrub.Command{ID: e.Rec.ID, Row: strconv.FormatInt(r.ID, 10), From: r.LogStart, To: r.LogEnd}}
		if line := strings.TrimSpace(r.Command.Command); len(line) >= minLine {
			q.Texts = []string{line}
		}
		return q, r.Command.Command, nil
	}
	return q, "", api.Errorf(api.CodeNotFound, "scrub: no command of %s is in the history", e.Rec.Name).
		WithHint("give its text instead: tandem scrub --match")
}

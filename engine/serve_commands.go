package engine

import (
	"context"

	"tandem/engine/api"
	"tandem/engine/api/server"
)

// handleCommands serves the list of what agents ran.
func (h *host) handleCommands(m *server.Mux) {
	answer := func(lines []string) (api.CommandsOutput, error) {
		if lines == nil {
			lines = []string{}
		}
		return api.CommandsOutput{Commands: lines}, nil
	}
	server.Handle(m, api.CommandsList, func(context.Context, api.Empty) (api.CommandsOutput, error) {
		return answer(h.recent.List())
	})
	server.Handle(m, api.CommandsAdd, func(_ context.Context, in api.CommandsInput) (api.CommandsOutput, error) {
		return answer(h.recent.Add(in.Commands))
	})
	server.Handle(m, api.CommandsReplace, func(_ context.Context, in api.CommandsInput) (api.CommandsOutput, error) {
		return answer(h.recent.Replace(in.Commands))
	})
}

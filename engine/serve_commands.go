package engine

import (
	"context"
	"slices"
	"strings"
	"sync"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/engine/secrets"
)

// recentMost bounds the list of recent commands; the oldest give way.
const recentMost = 10_000

// recentCommands is the list of what agents ran with success, oldest first. It
// is there as long as the engine. Its zero value is empty.
type recentCommands struct {
	mu    sync.Mutex
	lines []string
}

func (r *recentCommands) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

func (r *recentCommands) add(lines []string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.append(lines)
	return slices.Clone(r.lines)
}

func (r *recentCommands) replace(lines []string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = nil
	r.append(lines)
	return slices.Clone(r.lines)
}

func (r *recentCommands) append(lines []string) {
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			r.lines = append(r.lines, secrets.RedactLine(l))
		}
	}
	if n := len(r.lines); n > recentMost {
		r.lines = slices.Delete(r.lines, 0, n-recentMost)
	}
}

// handleCommands serves the list of what agents ran.
func (h *host) handleCommands(m *server.Mux) {
	answer := func(lines []string) (api.CommandsOutput, error) {
		if lines == nil {
			lines = []string{}
		}
		return api.CommandsOutput{Commands: lines}, nil
	}
	server.Handle(m, api.CommandsList, func(context.Context, api.Empty) (api.CommandsOutput, error) {
		return answer(h.recent.list())
	})
	server.Handle(m, api.CommandsAdd, func(_ context.Context, in api.CommandsInput) (api.CommandsOutput, error) {
		return answer(h.recent.add(in.Commands))
	})
	server.Handle(m, api.CommandsReplace, func(_ context.Context, in api.CommandsInput) (api.CommandsOutput, error) {
		return answer(h.recent.replace(in.Commands))
	})
}

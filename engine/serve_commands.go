package engine

import "tandem/engine/api"

// handleCommands serves the list of what agents ran.
func (h *host) handleCommands(m *api.Mux) {}

package engine

import "tandem/engine/api"

// handleHistory serves the operations of the history.
func (h *host) handleHistory(m *api.Mux) {}

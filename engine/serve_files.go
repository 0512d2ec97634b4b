package engine

import "tandem/engine/api"

// handleFiles serves the operations on files.
func (h *host) handleFiles(m *api.Mux) {}

package engine

import "tandem/engine/api"

// handlePolicy serves policy, requests and the audit log.
func (h *host) handlePolicy(m *api.Mux) {}

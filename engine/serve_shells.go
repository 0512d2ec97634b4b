package engine

import "tandem/engine/api"

// handleShells serves what agents need of live shells: exec, wait, the keyboard.
func (h *host) handleShells(m *api.Mux) {}

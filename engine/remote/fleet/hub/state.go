package hub

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"tandem/engine/remote/fleet"
	"tandem/persist/regular"
)

// hubState is the content of hub.json.
type hubState struct {
	Listen      string                `json:"listen"`
	Address     string                `json:"address"`
	Members     []Member              `json:"members"`
	Invitations map[string]invitation `json:"invitations"` // by id
	Revoked     map[string]time.Time  `json:"revoked"`     // by public key
}

// An invitation is an unused invitation.
type invitation struct {
	Secret  []byte    `json:"secret"` // hashed
	Member  Member    `json:"member"`
	Expires time.Time `json:"expires"`
}

// clone returns a copy to be changed and passed to saveState.
func (s hubState) clone() hubState {
	s.Members, s.Invitations, s.Revoked = slices.Clone(s.Members), maps.Clone(s.Invitations), maps.Clone(s.Revoked)
	return s
}

// hasMachine reports whether a machine of this name has joined. A name owns its rows, so it must be
// unique; a person may have several keys.
func (s hubState) hasMachine(name string) bool {
	return slices.ContainsFunc(s.Members, func(m Member) bool { return m.Kind == fleet.KindMachine && m.Name == name })
}

// loadState reads hub.json.
func (h *Hub) loadState() error {
	text, err := regular.ReadFile(filepath.Join(h.o.Folder, "hub.json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the hub's members: %w", err)
	}
	if err == nil {
		if err := json.Unmarshal(text, &h.state); err != nil {
			return fmt.Errorf("read the hub's members: hub.json: %w", err)
		}
	}
	if h.state.Invitations == nil {
		h.state.Invitations = map[string]invitation{}
	}
	if h.state.Revoked == nil {
		h.state.Revoked = map[string]time.Time{}
	}
	return nil
}

// saveState replaces the state: it writes hub.json first, and then puts the new state into effect.
// h.mu is held.
func (h *Hub) saveState(next hubState) error {
	text, err := json.MarshalIndent(next, "", "  ")
	if err == nil {
		err = writePrivate(filepath.Join(h.o.Folder, "hub.json"), text)
	}
	if err != nil {
		return fmt.Errorf("save the hub's members: %w", err)
	}
	h.state = next
	return nil
}

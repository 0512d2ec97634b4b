package config

import (
	"encoding/json"
	"os"
	"path/filepath"

	"tandem/persist/datadir"
)

// tipsShown is in how many starts of the dashboard newcomers see the tips.
const tipsShown = 3

// tipsSeen is the file tips.json of the data folder.
type tipsSeen struct {
	Starts int  `json:"starts"`           // of the dashboard while the tips were shown
	Hidden bool `json:"hidden,omitempty"` // the person has had enough
}

// Tips reports whether the dashboard is to show the tips this time, and returns
// what keeps them away from then on. dir is the data folder. They are never worth an error.
func Tips(c Config, dir string) (show bool, hide func()) {
	if c.Tips != nil && !*c.Tips {
		return false, func() {}
	}
	path := filepath.Join(dir, datadir.Tips)
	var seen tipsSeen
	if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, &seen) != nil {
		return false, func() {}
	}
	if seen.Hidden || seen.Starts >= tipsShown {
		return false, func() {}
	}
	seen.Starts++
	keep := func() {
		if text, err := json.Marshal(seen); err == nil && os.MkdirAll(dir, 0o700) == nil {
			_ = os.WriteFile(path, append(text, '\n'), 0o600) // they are shown once more, then
		}
	}
	keep()
	return true, func() {
		seen.Hidden = true
		keep()
	}
}

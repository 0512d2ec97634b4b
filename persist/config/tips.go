package config

import (
	"encoding/json"

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
	change := func(to func(*tipsSeen) bool) {
		_ = updateShared(dir, datadir.Tips, func(text []byte) ([]byte, bool) {
			var seen tipsSeen
			if len(text) > 0 && json.Unmarshal(text, &seen) != nil || !to(&seen) {
				return nil, false
			}
			text, err := json.Marshal(seen)
			return append(text, '\n'), err == nil
		})
	}
	change(func(seen *tipsSeen) bool {
		show = !seen.Hidden && seen.Starts < tipsShown
		seen.Starts++
		return show
	})
	return show, func() {
		change(func(seen *tipsSeen) bool {
			seen.Hidden = true
			return true
		})
	}
}

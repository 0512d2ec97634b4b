package config

import (
	"encoding/json"

	"tandem/persist/datadir"
)

// maxTipStarts is the number of starts with tips.
const maxTipStarts = 3

// tipsSeen is the content of tips.json.
type tipsSeen struct {
	Starts int  `json:"starts"`           // starts of the dashboard with tips
	Hidden bool `json:"hidden,omitempty"` // the user dismissed the tips
}

// Tips reports whether to show the tips at this start, if they are wanted. The function it returns
// hides them from then on. dir is the data directory. Errors are ignored.
func Tips(wanted bool, dir string) (show bool, hide func()) {
	if !wanted {
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
		show = !seen.Hidden && seen.Starts < maxTipStarts
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

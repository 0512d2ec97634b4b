package config

import (
	"encoding/json"
	"os"
	"path/filepath"

	"tandem/persist/datadir"
)

// datadir.Recent is the file of the data folder that has what was chosen in the palette.
// Recent is what was chosen in the palette, the latest first, and what keeps that for
// the next dashboard. dir is the data folder. It is never worth an error.
func Recent(dir string) (names []string, keep func([]string)) {
	path := filepath.Join(dir, datadir.Recent)
	if text, err := os.ReadFile(path); err != nil || json.Unmarshal(text, &names) != nil {
		names = nil
	}
	return names, func(names []string) {
		if text, err := json.Marshal(names); err == nil && os.MkdirAll(dir, 0o700) == nil {
			_ = os.WriteFile(path, append(text, '\n'), 0o600) // the order is another one, then
		}
	}
}

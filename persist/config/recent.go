package config

import (
	"encoding/json"
	"slices"

	"tandem/persist/datadir"
)

// maxRecent is how many choices are kept.
const maxRecent = 30

// Recent returns the latest choices in the palette, newest first, and a function that keeps
// such a list for the next dashboard. Choices that other dashboards have kept meanwhile stay,
// after the first of the list. dir is the data folder. An error costs only the order.
func Recent(dir string) (names []string, keep func([]string)) {
	if text, err := readShared(dir, datadir.Recent); err != nil || json.Unmarshal(text, &names) != nil {
		names = nil
	}
	return names, func(names []string) {
		_ = updateShared(dir, datadir.Recent, func(text []byte) ([]byte, bool) {
			var kept []string
			if json.Unmarshal(text, &kept) != nil { // new or damaged
				kept = nil
			}
			text, err := json.Marshal(mergeRecent(names, kept))
			return append(text, '\n'), err == nil
		})
	}
}

// mergeRecent puts the latest choice, which is the first of names, before what is
// kept, and the rest of names after that.
func mergeRecent(names, kept []string) (merged []string) {
	for _, name := range slices.Concat(names[:min(len(names), 1)], kept, names) {
		if len(merged) < maxRecent && !slices.Contains(merged, name) {
			merged = append(merged, name)
		}
	}
	return merged
}

package config

import (
	"encoding/json"
	"slices"

	"tandem/persist/datadir"
)

// maxRecent is the number of choices kept.
const maxRecent = 30

// Recent returns the latest choices in the palette, newest first, and a function that saves such a
// list for the next dashboard. Choices saved by other dashboards meanwhile stay, after the newest
// one. dir is the data directory. Errors are ignored, since they only affect the order.
func Recent(dir string) (names []string, keep func([]string)) {
	_ = updateShared(dir, datadir.Recent, func(text []byte) ([]byte, bool) {
		names = decodeRecent(text)
		return nil, false
	})
	return names, func(names []string) {
		_ = updateShared(dir, datadir.Recent, func(text []byte) ([]byte, bool) {
			text, err := json.Marshal(mergeRecent(names, decodeRecent(text)))
			return append(text, '\n'), err == nil
		})
	}
}

// decodeRecent decodes the content of the file; nil if it is new or damaged.
func decodeRecent(text []byte) (names []string) {
	if json.Unmarshal(text, &names) != nil {
		return nil
	}
	return names
}

// mergeRecent returns the newest choice, names[0], then kept, then the rest of names, without
// duplicates.
func mergeRecent(names, kept []string) (merged []string) {
	for _, name := range slices.Concat(names[:min(len(names), 1)], kept, names) {
		if len(merged) < maxRecent && !slices.Contains(merged, name) {
			merged = append(merged, name)
		}
	}
	return merged
}

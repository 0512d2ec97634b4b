package config

import (
	"encoding/json"
	"slices"

	"tandem/persist/datadir"
)

// maxRecent is the number of choices kept.
const maxRecent = 30

// Recent returns the latest choices in the palette, the newest first, and a function to save such a
// list for the next dashboard. If other dashboards have saved choices meanwhile, theirs follow the
// newest one. dir is the data directory. Errors are ignored, since they only affect the order of
// the palette.
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

// decodeRecent decodes the content of the file. It returns nil if the file is new or damaged.
func decodeRecent(text []byte) (names []string) {
	if json.Unmarshal(text, &names) != nil {
		return nil
	}
	return names
}

// mergeRecent returns names[0], which is the newest choice, then kept, then the rest of names,
// without duplicates.
func mergeRecent(names, kept []string) (merged []string) {
	for _, name := range slices.Concat(names[:min(len(names), 1)], kept, names) {
		if len(merged) < maxRecent && !slices.Contains(merged, name) {
			merged = append(merged, name)
		}
	}
	return merged
}

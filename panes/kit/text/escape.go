package text

import (
	"strings"
	"unicode/utf8"

	"tandem/engine/base/cellwidth"
)

// EscapesNote explains the escapes of EscapeName to the user.
const EscapesNote = `\n, \xff and \u202e stand for characters that cannot be shown, \\ for a backslash`

// NeedsEscapes reports whether a name or path cannot be edited as it is, because it has invalid
// UTF-8, controls, invisible or direction-changing characters, or spaces at its ends.
func NeedsEscapes(name string) bool {
	return FileName(name) != name || strings.Trim(name, " ") != name
}

// EscapeName makes all of a name visible and editable. Characters that cannot be shown and spaces
// at the ends become escapes readable by api.ParseName.
func EscapeName(name string) string {
	var out []byte
	last := "" // last output: the next cluster must not merge with it
	for at := 0; at < len(name); {
		cluster := nextCluster(name[at:])
		atEnd := at == 0 || at+len(cluster) == len(name)
		at += len(cluster)
		switch {
		case cluster[0] == '\\', FileName(last+cluster) != last+cluster || cluster[0] == ' ' && atEnd:
			out = cellwidth.AppendEscaped(out, cluster)
			cluster = "0" // like the end of any escape
		default:
			out = append(out, cluster...)
		}
		last = cluster
	}
	return string(out)
}

// nextCluster returns the first character of s as seen by a user.
func nextCluster(s string) string {
	// Fast path: ASCII before ASCII never merges.
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return s[:1]
	}
	return cellwidth.Cluster(s)
}

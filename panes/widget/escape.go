package widget

import (
	"strings"
	"unicode/utf8"

	"tandem/engine/api"
	"tandem/engine/cellwidth"
)

// EscapesNote tells a person how EscapeName writes.
const EscapesNote = `\n, \xff and \u202e stand for characters that cannot be shown, \\ for a backslash`

// NeedsEscapes reports whether a name, or a path, holds something that cannot
// be edited as it is: bytes that are not UTF-8, controls, what is invisible or
// turns text around, and spaces at its ends.
func NeedsEscapes(name string) bool {
	return FileName(name) != name || strings.Trim(name, " ") != name
}

// EscapeName writes a name so that all of it can be seen and edited: what cannot
// be drawn as it is, and spaces at the ends, with the escapes that api.ParseName
// reads.
func EscapeName(name string) string {
	var out []byte
	last := "" // that was written: what comes next must not become a part of it
	for at := 0; at < len(name); {
		cluster := nextCluster(name[at:])
		atEnd := at == 0 || at+len(cluster) == len(name)
		at += len(cluster)
		switch {
		case cluster[0] == '\\', FileName(last+cluster) != last+cluster || cluster[0] == ' ' && atEnd:
			out = api.AppendEscaped(out, cluster)
			cluster = "0" // as any end of an escape
		default:
			out = append(out, cluster...)
		}
		last = cluster
	}
	return string(out)
}

// nextCluster is what s begins with that is one character to a person.
func nextCluster(s string) string {
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return s[:1]
	}
	return cellwidth.Cluster(s)
}

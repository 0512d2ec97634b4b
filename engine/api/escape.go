package api

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// EscapePath encodes a path for JSON: it writes "%" and each byte of invalid UTF-8 as %XX.
func EscapePath(path string) string {
	if utf8.ValidString(path) && !strings.Contains(path, "%") {
		return path
	}
	var out []byte
	for len(path) > 0 {
		r, n := utf8.DecodeRuneInString(path)
		if r == utf8.RuneError && n == 1 || r == '%' {
			out = fmt.Appendf(out, "%%%02X", path[0])
		} else {
			out = append(out, path[:n]...)
		}
		path = path[n:]
	}
	return string(out)
}

// UnescapePath undoes EscapePath; it returns malformed escapes unchanged.
func UnescapePath(path string) string {
	// EscapePath escapes every %, so malformed escapes are from a user typing a plain path.
	if plain, err := url.PathUnescape(path); err == nil {
		return plain
	}
	return path
}

// In returns a path of the input as the file system spells it.
func (s FileScope) In(path string) string {
	if s.Escaped {
		return UnescapePath(path)
	}
	return path
}

// InRoots returns the roots as the file system spells them.
func (s FileScope) InRoots() []string {
	roots := make([]string, len(s.Roots))
	for i, root := range s.Roots {
		roots[i] = s.In(root)
	}
	return roots
}

// Out returns a path of the file system as the caller expects it.
func (s FileScope) Out(path string) string {
	if s.Escaped {
		return EscapePath(path)
	}
	return path
}

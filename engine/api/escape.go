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

// UnescapePath undoes EscapePath. It returns a path with malformed escapes unchanged.
func UnescapePath(path string) string {
	// EscapePath escapes every %, so a malformed escape comes from a user who has typed a plain
	// path.
	if plain, err := url.PathUnescape(path); err == nil {
		return plain
	}
	return path
}

// In converts a path in the input to the form of the file system.
func (s FileScope) In(path string) string {
	if s.Escaped {
		return UnescapePath(path)
	}
	return path
}

// InRoots returns the roots in the form of the file system.
func (s FileScope) InRoots() []string {
	roots := make([]string, len(s.Roots))
	for i, root := range s.Roots {
		roots[i] = s.In(root)
	}
	return roots
}

// Out converts a path of the file system to the form that the caller expects.
func (s FileScope) Out(path string) string {
	if s.Escaped {
		return EscapePath(path)
	}
	return path
}

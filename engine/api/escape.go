package api

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// EscapePath writes a path so that JSON can carry it: %XX stands for each byte
// that is not UTF-8, and for "%".
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

// UnescapePath is the path that EscapePath wrote; what it has not written stays.
func UnescapePath(path string) string {
	if plain, err := url.PathUnescape(path); err == nil {
		return plain
	}
	return path
}

// In is a path of the input as the file system has it.
func (s FileScope) In(path string) string {
	if s.Escaped {
		return UnescapePath(path)
	}
	return path
}

// Out is a path of the file system as the caller gets it.
func (s FileScope) Out(path string) string {
	if s.Escaped {
		return EscapePath(path)
	}
	return path
}

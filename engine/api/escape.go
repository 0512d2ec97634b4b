package api

import (
	"strings"
	"unicode/utf8"
)

// EscapePath writes a path so that JSON can carry it: %XX stands for each byte
// that is not UTF-8, and for "%".
func EscapePath(path string) string {
	if utf8.ValidString(path) && !strings.Contains(path, "%") {
		return path
	}
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for i := 0; i < len(path); {
		r, n := utf8.DecodeRuneInString(path[i:])
		if r == utf8.RuneError && n == 1 || path[i] == '%' {
			out.Write([]byte{'%', hex[path[i]>>4], hex[path[i]&15]})
		} else {
			out.WriteString(path[i : i+n])
		}
		i += n
	}
	return out.String()
}

// UnescapePath is the path that EscapePath wrote.
func UnescapePath(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	var out strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '%' && i+2 < len(path) {
			high, low := unhex(path[i+1]), unhex(path[i+2])
			if high >= 0 && low >= 0 {
				out.WriteByte(byte(high<<4 | low))
				i += 2
				continue
			}
		}
		out.WriteByte(path[i])
	}
	return out.String()
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
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

package toolkit

import (
	"bytes"
	"encoding/json"
)

// Member returns a member of a valid JSON object, the last one of several. It does not decode the
// others, which may be many megabytes, and does not resolve escapes in names.
func Member(object []byte, name string) (value json.RawMessage, ok bool) {
	start, end := findMember(object, name)
	if end == 0 {
		return nil, false
	}
	return object[start:end:end], true
}

// findMember returns the bounds of a member's value, or 0 and 0.
func findMember(object []byte, name string) (start, end int) {
	for i := skipSpace(object, 1); i < len(object) && object[i] == '"'; {
		keyEnd := stringEnd(object, i)
		known := keyEnd-i == len(name)+2 && string(object[i+1:keyEnd-1]) == name
		from := skipSpace(object, skipSpace(object, keyEnd)+1)
		to := valueEnd(object, from)
		// Keep looking: the last of several members counts, as in encoding/json.
		if known {
			start, end = from, to
		}
		if i = skipSpace(object, to); i < len(object) && object[i] == ',' {
			i = skipSpace(object, i+1)
		}
	}
	return start, end
}

// skipSpace returns the index after the white space at i.
func skipSpace(text []byte, i int) int {
	for i < len(text) && bytes.IndexByte([]byte(" \t\r\n"), text[i]) >= 0 {
		i++
	}
	return min(i, len(text))
}

// stringEnd returns the index after the string at i.
func stringEnd(text []byte, i int) int {
	for at := i + 1; at < len(text); {
		quote := bytes.IndexByte(text[at:], '"')
		if quote < 0 {
			break
		}
		// A quote after an odd number of backslashes is escaped.
		escapes := 0
		for at += quote; text[at-1-escapes] == '\\'; {
			escapes++
		}
		if at++; escapes%2 == 0 {
			return at
		}
	}
	return len(text)
}

// valueEnd returns the index after the value at i.
func valueEnd(text []byte, i int) int {
	for depth := 0; i < len(text); {
		switch text[i] {
		case '"':
			i = stringEnd(text, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
			continue
		default:
			for i < len(text) && bytes.IndexByte([]byte(",]} \t\r\n"), text[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return len(text)
}

// NestingDepth returns the depth of nested arrays and objects.
func NestingDepth(text []byte) int {
	maxDepth, depth, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			maxDepth = max(maxDepth, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return maxDepth
}

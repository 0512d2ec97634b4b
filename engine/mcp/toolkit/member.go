package toolkit

import (
	"bytes"
	"encoding/json"
)

// Member finds a member of a valid JSON object without decoding the others,
// which may be many megabytes; the last one of several. It does not see through
// escapes in names.
func Member(object []byte, name string) (value json.RawMessage, ok bool) {
	start, end := memberAt(object, name)
	if end == 0 {
		return nil, false
	}
	return object[start:end:end], true
}

// memberAt is where a member's value stands; 0 and 0 for nowhere.
func memberAt(object []byte, name string) (start, end int) {
	for i := afterSpace(object, 1); i < len(object) && object[i] == '"'; {
		keyEnd := stringEnd(object, i)
		known := keyEnd-i == len(name)+2 && string(object[i+1:keyEnd-1]) == name
		from := afterSpace(object, afterSpace(object, keyEnd)+1)
		to := valueEnd(object, from)
		if known {
			start, end = from, to
		}
		if i = afterSpace(object, to); i < len(object) && object[i] == ',' {
			i = afterSpace(object, i+1)
		}
	}
	return start, end
}

// afterSpace is where white space that begins at i has ended.
func afterSpace(text []byte, i int) int {
	for i < len(text) && bytes.IndexByte([]byte(" \t\r\n"), text[i]) >= 0 {
		i++
	}
	return min(i, len(text))
}

// stringEnd is behind the string that begins at i.
func stringEnd(text []byte, i int) int {
	for at := i + 1; at < len(text); {
		quote := bytes.IndexByte(text[at:], '"')
		if quote < 0 {
			break
		}
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

// valueEnd is behind the value that begins at i.
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

// Nested is how deep arrays and objects lie in each other.
func Nested(text []byte) int {
	deepest, depth, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

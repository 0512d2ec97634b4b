package styled

import "strings"

// Sequence returns the length of the escape sequence (ECMA-48, 5.4 and 5.6) at the start of p, an
// ESC, and whether it is complete. An incomplete one is as long as p. A byte that cannot belong to
// the sequence ends it and is not part of it.
func Sequence[T string | []byte](p T) (n int, whole bool) {
	if len(p) < 2 {
		return len(p), false
	}
	switch c := p[1]; {
	case c == '[':
		return sequenceTo(p, 0x40)
	case strings.IndexByte("]PX^_", c) >= 0:
		return controlString(p)
	case c >= 0x20 && c <= 0x2f:
		return sequenceTo(p, 0x30)
	case c < 0x20 || c > 0x7e:
		return 1, true
	}
	return 2, true
}

// sequenceTo returns the length of a sequence with a final byte of at least final.
func sequenceTo[T string | []byte](p T, final byte) (n int, whole bool) {
	for i := 2; i < len(p); i++ {
		if c := p[i]; c >= final && c <= 0x7e {
			return i + 1, true
		} else if c < 0x20 || c > 0x7e {
			return i, true
		}
	}
	return len(p), false
}

// controlString returns the length of a control string with its terminator.
func controlString[T string | []byte](p T) (n int, whole bool) {
	for i := 2; i < len(p); i++ {
		switch {
		case p[i] == 0x07:
			return i + 1, true
		case p[i] == 0x1b && i+1 < len(p) && p[i+1] == '\\':
			return i + 2, true
		case p[i] == 0x1b && i+1 < len(p):
			return i, true
		}
	}
	return len(p), false
}

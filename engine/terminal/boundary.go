package terminal

import (
	"bytes"
	"slices"

	"tandem/engine/vt/scan"
)

// boundaryWindow is how far back an unfinished sequence is looked for, beyond the
// part of a control string, a picture as a rule, that the emulator has read already.
const boundaryWindow = 16 << 10

// boundary is the offset, at or a little before what the screen shows, where
// output can be cut: a repaint and then everything from there on gives the
// same as everything. An unfinished sequence has had no effect yet, so it
// belongs to what follows. Runs on the screen goroutine.
func (s *screen) boundary() int64 {
	at := s.shown.Load()
	tail := make([]byte, min(int64(boundaryWindow+s.term.InString()), at-s.log.Start()))
	n, _ := s.log.ReadAt(tail, at-int64(len(tail)))
	if n < len(tail) {
		return at
	}
	if s.term.InString() > 0 { // which an ESC at its end may be the end of
		if i := bytes.LastIndexByte(bytes.TrimSuffix(tail, []byte{escape}), escape); i >= 0 {
			return at - int64(len(tail)-i)
		}
	}
	return at - int64(unfinished(tail))
}

const escape = 0x1b

// unfinished is the length of the escape sequence or UTF-8 character that
// output ends in the middle of, 0 if it ends between two (ECMA-48 5.3 to 5.6).
// A control character inside an unfinished sequence has had its effect already;
// who goes on from there sees it twice, as nobody writes such a thing.
func unfinished(tail []byte) int {
	if i := bytes.LastIndexByte(tail, escape); i >= 0 && inSequence(tail[i+1:]) {
		return len(tail) - i
	}
	return len(tail) - scan.Whole(tail)
}

// inSequence reports whether what follows an ESC, without another ESC, leaves
// the sequence unfinished.
func inSequence(p []byte) bool {
	if bytes.ContainsAny(p, "\x18\x1a") { // CAN and SUB end every sequence
		return false
	}
	p = bytes.TrimLeftFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f })
	if len(p) == 0 {
		return true
	}
	switch p[0] {
	case '[':
		return end(p[1:], 0x40) < 0
	case ']':
		return bytes.IndexByte(p, '\a') < 0
	case 'P': // a string behind a final byte
		i := end(p[1:], 0x40)
		return i < 0 || p[1+i] < 0x7f
	case 'X', '^', '_':
		return true
	}
	return end(p, 0x30) < 0
}

// end finds what ends a sequence: a final byte, from first to 0x7e, or text
// beyond ASCII, which breaks it off.
func end(p []byte, first byte) int {
	return slices.IndexFunc(p, func(b byte) bool { return b >= first && b != 0x7f })
}

package terminal

import (
	"bytes"
	"slices"

	"tandem/engine/screen/vt/scan"
)

// boundaryWindow is how far back to search for an unfinished sequence, not counting the part of a
// control string (usually a picture) already read by the emulator.
const boundaryWindow = 16 << 10

// findBoundary returns the offset, at or shortly before the end of the shown output, at which
// output can be cut: a repaint followed by everything after it gives the same screen. An unfinished
// sequence has had no effect yet, so it belongs to the output after the cut. It runs on the screen
// goroutine.
func (s *screen) findBoundary() int64 {
	at := s.shown.Load()
	tail := make([]byte, min(int64(boundaryWindow+s.term.PendingString()), at-s.log.Start()))
	n, _ := s.log.ReadAt(tail, at-int64(len(tail)))
	if n < len(tail) {
		return at
	}
	// An ESC at its end may be the first half of the terminator.
	if s.term.PendingString() > 0 {
		if i := bytes.LastIndexByte(bytes.TrimSuffix(tail, []byte{escape}), escape); i >= 0 {
			return at - int64(len(tail)-i)
		}
	}
	return at - int64(unfinishedLength(tail))
}

const escape = 0x1b

// unfinishedLength returns the length of the escape sequence or UTF-8 character at the end of tail
// that is incomplete, or 0 (ECMA-48 5.3 to 5.6). A control character inside an incomplete sequence
// takes effect twice after a cut; programs do not write such sequences.
func unfinishedLength(tail []byte) int {
	if i := bytes.LastIndexByte(tail, escape); i >= 0 && inSequence(tail[i+1:]) {
		return len(tail) - i
	}
	return len(tail) - scan.CompleteLen(tail)
}

// inSequence reports whether p, following an ESC and containing no other, leaves the sequence
// incomplete.
func inSequence(p []byte) bool {
	// CAN and SUB end every sequence.
	if bytes.ContainsAny(p, "\x18\x1a") {
		return false
	}
	p = bytes.TrimLeftFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f })
	if len(p) == 0 {
		return true
	}
	switch p[0] {
	case '[':
		return findSequenceEnd(p[1:], 0x40) < 0
	case ']':
		return bytes.IndexByte(p, '\a') < 0
	case 'P': // a string after a final byte
		i := findSequenceEnd(p[1:], 0x40)
		return i < 0 || p[1+i] < 0x7f
	case 'X', '^', '_':
		return true
	}
	return findSequenceEnd(p, 0x30) < 0
}

// findSequenceEnd returns the index of the byte that ends a sequence: a final byte, from first to
// 0x7e, or text beyond ASCII, which aborts it.
func findSequenceEnd(p []byte, first byte) int {
	return slices.IndexFunc(p, func(b byte) bool { return b >= first && b != 0x7f })
}

package terminal

import (
	"bytes"
	"slices"

	"tandem/engine/screen/vt/scan"
)

// boundaryWindow is how many bytes are searched backwards for an unfinished sequence. It does not
// include the part of a control string (usually a picture) that the emulator has already read.
const boundaryWindow = 16 << 10

// findBoundary returns an offset at which output can be cut, at or shortly before the end of the
// output shown: a repaint and everything after the offset give the same screen. An unfinished
// sequence has had no effect yet, so it belongs to the output after the cut. The screen must
// be locked.
func (s *screen) findBoundary() int64 {
	at := s.shown.Load()
	tail := make([]byte, min(int64(boundaryWindow+s.term.PendingString()), at-s.log.Start()))
	n, _ := s.log.ReadAt(tail, at-int64(len(tail)))
	if n < len(tail) {
		return at
	}
	// An ESC at the end may be the first half of the terminator.
	if s.term.PendingString() > 0 {
		if i := bytes.LastIndexByte(bytes.TrimSuffix(tail, []byte{escape}), escape); i >= 0 {
			return at - int64(len(tail)-i)
		}
	}
	return at - int64(unfinishedLength(tail))
}

const escape = 0x1b

// unfinishedLength returns the length of the incomplete escape sequence or UTF-8 character at the
// end of tail, or 0 (ECMA-48 5.3 to 5.6). A control character inside an incomplete sequence would
// take effect twice after a cut, but programs do not write such sequences.
func unfinishedLength(tail []byte) int {
	if i := bytes.LastIndexByte(tail, escape); i >= 0 && inSequence(tail[i+1:]) {
		return len(tail) - i
	}
	return len(tail) - scan.CompleteLen(tail)
}

// inSequence reports whether the sequence is still incomplete after p, which follows an ESC and
// contains no other ESC.
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

// findSequenceEnd returns the index of the last byte of a sequence. It is either a final byte,
// between first and 0x7e, or a byte of text beyond ASCII, which aborts the sequence.
func findSequenceEnd(p []byte, first byte) int {
	return slices.IndexFunc(p, func(b byte) bool { return b >= first && b != 0x7f })
}

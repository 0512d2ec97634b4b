package logs

import (
	"errors"
	"io"
	"os"
	"unicode/utf8"

	"tandem/persist/sparse"
)

// Tail is the end of a log, of at most a number of bytes; dropped is how many
// there are, or were, before. It begins with a whole character.
func Tail(path string, most int) (end []byte, dropped int64, err error) {
	source := Source{Path: path}
	l, err := source.open()
	if err != nil || l == nil {
		return nil, 0, err
	}
	defer l.Close()
	for {
		size := l.End()
		from := max(l.Start(), size-int64(most))
		p := make([]byte, max(size-from, 0))
		n, err := l.ReadAt(p, from)
		switch {
		case errors.Is(err, sparse.ErrDropped):
			continue
		case err != nil && err != io.EOF:
			return nil, 0, err
		}
		p = p[:n]
		for cut := 0; cut < 3 && from > 0 && len(p) > 0 && p[0]&0xC0 == 0x80; cut++ {
			p, from = p[1:], from+1
		}
		return p, from, nil
	}
}

func FileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// WholeRunes is the length of p without an incomplete character at its end.
func WholeRunes(p []byte) int {
	for back := 1; back < min(utf8.UTFMax, len(p)+1); back++ {
		if at := len(p) - back; utf8.RuneStart(p[at]) {
			if !utf8.FullRune(p[at:]) {
				return at
			}
			break
		}
	}
	return len(p)
}

// tell raises a flag that somebody waits for; it never blocks.
func tell(flag chan struct{}) {
	select {
	case flag <- struct{}{}:
	default:
	}
}

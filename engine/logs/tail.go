package logs

import (
	"errors"
	"io"
	"os"

	"tandem/engine/vt/scan"
	"tandem/persist/sparse"
)

// Tail is the end of a log, of at most a number of bytes; dropped is how many
// there are, or were, before. It begins with a whole character, and if more of
// the log is to come it ends with one.
func Tail(path string, most int, more bool) (end []byte, dropped int64, err error) {
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
		if more {
			p = p[:scan.Whole(p)]
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

// tell raises a flag that somebody waits for; it never blocks.
func tell(flag chan struct{}) {
	select {
	case flag <- struct{}{}:
	default:
	}
}

package logs

import (
	"errors"
	"io"
	"os"

	"tandem/engine/screen/vt/scan"
	"tandem/persist/sparse"
)

// Tail returns the last bytes of a log, at most limit, and the number of bytes before them. The
// result starts with a whole character. If more is set, more output may follow, and the result also
// ends with a whole character.
func Tail(path string, limit int, more bool) (end []byte, dropped int64, err error) {
	source := Source{Path: path}
	l, err := source.openLog()
	if err != nil || l == nil {
		return nil, 0, err
	}
	defer l.Close()
	for {
		size := l.End()
		from := max(l.Start(), size-int64(limit))
		p := make([]byte, max(size-from, 0))
		n, err := l.ReadAt(p, from)
		switch {
		// The head was freed meanwhile: start over.
		case errors.Is(err, sparse.ErrDropped):
			continue
		case err != nil && err != io.EOF:
			return nil, 0, err
		}
		p = p[:n]
		// Skip the rest of a character cut in two.
		for cut := 0; cut < 3 && from > 0 && len(p) > 0 && p[0]&0xC0 == 0x80; cut++ {
			p, from = p[1:], from+1
		}
		if more {
			p = p[:scan.CompleteLen(p)]
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

// notify sends on a channel with a buffer, without blocking.
func notify(flag chan struct{}) {
	select {
	case flag <- struct{}{}:
	default:
	}
}

package logs

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"tandem/persist/sparse"
)

// A fakeLog is a log that was trimmed up to start.
type fakeLog struct {
	all   string
	start int64
}

func (l fakeLog) Start() int64 { return l.start }
func (l fakeLog) End() int64   { return int64(len(l.all)) }
func (l fakeLog) ReadAt(p []byte, off int64) (int, error) {
	if off < l.start {
		return 0, sparse.ErrDropped
	}
	if off >= l.End() {
		return 0, io.EOF
	}
	n := copy(p, l.all[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// A trimmedLog has been trimmed since Start was called.
type trimmedLog struct{ fakeLog }

func (trimmedLog) Start() int64 { return 0 }

func TestHideRedactsEveryRead(t *testing.T) {
	const secret = "0123456789abcdef5a17c0ffee92b3d8"
	all := secret + " one " + secret + secret + " two 0123456 " + secret + " three\n" + secret[:20]
	want := []byte(strings.ReplaceAll(all[:len(all)-20], secret, strings.Repeat("x", len(secret))) + strings.Repeat("x", 20))
	for size := 1; size <= len(all)+1; size++ {
		log := Hide(fakeLog{all: all}, secret)
		for at := 0; at < len(all); at++ {
			p := make([]byte, size)
			n, err := log.ReadAt(p, int64(at))
			if end := min(at+size, len(all)); !bytes.Equal(p[:n], want[at:end]) || (err == io.EOF) != (at+size > len(all)) {
				t.Fatalf("%d bytes at %d: %q, %v, want %q", size, at, p[:n], err, want[at:end])
			}
		}
	}
	dropped, trimmed := Hide(fakeLog{all, 10}, secret), Hide(trimmedLog{fakeLog{all, 10}}, secret)
	for _, size := range []int{30, 100} {
		p := make([]byte, size)
		if n, err := dropped.ReadAt(p, 10); err != nil || !bytes.Equal(p[:n], want[10:10+size]) {
			t.Errorf("read at the start of a trimmed log: %q, %v", p[:n], err)
		}
		if n, err := dropped.ReadAt(p, 9); n > 0 || !errors.Is(err, sparse.ErrDropped) {
			t.Errorf("read before the start of a trimmed log: %q, %v, want %v", p[:n], err, sparse.ErrDropped)
		}
		if n, err := trimmed.ReadAt(p, 10); err != nil || !bytes.Equal(p[:n], want[10:10+size]) {
			t.Errorf("read while the log is trimmed: %q, %v", p[:n], err)
		}
	}
	if log := (fakeLog{all: all}); Hide(log, "") != log {
		t.Error("Hide without a secret returned another log")
	}
}

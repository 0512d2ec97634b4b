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
	dropped := Hide(fakeLog{all, 10}, secret)
	p := make([]byte, 30)
	if n, err := dropped.ReadAt(p, 10); err != nil || string(p[:n]) != strings.Repeat("x", 22)+" one xxx" {
		t.Errorf("read at the start of a trimmed log: %q, %v", p[:n], err)
	}
	if _, err := dropped.ReadAt(p, 9); !errors.Is(err, sparse.ErrDropped) {
		t.Errorf("read before the start of a trimmed log: %v, want %v", err, sparse.ErrDropped)
	}
	trimmed := Hide(trimmedLog{fakeLog{all, 10}}, secret)
	if n, err := trimmed.ReadAt(p, 10); err != nil || string(p[:n]) != strings.Repeat("x", 22)+" one xxx" {
		t.Errorf("read while the log is trimmed: %q, %v", p[:n], err)
	}
	if log := (fakeLog{all: all}); Hide(log, "") != log {
		t.Error("Hide without a secret returned another log")
	}
}

package logs

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"tandem/persist/sparse"
)

// A text is a log of which what is before start was dropped.
type text struct {
	all   string
	start int64
}

func (l text) Start() int64 { return l.start }
func (l text) End() int64   { return int64(len(l.all)) }
func (l text) ReadAt(p []byte, off int64) (int, error) {
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

// A beingTrimmed log has dropped its beginning since Start was called.
type beingTrimmed struct{ text }

func (beingTrimmed) Start() int64 { return 0 }

func TestSecretIsHiddenHoweverALogIsRead(t *testing.T) {
	const secret = "0123456789abcdef5a17c0ffee92b3d8"
	all := secret + " one " + secret + secret + " two 0123456 " + secret + " three\n" + secret[:20]
	want := []byte(strings.ReplaceAll(all[:len(all)-20], secret, strings.Repeat("x", len(secret))) + strings.Repeat("x", 20))
	for size := 1; size <= len(all)+1; size++ {
		log := Hide(text{all: all}, secret)
		for at := 0; at < len(all); at++ {
			p := make([]byte, size)
			n, err := log.ReadAt(p, int64(at))
			if end := min(at+size, len(all)); !bytes.Equal(p[:n], want[at:end]) || (err == io.EOF) != (at+size > len(all)) {
				t.Fatalf("%d bytes at %d: %q, %v, want %q", size, at, p[:n], err, want[at:end])
			}
		}
	}
	dropped := Hide(text{all, 10}, secret)
	p := make([]byte, 30)
	if n, err := dropped.ReadAt(p, 10); err != nil || string(p[:n]) != strings.Repeat("x", 22)+" one xxx" {
		t.Errorf("behind what was dropped: %q, %v", p[:n], err)
	}
	if _, err := dropped.ReadAt(p, 9); !errors.Is(err, sparse.ErrDropped) {
		t.Errorf("what was dropped: %v", err)
	}
	trimmed := Hide(beingTrimmed{text{all, 10}}, secret)
	if n, err := trimmed.ReadAt(p, 10); err != nil || string(p[:n]) != strings.Repeat("x", 22)+" one xxx" {
		t.Errorf("while it is trimmed: %q, %v", p[:n], err)
	}
	if log := (text{all: all}); Hide(log, "") != log {
		t.Error("nothing to hide changes the log")
	}
}

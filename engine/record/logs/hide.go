package logs

import (
	"bytes"
	"errors"
	"io"

	"tandem/persist/linelog"
	"tandem/persist/sparse"
)

// A redactedLog replaces each byte of a secret by another, so offsets stay the same. Searches must
// use it too, or they would reveal the secret.
type redactedLog struct {
	linelog.Reader
	secret []byte
}

// minFragment is the length in bytes of the shortest part of a secret that is redacted at the ends
// of a log. Shorter parts reveal little.
const minFragment = 8

// Hide returns a log in which secret is redacted. If secret is "", it returns log itself. The
// secret is the nonce in the marks of a session's shell: a program with the nonce could forge
// marks.
func Hide(log linelog.Reader, secret string) linelog.Reader {
	if len(secret) < minFragment {
		return log
	}
	return redactedLog{log, []byte(secret)}
}

func (h redactedLog) ReadAt(p []byte, off int64) (int, error) {
	margin := len(h.secret) - 1
	if len(p) <= 2*margin {
		return h.readAround(p, off)
	}
	n, err := h.Reader.ReadAt(p, off)
	blankAll(p[:n], h.secret)
	for _, at := range [2]int{0, max(n-margin, 0)} { // only there, part of the secret may be outside p
		if _, err := h.readAround(p[at:min(at+margin, n)], off+int64(at)); err != nil && err != io.EOF {
			return 0, err
		}
	}
	return n, err
}

// readAround also reads around the range, because the secret may start before it or end after it.
func (h redactedLog) readAround(p []byte, off int64) (int, error) {
	margin := int64(len(h.secret) - 1)
	from := max(off-margin, min(h.Start(), off), 0)
	lead := int(off - from)
	buf := make([]byte, lead+len(p)+int(margin))
	n, err := h.Reader.ReadAt(buf, from)
	if errors.Is(err, sparse.ErrDropped) && lead > 0 { // trimmed up to off meanwhile
		from, lead = off, 0
		n, err = h.Reader.ReadAt(buf, from)
	}
	buf = buf[:n]
	h.redact(buf, from > 0 && from == off)
	got := copy(p, buf[min(lead, n):])
	if got == len(p) {
		err = nil
	} else if err == nil {
		err = io.EOF
	}
	return got, err
}

// redact blanks the secret in buf. It also blanks a prefix of the secret at the end of buf, because
// the rest may not be written yet. If cut is set, the log may have been truncated at the start of
// buf, and a suffix of the secret is blanked there.
func (h redactedLog) redact(buf []byte, cut bool) {
	blankAll(buf, h.secret)
	for n := min(len(h.secret)-1, len(buf)); n >= minFragment; n-- {
		if tail := buf[len(buf)-n:]; bytes.HasPrefix(h.secret, tail) {
			blankOut(tail)
		}
		if head := buf[:n]; cut && bytes.HasSuffix(h.secret, head) {
			blankOut(head)
		}
	}
}

func blankAll(p, secret []byte) {
	for {
		i := bytes.Index(p, secret)
		if i < 0 {
			return
		}
		blankOut(p[i : i+len(secret)])
		p = p[i+len(secret):]
	}
}

func blankOut(p []byte) {
	for i := range p {
		p[i] = 'x'
	}
}

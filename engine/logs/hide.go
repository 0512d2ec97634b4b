package logs

import (
	"bytes"
	"errors"
	"io"

	"tandem/persist/linelog"
	"tandem/persist/sparse"
)

// A hiding log is one in which a secret is blanked, byte for byte, so that all offsets
// stay. Searches go through it as well: what can be searched for can be found out.
type hiding struct {
	linelog.Reader
	secret []byte
}

// shortest is how much of a secret must stand at a place where the log is cut to be taken
// for it: what is less gives little away.
const shortest = 8

// Hide is a log without a secret, which is the word in the marks of a session's shell; ""
// for none. Whoever knew it could print marks that are believed.
func Hide(log linelog.Reader, secret string) linelog.Reader {
	if len(secret) < shortest {
		return log
	}
	return hiding{log, []byte(secret)}
}

// ReadAt reads more than is asked for, as the secret may begin before it or end behind it.
func (h hiding) ReadAt(p []byte, off int64) (int, error) {
	margin := int64(len(h.secret) - 1)
	from := max(off-margin, min(h.Start(), off), 0)
	lead := int(off - from)
	buf := make([]byte, lead+len(p)+int(margin))
	n, err := h.Reader.ReadAt(buf, from)
	if errors.Is(err, sparse.ErrDropped) && lead > 0 { // what is dropped now is only what leads up to it
		from, lead = off, 0
		n, err = h.Reader.ReadAt(buf, from)
	}
	buf = buf[:n]
	h.blank(buf, from > 0 && from == off)
	got := copy(p, buf[min(lead, n):])
	if got == len(p) {
		err = nil
	} else if err == nil {
		err = io.EOF
	}
	return got, err
}

// blank blanks the secret in a part of the log, and the end of it at the part's begin if
// the log may be cut there. At the part's end the rest may not be written yet.
func (h hiding) blank(buf []byte, cut bool) {
	for rest := buf; ; {
		i := bytes.Index(rest, h.secret)
		if i < 0 {
			break
		}
		fill(rest[i : i+len(h.secret)])
		rest = rest[i+len(h.secret):]
	}
	for n := min(len(h.secret)-1, len(buf)); n >= shortest; n-- {
		if tail := buf[len(buf)-n:]; bytes.HasPrefix(h.secret, tail) {
			fill(tail)
		}
		if head := buf[:n]; cut && bytes.HasSuffix(h.secret, head) {
			fill(head)
		}
	}
}

func fill(p []byte) {
	for i := range p {
		p[i] = 'x'
	}
}

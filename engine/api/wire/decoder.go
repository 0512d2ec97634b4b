package wire

import (
	"encoding/binary"
	"errors"
	"math"
	"unicode/utf8"
)

var errMalformed = errors.New("malformed message")

// ErrUnknownKind means that a message has a kind added by a newer release. The message can be
// skipped, because messages do not depend on each other.
var ErrUnknownKind = errors.New("message of an unknown kind")

// A decoder decodes a binary message. After the first malformed value, err is set and all further
// values are zero. It never allocates much more memory than there are bytes.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail() {
	d.b, d.err = nil, errMalformed
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail()
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

// uvarint decodes a number up to max.
func (d *decoder) uvarint(max uint64) uint64 {
	// Fast path: most numbers take one byte.
	if len(d.b) > 0 && d.b[0] < 0x80 && uint64(d.b[0]) <= max {
		n := uint64(d.b[0])
		d.b = d.b[1:]
		return n
	}
	n, size := binary.Uvarint(d.b)
	if size <= 0 || n > max {
		d.fail()
		return 0
	}
	d.b = d.b[size:]
	return n
}

// varint decodes a signed number (zigzag).
func (d *decoder) varint() int64 {
	n, size := binary.Varint(d.b)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[size:]
	return n
}

// small decodes a signed number of at most 32 bits.
func (d *decoder) small() int {
	n := d.varint()
	if n < math.MinInt32 || n > math.MaxInt32 {
		d.fail()
		return 0
	}
	return int(n)
}

// count decodes the number of items that follow. Each item has at least size bytes.
func (d *decoder) count(size int) int {
	// Reject more items than the message has room for, so the caller does not allocate memory for
	// them.
	return int(d.uvarint(uint64(len(d.b) / size)))
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.b) {
		d.fail()
		return nil
	}
	p := d.b[:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) string() string { return string(d.bytes(d.count(1))) }

func (d *decoder) rune() rune { return rune(d.uvarint(math.MaxInt32)) }

func (d *decoder) bool() bool {
	c := d.byte()
	if c > 1 {
		d.fail()
	}
	return c == 1
}

// end returns an error if a value was malformed, or if bytes are left.
func (d *decoder) end() error {
	if d.err == nil && len(d.b) > 0 {
		d.fail()
	}
	return d.err
}

func appendString(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s)))
	return append(dst, s...)
}

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// appendRune encodes a rune. A negative rune could not be decoded, so it becomes the replacement
// character.
func appendRune(dst []byte, r rune) []byte {
	if r < 0 {
		r = utf8.RuneError
	}
	return binary.AppendUvarint(dst, uint64(r))
}

func (d *decoder) rest() []byte {
	p := d.b
	d.b = nil
	return p
}

package graphics

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image"
	"io"
)

// maxEncoded is the maximum size of a PNG or of compressed data for one picture, in bytes.
const maxEncoded = 32 << 20

// maxDeflateRatio is the maximum number of bytes encoded by one byte of deflate (zlib's technical
// details).
const maxDeflateRatio = 1032

var (
	errMedium = errors.New("EINVAL:only direct transmission (t=d)")
	errFormat = errors.New("EINVAL:the format must be 24, 32 or 100")
	errBase64 = errors.New("EINVAL:the payload is not base64")
	errLong   = errors.New("EFBIG:too much data")
	errZlib   = errors.New("EINVAL:the payload is not compressed with zlib")
)

// A Loader assembles a picture sent in several commands (m=1).
type Loader struct {
	first    *Command
	data     []byte
	maxBytes int // maximum bytes of the picture; 0 if not known yet
	err      error
}

// Loading reports whether a picture is incomplete.
func (l *Loader) Loading() bool { return l.first != nil }

// Continues reports whether a command carries more of the picture being loaded. A command
// describing a picture starts another one, whatever the state of the previous.
func (l *Loader) Continues(c *Command) bool {
	return l.first != nil && !c.Has('s') && !c.Has('f') && !c.Has('t') && !c.Has('o')
}

// Add adds the payload of a command. After the last one, done is the first command, with the
// parameters of the transfer, and p or err its result.
func (l *Loader) Add(c Command) (done *Command, p *Picture, err error) {
	if !l.Continues(&c) {
		first := c
		first.Payload, first.control = nil, bytes.Clone(c.control)
		*l = Loader{first: &first}
		if l.maxBytes = maxDataSize(&first); c.Letter('t', 'd') != 'd' {
			l.err = errMedium
		}
	}
	if l.err == nil {
		l.err = l.appendBase64(c.Payload)
	}
	if c.Int('m', 1) == 1 {
		return nil, nil, nil
	}
	done, err = l.first, l.err
	if err == nil {
		p, err = buildPicture(done, l.data)
	}
	*l = Loader{}
	return done, p, err
}

// A PartialPicture is an incomplete picture.
type PartialPicture struct{ Control, Data []byte }

// Save returns the data received so far. It is empty if no picture is being loaded, if loading
// failed, or if the data exceeds maxSaved.
func (l *Loader) Save() PartialPicture {
	if l.first == nil || l.err != nil || len(l.data) > maxSaved {
		return PartialPicture{}
	}
	return PartialPicture{l.first.control, l.data}
}

// Restore continues from a saved state.
func (l *Loader) Restore(k PartialPicture) {
	*l = Loader{}
	c, ok := ParseCommand(k.Control)
	// The saved data may be up to 3 bytes longer, the rest of the last group of base64.
	if ok && len(k.Control) > 0 && len(k.Data) <= maxDataSize(&c)+3 {
		l.first, l.data, l.maxBytes = &c, k.Data, maxDataSize(&c)
	}
}

// maxDataSize returns the maximum bytes of a picture according to its first command: the size of
// its pixels, or slightly more if they are compressed.
func maxDataSize(c *Command) int {
	size, channels := image.Pt(c.Int('s', MaxSide), c.Int('v', MaxSide)), 4
	switch {
	case c.Int('f', 1<<16) == formatPNG:
		return maxEncoded
	case c.Int('f', 1<<16) == formatRGB:
		channels = 3
	}
	n := size.X * size.Y * channels
	if c.Letter('o', 0) == 'z' {
		return min(n+n>>8+1<<10, maxEncoded)
	}
	return n
}

// appendBase64 decodes and appends a piece. It ignores data after the last pixel, and returns
// errLong for a PNG or zlib data over the maximum.
func (l *Loader) appendBase64(piece []byte) error {
	piece = bytes.TrimRight(piece, "=")
	n := base64.RawStdEncoding.DecodedLen(len(piece))
	if room := l.maxBytes - len(l.data); n > room {
		if l.first.Letter('o', 0) == 'z' || l.first.Int('f', 1<<16) == formatPNG {
			l.data = nil
			return errLong
		}
		// base64 decodes in groups of three bytes, so up to two more than the rest may come.
		piece = piece[:min(len(piece), (room+2)/3*4)]
		n = base64.RawStdEncoding.DecodedLen(len(piece))
	}
	l.grow(n)
	var err error
	if l.data, err = base64.RawStdEncoding.AppendDecode(l.data, piece); err != nil {
		l.data = nil
		return errBase64
	}
	return nil
}

// grow makes room for n more bytes. Once a 16th of the picture has arrived, it allocates the whole
// size. This avoids copies of large pictures and memory for pictures that never arrive.
func (l *Loader) grow(n int) {
	want := len(l.data) + n
	if want <= cap(l.data) {
		return
	}
	if whole := l.maxBytes + 3; want >= whole/16 && l.first.Int('f', 1<<16) != formatPNG {
		want = max(want, whole)
	} else {
		want += want / 2
	}
	l.data = append(make([]byte, 0, want), l.data...)
}

// Values of the key f of a command. Without it, the format is formatRGBA.
const (
	formatRGB  = 24
	formatRGBA = 32
	formatPNG  = 100
)

// buildPicture creates the picture described by a command.
func buildPicture(c *Command, data []byte) (*Picture, error) {
	packed := c.Letter('o', 0) == 'z'
	channels := 4
	switch c.Int('f', 1<<16) {
	case 0, formatRGBA:
	case formatRGB:
		channels = 3
	case formatPNG:
		if packed {
			var err error
			if data, err = unpackPNG(data); err != nil {
				return nil, err
			}
		}
		return FromPNG(data)
	default:
		return nil, errFormat
	}
	size := image.Pt(c.Int('s', MaxSide+1), c.Int('v', MaxSide+1))
	switch {
	case !isValidSize(size):
		return nil, errSize
	case packed:
		return FromPacked(size, channels, data)
	}
	return FromPixels(size, channels, data)
}

// unpackPNG removes zlib compression around a PNG. A PNG is already compressed, so unpackPNG rejects
// data that expands beyond what maxUnpackedPNG and maxUnpackedPNGByte allow.
func unpackPNG(data []byte) ([]byte, error) {
	from, err := openZlib(data)
	if err != nil {
		return nil, errZlib
	}
	defer zlibReaders.Put(from)
	maxSize := min(maxUnpackedPNG+maxUnpackedPNGByte*len(data), maxEncoded)
	out, err := io.ReadAll(io.LimitReader(from, int64(maxSize)+1))
	switch {
	case err != nil:
		return nil, errZlib
	case len(out) > maxSize:
		return nil, errLong
	}
	return out, nil
}

// maxUnpackedPNG and maxUnpackedPNGByte limit an unpacked PNG: a base, and an amount per packed
// byte.
const maxUnpackedPNG, maxUnpackedPNGByte = 16 << 10, 64

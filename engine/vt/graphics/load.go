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

// mostDeflated is how many bytes one byte of deflate stands for at most (zlib's
// technical details).
const mostDeflated = 1032

var (
	errMedium = errors.New("EINVAL:only direct transmission (t=d)")
	errFormat = errors.New("EINVAL:the format is none of 24, 32 and 100")
	errBase64 = errors.New("EINVAL:the payload is not base64")
	errLong   = errors.New("EFBIG:too much data")
	errZlib   = errors.New("EINVAL:the payload is not compressed with zlib")
)

// A Loader puts together what comes in several commands (m=1).
type Loader struct {
	first *Command
	data  []byte
	most  int // maximum bytes of the picture; 0 if not known yet
	err   error
}

// Loading says that a picture is not complete yet.
func (l *Loader) Loading() bool { return l.first != nil }

// Continues says that a command carries more of the picture that is being loaded.
// One that describes a picture begins another, whatever became of that before.
func (l *Loader) Continues(c *Command) bool {
	return l.first != nil && !c.Has('s') && !c.Has('f') && !c.Has('t') && !c.Has('o')
}

// Add takes the payload of a command. When it was the last one, done is the first, in
// whose terms all is meant, with its picture or what is wrong with it.
func (l *Loader) Add(c Command) (done *Command, p *Picture, err error) {
	if !l.Continues(&c) {
		first := c
		first.Payload, first.control = nil, bytes.Clone(c.control)
		*l = Loader{first: &first}
		if l.most = declared(&first); c.Letter('t', 'd') != 'd' {
			l.err = errMedium
		}
	}
	if l.err == nil {
		l.err = l.decode(c.Payload)
	}
	if c.Int('m', 1) == 1 {
		return nil, nil, nil
	}
	done, err = l.first, l.err
	if err == nil {
		p, err = picture(done, l.data)
	}
	*l = Loader{}
	return done, p, err
}

// Kept is a picture that is not complete yet.
type Kept struct{ Control, Data []byte }

// Keep returns the data received so far. It is empty if no picture is being loaded, if it failed, or
// if it is larger than maxKept.
func (l *Loader) Keep() Kept {
	if l.first == nil || l.err != nil || len(l.data) > maxKept {
		return Kept{}
	}
	return Kept{l.first.control, l.data}
}

// Restore goes on from what was kept.
func (l *Loader) Restore(k Kept) {
	*l = Loader{}
	c, ok := ParseCommand(k.Control)
	if ok && len(k.Control) > 0 && len(k.Data) <= declared(&c)+3 {
		l.first, l.data, l.most = &c, k.Data, declared(&c)
	}
}

// declared returns the maximum bytes of a picture according to its first command: the size of its
// pixels, or slightly more if they are compressed.
func declared(c *Command) int {
	size, channels := image.Pt(c.Int('s', MaxSide), c.Int('v', MaxSide)), 4
	switch {
	case c.Int('f', 1<<16) == 100:
		return maxEncoded
	case c.Int('f', 1<<16) == 24:
		channels = 3
	}
	n := size.X * size.Y * channels
	if c.Letter('o', 0) == 'z' {
		return min(n+n>>8+1<<10, maxEncoded)
	}
	return n
}

// decode appends a piece of base64. It ignores data after the last pixel, and returns errLong for a
// PNG or zlib data over the maximum.
func (l *Loader) decode(piece []byte) error {
	piece = bytes.TrimRight(piece, "=")
	n := base64.RawStdEncoding.DecodedLen(len(piece))
	if room := l.most - len(l.data); n > room {
		if l.first.Letter('o', 0) == 'z' || l.first.Int('f', 1<<16) == 100 {
			l.data = nil
			return errLong
		}
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
	if whole := l.most + 3; want >= whole/16 && l.first.Int('f', 1<<16) != 100 {
		want = max(want, whole)
	} else {
		want += want / 2
	}
	l.data = append(make([]byte, 0, want), l.data...)
}

// picture makes the picture that a command describes of its data.
func picture(c *Command, data []byte) (*Picture, error) {
	size, channels := image.Pt(c.Int('s', MaxSide+1), c.Int('v', MaxSide+1)), 4
	switch c.Int('f', 1<<16) {
	case 24:
		channels = 3
	case 0, 32:
	case 100:
		channels = 0
	default:
		return nil, errFormat
	}
	if channels > 0 && !fits(size) {
		return nil, errSize
	}
	packed := c.Letter('o', 0) == 'z'
	switch {
	case channels > 0 && packed:
		return FromPacked(size, channels, data)
	case channels > 0:
		return FromPixels(size, channels, data)
	case packed:
		var err error
		if data, err = pngWithin(data); err != nil {
			return nil, err
		}
	}
	return FromPNG(data)
}

// pngWithin is a PNG without a compression around its own, which makes it little smaller:
// what gets much larger is none.
func pngWithin(data []byte) ([]byte, error) {
	from, err := unzipper(data)
	if err != nil {
		return nil, errZlib
	}
	defer unzippers.Put(from)
	most := min(packedPNG+packedPNGByte*len(data), maxEncoded)
	out, err := io.ReadAll(io.LimitReader(from, int64(most)+1))
	switch {
	case err != nil:
		return nil, errZlib
	case len(out) > most:
		return nil, errLong
	}
	return out, nil
}

// packedPNG and packedPNGByte bound a PNG that comes compressed, the second for each byte.
const packedPNG, packedPNGByte = 16 << 10, 64

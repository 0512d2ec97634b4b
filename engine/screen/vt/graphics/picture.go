package graphics

import (
	"bytes"
	"compress/zlib"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"slices"
	"sync"
)

// MaxSide is the maximum size of a picture's side in pixels.
const MaxSide = 4096

// Errors sent to programs, worded as kitty does.
var (
	errSize   = errors.New("EINVAL:width and height must be 1 to 4096 pixels")
	errPNG    = errors.New("EBADPNG:not a PNG")
	errPixels = errors.New("ENODATA:fewer pixels than the size requires")
	errLarge  = errors.New("EFBIG:the picture unpacks to more than 64 MiB")
)

// A Picture is pixels. It does not change, and is safe for concurrent use.
type Picture struct {
	Number uint64 // assigned by its store; 0 for none
	Size   image.Point

	opaque bool // see Opaque

	mu       sync.Mutex // guards the rest
	unpacked int        // bytes of its pixels once unpacked
	usage    *Usage     // of the terminal that keeps it; nil if none
	pixels   []byte     // row by row; nil if converted to PNG
	packed   []byte     // instead of pixels, compressed with zlib
	sixels   []byte     // instead of pixels, as sixel data
	channels int        // 3 for RGB, 4 for RGBA without premultiplied alpha
	png      []byte
}

// FromPNG makes a picture of a PNG, which it keeps. It reads only the header; Image detects later
// damage.
func FromPNG(b []byte) (*Picture, error) {
	c, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil, errPNG
	}
	size := image.Pt(c.Width, c.Height)
	if !isValidSize(size) {
		return nil, errSize
	}
	p := &Picture{Size: size, opaque: isOpaquePNG(c, b), unpacked: pngUnpackSize(c, b)}
	if p.unpacked > MaxUnpacked {
		return nil, errLarge
	}
	p.png = bytes.Clone(b)
	return p, nil
}

// bitDepth and interlaced are offsets in a PNG's header.
const bitDepth, interlaced = 24, 28

// pngUnpackSize returns how many bytes decoding a PNG takes.
func pngUnpackSize(c image.Config, b []byte) int {
	n := 4
	if b[bitDepth] == 16 {
		n = 8
	}
	if b[interlaced] != 0 {
		n *= 2 // each pass is decoded separately
	}
	return n * c.Width * c.Height
}

// isOpaquePNG reports whether a PNG is opaque according to its colour model and chunks.
func isOpaquePNG(c image.Config, b []byte) bool {
	switch c.ColorModel {
	case color.NRGBAModel, color.NRGBA64Model:
		return false
	}
	return !bytes.Contains(b, []byte("tRNS"))
}

// FromPixels makes a picture of pixels of 3 or 4 bytes each, which it keeps. It ignores data after
// the last pixel.
func FromPixels(size image.Point, channels int, pixels []byte) (*Picture, error) {
	if !isValidSize(size) {
		return nil, errSize
	}
	n := size.X * size.Y * channels
	if len(pixels) < n {
		return nil, errPixels
	}
	pixels = pixels[:n:n]
	return &Picture{Size: size, channels: channels, pixels: pixels, opaque: channels == 3 || isOpaque(pixels)}, nil
}

// isOpaque reports whether all pixels, of 4 bytes each, are opaque.
func isOpaque(pixels []byte) bool {
	for i := 3; i < len(pixels); i += 4 {
		if pixels[i] != 255 {
			return false
		}
	}
	return true
}

// A compressed picture is unpacked at once, to check whether pixels are missing, if it has at most
// maxEagerUnpack bytes, plus maxEagerUnpackByte for each compressed byte. Without this limit, a
// program could keep the engine busy with a few bytes that unpack to a large picture.
const maxEagerUnpack, maxEagerUnpackByte = 4 << 10, 16

// FromPacked is FromPixels for pixels compressed with zlib. They stay compressed until used, so
// only Image may detect damage.
func FromPacked(size image.Point, channels int, packed []byte) (*Picture, error) {
	if !isValidSize(size) {
		return nil, errSize
	}
	n := size.X * size.Y * channels
	if len(packed) < 2 || n/maxDeflateRatio > len(packed) || !hasZlibHeader(packed) { // too short, or not zlib
		return nil, errZlib
	}
	if n <= maxEagerUnpack+maxEagerUnpackByte*len(packed) {
		from, err := openZlib(packed)
		if err == nil {
			_, err = io.CopyN(io.Discard, from, int64(n))
			zlibReaders.Put(from)
		}
		if err != nil {
			return nil, errZlib
		}
	}
	return &Picture{Size: size, channels: channels, packed: slices.Clip(packed), unpacked: 4 * size.X * size.Y, opaque: channels == 3}, nil
}

// hasZlibHeader reports whether data starts with a valid zlib header (RFC 1950).
func hasZlibHeader(b []byte) bool { return b[0]&0x0F == 8 && (int(b[0])<<8|int(b[1]))%31 == 0 }

// zlibReaders caches zlib readers, which each have a window of 32 KB.
var zlibReaders sync.Pool

// openZlib returns a reader of compressed data. Put it into zlibReaders after use.
func openZlib(packed []byte) (io.ReadCloser, error) {
	if from, ok := zlibReaders.Get().(io.ReadCloser); ok {
		return from, from.(zlib.Resetter).Reset(bytes.NewReader(packed), nil)
	}
	return zlib.NewReader(bytes.NewReader(packed))
}

func isValidSize(size image.Point) bool {
	return size.X > 0 && size.Y > 0 && size.X <= MaxSide && size.Y <= MaxSide
}

// setUsage moves the picture's memory from the Usage it is counted in to the one given. With nil it
// is no longer counted.
func (p *Picture) setUsage(in *Usage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noteWeight(-p.weightNow())
	p.usage = in
	p.noteWeight(p.weightNow())
}

// noteWeight adds n bytes to the usage. The caller holds the mutex.
func (p *Picture) noteWeight(n int) {
	if p.usage != nil {
		p.usage.kept.Add(int64(n))
	}
}

// weight returns the memory used by the picture, in bytes.
func (p *Picture) weight() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.weightNow()
}

func (p *Picture) weightNow() int {
	const itself = 256
	return itself + cap(p.pixels) + cap(p.packed) + cap(p.sixels) + cap(p.png)
}

// shrink replaces unpacked pixels with a PNG and returns how many bytes the pixels took.
func (p *Picture) shrink() (freed int) {
	p.mu.Lock()
	freed = cap(p.pixels)
	p.mu.Unlock()
	if freed > 0 {
		_, _ = p.PNG() // fails only for invalid sizes
	}
	return freed
}

// An encoders caches the buffers of PNG encoders, about a megabyte each.
type encoders struct{ sync.Pool }

func (e *encoders) Get() *png.EncoderBuffer {
	b, _ := e.Pool.Get().(*png.EncoderBuffer)
	return b
}

func (e *encoders) Put(b *png.EncoderBuffer) { e.Pool.Put(b) }

var buffers sync.Pool // *bytes.Buffer for encoded PNGs

var encoder = png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: &encoders{}}

// PNG returns the picture as a PNG, which must not be changed. The first call is slow; the PNG then
// replaces the pixels. The error is ErrBusy if the terminal may not unpack the picture yet.
func (p *Picture) PNG() ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.png != nil {
		return p.png, nil
	}
	img, err := p.decodePixels()
	if err != nil {
		return nil, err
	}
	b, _ := buffers.Get().(*bytes.Buffer)
	if b == nil {
		b = &bytes.Buffer{}
	}
	b.Reset()
	defer buffers.Put(b)
	if err := encoder.Encode(b, img); err != nil {
		return nil, err
	}
	before := p.weightNow()
	p.png, p.pixels, p.packed, p.sixels = bytes.Clone(b.Bytes()), nil, nil, nil
	p.unpacked = 4 * p.Size.X * p.Size.Y
	p.noteWeight(p.weightNow() - before)
	return p.png, nil
}

// Image returns the picture's pixels. The error is ErrBusy if the terminal may not unpack it yet.
func (p *Picture) Image() (image.Image, error) {
	p.mu.Lock()
	encoded := p.png
	if encoded == nil {
		defer p.mu.Unlock()
		return p.decodePixels()
	}
	// Decoding is slow, so it runs without the mutex; encoded never changes.
	usage, unpacked := p.usage, p.unpacked
	p.mu.Unlock()
	if !usage.allowUnpack(unpacked) {
		return nil, ErrBusy
	}
	return png.Decode(bytes.NewReader(encoded))
}

// decodePixels returns the pixels as an image. It drops damaged data, so each is decoded only once.
// The caller holds the mutex.
func (p *Picture) decodePixels() (image.Image, error) {
	r := image.Rectangle{Max: p.Size}
	switch {
	case p.pixels != nil && p.channels == 4:
		return &image.NRGBA{Pix: p.pixels, Stride: 4 * p.Size.X, Rect: r}, nil
	case p.pixels != nil:
		img := image.NewRGBA(r)
		return img, unpackRows(img.Pix, bytes.NewReader(p.pixels), p.Size, p.channels)
	case p.packed == nil && p.sixels == nil:
		return nil, errZlib
	}
	if !p.usage.allowUnpack(4 * p.Size.X * p.Size.Y) {
		return nil, ErrBusy
	}
	if p.sixels != nil {
		return &image.NRGBA{Pix: paintSixels(p.sixels, p.Size), Stride: 4 * p.Size.X, Rect: r}, nil
	}
	img := image.NewNRGBA(r)
	from, err := openZlib(p.packed)
	if err == nil {
		err = unpackRows(img.Pix, from, p.Size, p.channels)
		zlibReaders.Put(from)
	}
	if err != nil {
		p.noteWeight(-cap(p.packed))
		p.packed = nil
		return nil, errZlib
	}
	return img, nil
}

// unpackRows reads pixels of 3 or 4 bytes into pix, which has 4 bytes per pixel.
func unpackRows(pix []byte, from io.Reader, size image.Point, channels int) error {
	if channels == 4 {
		_, err := io.ReadFull(from, pix)
		return err
	}
	row := make([]byte, 3*size.X)
	for len(pix) > 0 {
		if _, err := io.ReadFull(from, row); err != nil {
			return err
		}
		for i := 0; i < len(row); i, pix = i+3, pix[4:] {
			pix[0], pix[1], pix[2], pix[3] = row[i], row[i+1], row[i+2], 255
		}
	}
	return nil
}

// Opaque reports whether the picture is known to be opaque without unpacking it.
func (p *Picture) Opaque() bool { return p.opaque }

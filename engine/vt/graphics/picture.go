package graphics

import (
	"bytes"
	"compress/zlib"
	"errors"
	"image"
	"image/png"
	"io"
	"slices"
	"sync"
)

// MaxSide is how many pixels a side of a picture may have.
const MaxSide = 4096

// What a picture cannot be made of, as kitty says it to programs.
var (
	errSize   = errors.New("EINVAL:a picture has 1 to 4096 pixels a side")
	errPNG    = errors.New("EBADPNG:not a PNG")
	errPixels = errors.New("ENODATA:fewer pixels than the size says")
)

// A Picture is pixels. It does not change, and may be read by several goroutines.
type Picture struct {
	Number uint64 // in its store; 0 for none
	Size   image.Point

	mu       sync.Mutex // guards the rest
	pixels   []byte     // row by row; nil once they are a PNG
	packed   []byte     // in their place, compressed with zlib; nil too then
	channels int        // 3 for RGB, 4 for RGBA that is not premultiplied
	png      []byte
}

// FromPNG makes a picture of a PNG, which it keeps as it is. Only its size is looked
// at: what is damaged further on is found by Image.
func FromPNG(b []byte) (*Picture, error) {
	c, err := png.DecodeConfig(bytes.NewReader(b))
	if err != nil {
		return nil, errPNG
	}
	size := image.Pt(c.Width, c.Height)
	if !fits(size) {
		return nil, errSize
	}
	return &Picture{Size: size, png: bytes.Clone(b)}, nil
}

// FromPixels makes a picture of pixels of 3 or 4 bytes, which it keeps. What is
// behind the last pixel is left out.
func FromPixels(size image.Point, channels int, pixels []byte) (*Picture, error) {
	if !fits(size) {
		return nil, errSize
	}
	n := size.X * size.Y * channels
	if len(pixels) < n {
		return nil, errPixels
	}
	return &Picture{Size: size, channels: channels, pixels: pixels[:n:n]}, nil
}

// packedRead is how many pixels, in bytes, are unpacked at once to see whether all are there:
// so many, and so many for each byte. A few bytes could take long else.
const packedRead, packedReadByte = 16 << 10, 16

// FromPacked makes a picture of pixels as FromPixels does, that are compressed with zlib and
// stay so until somebody looks at them. What is damaged may be found by Image only.
func FromPacked(size image.Point, channels int, packed []byte) (*Picture, error) {
	if !fits(size) {
		return nil, errSize
	}
	n := size.X * size.Y * channels
	from, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil || n/mostDeflated > len(packed) { // so it is too short
		return nil, errZlib
	}
	if n <= packedRead+packedReadByte*len(packed) {
		if _, err := io.CopyN(io.Discard, from, int64(n)); err != nil {
			return nil, errZlib
		}
	}
	return &Picture{Size: size, channels: channels, packed: slices.Clip(packed)}, nil
}

func fits(size image.Point) bool {
	return size.X > 0 && size.Y > 0 && size.X <= MaxSide && size.Y <= MaxSide
}

// weight is the memory that the picture takes, in bytes.
func (p *Picture) weight() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	const itself = 256
	return itself + cap(p.pixels) + cap(p.packed) + cap(p.png)
}

// shrink makes a PNG of bare pixels.
func (p *Picture) shrink() {
	p.mu.Lock()
	bare := p.pixels != nil
	p.mu.Unlock()
	if bare {
		_, _ = p.PNG() // which fails for a size alone that no picture has
	}
}

// PNG is the picture as a PNG, which must not be changed. It takes a while the first
// time; from then on the PNG is kept in place of the pixels.
func (p *Picture) PNG() ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.png != nil {
		return p.png, nil
	}
	img, err := p.raw()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&b, img); err != nil {
		return nil, err
	}
	p.png, p.pixels, p.packed = bytes.Clone(b.Bytes()), nil, nil
	return p.png, nil
}

// Image is the picture to be drawn.
func (p *Picture) Image() (image.Image, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.png != nil {
		return png.Decode(bytes.NewReader(p.png))
	}
	return p.raw()
}

// raw gives the pixels as an image. Those that are damaged are looked at once.
func (p *Picture) raw() (image.Image, error) {
	r := image.Rectangle{Max: p.Size}
	pixels := p.pixels
	if pixels == nil {
		var err error
		if pixels, err = inflated(p.packed, p.Size.X*p.Size.Y*p.channels); err != nil {
			p.packed = nil
			return nil, err
		}
	}
	if p.channels == 4 {
		return &image.NRGBA{Pix: pixels, Stride: 4 * p.Size.X, Rect: r}, nil
	}
	img := image.NewRGBA(r)
	for i, j := 0, 0; i < len(img.Pix); i, j = i+4, j+3 {
		copy(img.Pix[i:], pixels[j:j+3])
		img.Pix[i+3] = 255
	}
	return img, nil
}

// Opaque says that nothing can be seen through the picture, as far as that is known
// without decoding it.
func (p *Picture) Opaque() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pixels == nil {
		return false
	}
	if p.channels == 4 {
		for i := 3; i < len(p.pixels); i += 4 {
			if p.pixels[i] != 255 {
				return false
			}
		}
	}
	return true
}

package graphics

import (
	"bytes"
	"errors"
	"image"
	"image/png"
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

func fits(size image.Point) bool {
	return size.X > 0 && size.Y > 0 && size.X <= MaxSide && size.Y <= MaxSide
}

// weight is the memory that the picture takes, in bytes.
func (p *Picture) weight() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	const itself = 256
	return itself + cap(p.pixels) + cap(p.png)
}

// PNG is the picture as a PNG, which must not be changed. It takes a while the first
// time; from then on the PNG is kept in place of the pixels.
func (p *Picture) PNG() ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.png != nil {
		return p.png, nil
	}
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&b, p.raw()); err != nil {
		return nil, err
	}
	p.png, p.pixels = bytes.Clone(b.Bytes()), nil
	return p.png, nil
}

// Image is the picture to be drawn.
func (p *Picture) Image() (image.Image, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.png != nil {
		return png.Decode(bytes.NewReader(p.png))
	}
	return p.raw(), nil
}

// raw gives the pixels as an image.
func (p *Picture) raw() image.Image {
	r := image.Rectangle{Max: p.Size}
	if p.channels == 4 {
		return &image.NRGBA{Pix: p.pixels, Stride: 4 * p.Size.X, Rect: r}
	}
	img := image.NewRGBA(r)
	for i, j := 0, 0; i < len(img.Pix); i, j = i+4, j+3 {
		copy(img.Pix[i:], p.pixels[j:j+3])
		img.Pix[i+3] = 255
	}
	return img
}

// Opaque says that nothing can be seen through the picture, as far as that is known
// without decoding it.
func (p *Picture) Opaque() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.png != nil {
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

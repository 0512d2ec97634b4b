package preview

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"encoding/binary"
	"image"
	"image/color"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"tandem/engine/api"
	"tandem/panes/kit/graphics"
)

// A bitWriter writes numbers bit by bit, lowest first.
type bitWriter struct {
	out  []byte
	bits int
}

func (b *bitWriter) put(value, bits int) {
	for i := range bits {
		if b.bits%8 == 0 {
			b.out = append(b.out, 0)
		}
		b.out[b.bits/8] |= byte(value>>i&1) << (b.bits % 8)
		b.bits++
	}
}

// losslessChunk returns cornerImage(w, h) as a VP8L chunk of WebP.
func losslessChunk(w, h int) []byte {
	b := &bitWriter{out: []byte{0x2f}, bits: 8}
	b.put(w-1, 14)
	b.put(h-1, 14)
	b.put(0, 1+3+1+1+1)                                           // no alpha, version, no transform, no cache, one group of codes
	two := func() { b.put(0b011, 3); b.put(0, 1); b.put(255, 8) } // symbols 0 and 255
	one := func() { b.put(0b101, 3); b.put(255, 8) }
	two() // green
	one() // red
	two() // blue
	one() // alpha
	b.put(0b001, 3)
	b.put(0, 1) // no distances
	for y := range h {
		for x := range w {
			bit := 0b11 // green and blue of white
			if x < w/2 && y < h/2 {
				bit = 0
			}
			b.put(bit, 2)
		}
	}
	return webpPart("VP8L", b.out)
}

func webpPart(name string, data []byte) []byte {
	out := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(data)))
	if out = append(out, data...); len(data)%2 == 1 {
		out = append(out, 0)
	}
	return out
}

func riff(chunks ...[]byte) []byte {
	return webpPart("RIFF", append([]byte("WEBP"), bytes.Join(chunks, nil)...))
}

// canvasSize returns the size of an image minus one, as WebP writes it.
func canvasSize(w, h int) []byte {
	return []byte{byte(w - 1), byte((w - 1) >> 8), 0, byte(h - 1), byte((h - 1) >> 8), 0}
}

// animatedWebP returns a WebP of two images, the first of which is cornerImage(w, h).
func animatedWebP(w, h int) []byte {
	frame := func(data []byte) []byte {
		return webpPart("ANMF", append(append(append(make([]byte, 6), canvasSize(w, h)...), 10, 0, 0, 0), data...))
	}
	head := append([]byte{webpMoves, 0, 0, 0}, canvasSize(w, h)...)
	return riff(webpPart("VP8X", head), webpPart("ICCP", []byte("odd")), webpPart("ANIM", make([]byte, 6)), frame(losslessChunk(w, h)), frame(losslessChunk(w, h)))
}

// sampleImages returns an image with a red top left quarter in each format outside the standard
// library.
func sampleImages(t testing.TB) map[string][]byte {
	t.Helper()
	var asBMP, asTIFF, packed bytes.Buffer
	if err := bmp.Encode(&asBMP, cornerImage(64, 32)); err != nil {
		t.Fatal(err)
	}
	if err := tiff.Encode(&asTIFF, cornerImage(64, 32), nil); err != nil {
		t.Fatal(err)
	}
	if err := tiff.Encode(&packed, cornerImage(64, 32), &tiff.Options{Compression: tiff.Deflate, Predictor: true}); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{
		"bmp": asBMP.Bytes(), "tiff": asTIFF.Bytes(), "tiff packed": packed.Bytes(),
		"webp": riff(losslessChunk(64, 32)), "webp moving": animatedWebP(64, 32),
	}
}

func TestImagesOfEachFormatAreShown(t *testing.T) {
	for name, data := range sampleImages(t) {
		t.Run(name, func(t *testing.T) {
			v := openPreview(t, "/p", data)
			v.expectText("▀▀▀▀")
			if v.image == nil {
				t.Fatal("there is none")
			}
			format, _, _ := strings.Cut(name, " ")
			if v.image.format != format || v.image.width != 64 || v.image.height != 32 {
				t.Errorf("it is said to be %s %d×%d", v.image.format, v.image.width, v.image.height)
			}
			if red, white := v.image.small.RGBAAt(10, 5), v.image.small.RGBAAt(50, 20); red.G > 60 || red.R < 200 || white.G < 200 {
				t.Errorf("it has %v and %v", red, white)
			}
			v.Screen = graphics.Screen{Protocol: graphics.Kitty, Cell: image.Pt(10, 20), Backdrop: color.RGBA{A: 255}}
			if v.renderRows(); v.Picture() == nil {
				t.Error("there is none for the terminal to draw")
			}
		})
	}
}

// newTIFF returns a grey TIFF image of one strip with the given compression.
func newTIFF(w, h, packing uint32, strip []byte, more ...[3]uint32) []byte {
	le := binary.LittleEndian
	entries := append([][3]uint32{{256, 4, w}, {257, 4, h}, {258, 3, 8}, {259, 3, packing}, {262, 3, 1}, {273, 4, 8}, {279, 4, uint32(len(strip))}}, more...)
	slices.SortFunc(entries, func(a, b [3]uint32) int { return cmp.Compare(a[0], b[0]) })
	out := le.AppendUint32([]byte("II*\x00"), uint32(8+len(strip)))
	out = le.AppendUint16(append(out, strip...), uint16(len(entries)))
	for _, e := range entries {
		out = le.AppendUint16(le.AppendUint16(out, uint16(e[0])), uint16(e[1]))
		out = le.AppendUint32(le.AppendUint32(out, 1), e[2])
	}
	return append(out, 0, 0, 0, 0)
}

func TestUnsupportedContentOfOtherFormatsIsReported(t *testing.T) {
	var bomb bytes.Buffer
	z := zlib.NewWriter(&bomb)
	z.Write(make([]byte, 1<<20))
	z.Close()
	files := sampleImages(t)
	deep := newTIFF(6000, 4000, 1, nil) // within the limits, but not with 16 bits per sample
	binary.LittleEndian.PutUint32(deep[8+2+2*12+8:], 16)
	flat := bytes.Clone(files["bmp"])
	binary.LittleEndian.PutUint32(flat[30:], 1) // run-length encoding
	heic := "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" +
		"\x00\x00\x00\x14ispe\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00\x00\x14ispe\x00\x00\x00\x00\x00\x00\x0f\xc0\x00\x00\x0b\xd0"
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"large":        {newTIFF(60_000, 60_000, 8, bomb.Bytes()), "tiff picture, 60000×60000"},
		"deep":         {deep, "damaged"},
		"packed":       {newTIFF(400, 200, 7, []byte("x")), "cannot be shown here"},
		"less in it":   {newTIFF(4000, 4000, 8, bomb.Bytes()), "damaged"},
		"bmp":          {flat, "cannot be shown here"},
		"bmp cut off":  {files["bmp"][:400], "damaged"},
		"webp cut off": {files["webp"][:40], "webp picture, 64×32"},
		"no frame":     {files["webp moving"][:60], "damaged"},
		"large webp":   {riff(webpPart("VP8X", append([]byte{0, 0, 0, 0}, canvasSize(60_000, 30_000)...))), "webp picture, 60000×30000"},
		"heic":         {[]byte(heic), "heic picture, 4032×3024"},
		"avif":         {[]byte(strings.ReplaceAll(heic, "heic", "avif")), "avif picture, 4032×3024"},
		"film":         {[]byte(strings.NewReplacer("heic", "isom", "mif1", "mp41").Replace(heic)), "69 73 6f 6d"}, // not an image
		"psd":          {append([]byte("8BPS\x00\x01\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x01\x00\x00\x00\x02\x00"), make([]byte, 40)...), "psd picture, 512×256"},
		"icon":         {append([]byte("\x00\x00\x01\x00\x02\x00\x10\x10\x00\x00"), make([]byte, 40)...), "icon"},
		"jpeg 2000":    {[]byte("\x00\x00\x00\x0cjP  \r\n\x87\n....jp2h....ihdr\x00\x00\x00\x20\x00\x00\x00\x40.."), "jpeg 2000 picture"},
		"drawing":      {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`), "<svg"}, // readable as text
	} {
		t.Run(name, func(t *testing.T) {
			v := openPreview(t, "/p", c.data)
			v.expectText(c.want)
			if v.image != nil {
				t.Error("there is a picture")
			}
		})
	}
}

func TestTIFFIsRotatedToItsOrientation(t *testing.T) {
	strip := bytes.Repeat([]byte{255}, 64*32)
	v := openPreview(t, "/p", newTIFF(64, 32, 1, strip, [3]uint32{274, 3, 6}))
	v.renderRows()
	if v.image == nil || v.image.width != 32 || v.image.height != 64 || v.image.small.Bounds().Dx() != 32 {
		t.Errorf("it is %+v", v.image)
	}
}

// An expiringSource is an in-memory source that cancels its reader's context after some reads.
type expiringSource struct {
	memorySource
	left   int
	cancel context.CancelFunc
}

func (s *expiringSource) ReadAt(ctx context.Context, path string, off, n int64) ([]byte, int64, error) {
	if s.left--; s.left == 0 {
		s.cancel()
	}
	if ctx.Err() != nil {
		return nil, 0, ctx.Err()
	}
	return s.memorySource.ReadAt(ctx, path, off, n)
}

func TestAbandonedImageIsReadNoFurther(t *testing.T) {
	var out bytes.Buffer
	if err := bmp.Encode(&out, cornerImage(2000, 2000)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	src := &expiringSource{memorySource{"/p": out.Bytes()}, 10, cancel}
	var p Preview
	p.Show("/p", api.FileInfo{Name: "p", Type: "file", Size: int64(out.Len())})
	p.Resize(80, 20)
	r, _ := p.Next()
	Load(ctx, src, r)
	if src.left < -1 {
		t.Errorf("it was read %d times more", -src.left)
	}
}

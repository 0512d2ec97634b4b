package preview

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"tandem/engine/api"
	"tandem/panes/kit/graphics"
)

// cornerImage returns a white image with a red top left quarter.
func cornerImage(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{255, 255, 255, 255}
			if x < w/2 && y < h/2 {
				c = color.NRGBA{255, 0, 0, 255}
			}
			img.Set(x, y, c)
		}
	}
	return img
}

func pngBytes(t *testing.T, img image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestImageIsGivenToTerminalOnceEncoded(t *testing.T) {
	v := openPreview(t, "/p.png", pngBytes(t, cornerImage(400, 200)))
	v.expectText("▀▀▀▀")
	if v.Picture() != nil {
		t.Error("a terminal that cannot draw has a picture to draw")
	}
	v.Screen = graphics.Screen{Protocol: graphics.Kitty, Cell: image.Pt(10, 20), Backdrop: color.RGBA{A: 255}}
	v.Draw(80, 10, unicodeLook())
	if v.Picture() != nil {
		t.Error("there is a picture before it was made")
	}
	if got := strings.TrimSpace(v.renderRows()); got != "" {
		t.Errorf("below the picture there is\n%s", got)
	}
	pic := v.Picture()
	if pic == nil || pic.Cols != 40 || pic.Rows != 10 {
		t.Fatalf("the picture is %+v", pic)
	}
	v.Covered = true
	v.expectText("▀▀▀▀")
	if v.Picture() != nil {
		t.Error("what is covered is drawn")
	}
	v.Covered = false
	v.renderRows()
	if v.Picture() != pic {
		t.Error("it was made again")
	}
	v.Draw(80, 5, unicodeLook())
	if v.Picture() != nil {
		t.Error("a picture of another size is drawn")
	}
	v.Screen.Protocol = graphics.Off
	v.expectText("switched off")
	v.Show("/other", api.FileInfo{Name: "other", Type: "file"})
	v.Draw(80, 10, unicodeLook())
	if v.Picture() != nil || v.Screen.Protocol != graphics.Off {
		t.Error("another file has the picture, or has lost the screen")
	}
}

func TestCellsBelowAnImageAreUnique(t *testing.T) {
	rooms := map[string]bool{}
	for n := range 300 {
		p := picturePreview{serial: n, exact: &graphics.Picture{Cols: 3, Rows: 1}}
		row := p.emptyRows(5, 2)[0]
		if ansi.StringWidth(row) != 5 || rooms[row] {
			t.Errorf("room %d is %q", n, row)
		}
		rooms[row] = true
	}
}

func TestAnimationShowsItsFirstFrame(t *testing.T) {
	first := image.NewPaletted(image.Rect(0, 0, 20, 20), palette.Plan9)
	second := image.NewPaletted(image.Rect(0, 0, 20, 20), palette.Plan9)
	for i := range first.Pix {
		first.Pix[i], second.Pix[i] = 2, 200
	}
	var out bytes.Buffer
	gif.EncodeAll(&out, &gif.GIF{Image: []*image.Paletted{first, second}, Delay: []int{1, 1}})
	v := openPreview(t, "/a.gif", out.Bytes())
	v.expectText("▀▀▀▀")
	c := color.RGBAModel.Convert(palette.Plan9[2]).(color.RGBA)
	if got := v.image.small.RGBAAt(3, 3); got != c {
		t.Errorf("it is %v, not %v", got, c)
	}
}

// hugePNG returns the header of a PNG with the given side in pixels.
func hugePNG(side uint32) []byte {
	header := append([]byte("IHDR"), make([]byte, 13)...)
	binary.BigEndian.PutUint32(header[4:], side)
	binary.BigEndian.PutUint32(header[8:], side)
	header[12], header[13] = 8, 6
	out := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), header...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(header))
	return append(out, "\x00\x00\x00\x00IDAT"...)
}

func TestUnsupportedImageIsReported(t *testing.T) {
	whole := pngBytes(t, cornerImage(400, 200))
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"absurd":        {hugePNG(1<<31 - 1), "cannot be shown here"},
		"large":         {hugePNG(60_000), "png picture, 60000×60000"},
		"nothing in it": {hugePNG(500), "damaged"},
		"cut off":       {whole[:len(whole)-40], "damaged"},
		"many bytes":    {append(bytes.Clone(whole), make([]byte, mostPictureBytes)...), "too large to show here"},
	} {
		t.Run(name, func(t *testing.T) {
			v := openPreview(t, "/p.png", c.data)
			v.Screen = graphics.Screen{Protocol: graphics.Sixel, Cell: image.Pt(10, 20)}
			v.expectText(c.want)
			if v.Picture() != nil {
				t.Error("there is a picture")
			}
		})
	}
}

// exifSegment returns a segment with the orientation of a JPEG.
func exifSegment(orientation byte) []byte {
	tiff := []byte("MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00")
	tiff = append(tiff, orientation, 0, 0, 0, 0, 0, 0)
	body := append([]byte("Exif\x00\x00"), tiff...)
	return append(binary.BigEndian.AppendUint16([]byte("\xff\xe1"), uint16(len(body)+2)), body...)
}

func TestPhotosAreRotatedToTheirOrientation(t *testing.T) {
	var out bytes.Buffer
	if err := jpeg.Encode(&out, cornerImage(64, 32), nil); err != nil {
		t.Fatal(err)
	}
	plain := out.Bytes()
	for way, red := range map[byte]image.Point{ // expected position of the red quarter
		1: {0, 0}, 2: {1, 0}, 3: {1, 1}, 4: {0, 1}, 5: {0, 0}, 6: {1, 0}, 7: {1, 1}, 8: {0, 1},
	} {
		data := append(append([]byte("\xff\xd8"), exifSegment(way)...), plain[2:]...)
		v := openPreview(t, "/photo.jpg", data)
		v.renderRows()
		size := v.image.small.Bounds().Size()
		if want := (image.Point{64, 32}); way < 5 && size != want || way >= 5 && size != (image.Point{32, 64}) {
			t.Errorf("way %d: %v", way, size)
		}
		if got := image.Pt(v.image.width, v.image.height); got != size {
			t.Errorf("way %d: it says %v", way, got)
		}
		at := image.Pt(size.X/4+red.X*size.X/2, size.Y/4+red.Y*size.Y/2)
		if c := v.image.small.RGBAAt(at.X, at.Y); c.R < 200 || c.G > 60 {
			t.Errorf("way %d: at %v it is %v", way, at, c)
		}
	}
}

func TestHalfBlocksKeepTheAspectRatio(t *testing.T) {
	for _, c := range []struct{ size, cell, want image.Point }{
		{image.Pt(400, 400), image.Point{}, image.Pt(40, 40)},
		{image.Pt(400, 400), image.Pt(10, 20), image.Pt(40, 40)},
		{image.Pt(400, 400), image.Pt(10, 25), image.Pt(50, 40)},
		{image.Pt(400, 100), image.Pt(8, 16), image.Pt(60, 15)},
		{image.Pt(4, 4), image.Pt(8, 16), image.Pt(4, 4)},
		{image.Pt(1, 100_000), image.Pt(8, 16), image.Pt(1, 40)},
	} {
		if w, h := blocksWithin(c.size, 60, 40, c.cell); image.Pt(w, h) != c.want {
			t.Errorf("%v in cells of %v has %d×%d blocks, not %v", c.size, c.cell, w, h, c.want)
		}
	}
}

func FuzzOrientation(f *testing.F) {
	f.Add(append([]byte("\xff\xd8"), exifSegment(6)...))
	f.Add([]byte("II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00"))
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x10Exif\x00\x00II\x2a\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if o := readOrientation(data, bytes.NewReader(data)); o < 1 || o > 8 {
			t.Errorf("orientation %d", o)
		}
	})
}

// FuzzExactPicture checks that the image made from any file fits into the area of the preview.
func FuzzExactPicture(f *testing.F) {
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"), false)
	f.Add(hugePNG(3), true)
	for _, data := range sampleImages(f) {
		f.Add(data, false)
	}
	f.Fuzz(func(t *testing.T, data []byte, sixel bool) {
		v := openPreview(t, "/x.png", data)
		v.Screen = graphics.Screen{Protocol: graphics.Kitty, Cell: image.Pt(10, 20)}
		if sixel {
			v.Screen.Protocol = graphics.Sixel
		}
		v.renderRows()
		if p := v.Picture(); p != nil && (p.Cols > 80 || p.Rows > 10 || len(p.Data) > 4<<20) {
			t.Errorf("%d×%d cells, %d bytes", p.Cols, p.Rows, len(p.Data))
		}
	})
}

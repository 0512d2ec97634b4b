package graphics

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"tandem/engine/screen/styled"
)

// redOverBlue returns a picture with a red upper half and a blue lower half.
func redOverBlue(t *testing.T, w, h int) *Source {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.RGBA{255, 0, 0, 255}
			if y >= h/2 {
				c = color.RGBA{0, 0, 255, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return &Source{Size: image.Pt(w, h), PNG: b.Bytes()}
}

func newSheet(s *Source, cols, rows int, box image.Rectangle) *Sheet {
	return &Sheet{Source: s, At: styled.Placement{ID: 1, Picture: 1, Source: image.Rectangle{Max: s.Size}, Cols: cols, Rows: rows, Cell: image.Pt(10, 20), Box: box}}
}

func TestFullPictureIsSentUnchanged(t *testing.T) {
	s := newSheet(redOverBlue(t, 20, 40), 2, 2, image.Rect(0, 0, 20, 40))
	text, w, h := s.EncodeKitty(Screen{Protocol: Kitty, Cell: image.Pt(8, 16)})
	if !bytes.Equal(text, s.Source.PNG) || w != 10 || h != 20 {
		t.Errorf("%d bytes, cells of %d×%d", len(text), w, h)
	}
}

func TestPartialPictureIsPadded(t *testing.T) {
	s := newSheet(redOverBlue(t, 15, 30), 2, 2, image.Rect(0, 0, 15, 30))
	text, w, h := s.EncodeKitty(Screen{Protocol: Kitty, Cell: image.Pt(10, 20)})
	img, err := png.Decode(bytes.NewReader(text))
	if err != nil || img.Bounds().Size() != image.Pt(20, 40) || w != 10 || h != 20 {
		t.Fatalf("%v, %d×%d", err, w, h)
	}
	for at, want := range map[image.Point]color.RGBA{{X: 0, Y: 0}: {255, 0, 0, 255}, {X: 14, Y: 29}: {0, 0, 255, 255}, {X: 15, Y: 0}: {}, {X: 0, Y: 30}: {}} {
		if got := color.RGBAModel.Convert(img.At(at.X, at.Y)); got != want {
			t.Errorf("%v is %v, want %v", at, got, want)
		}
	}
}

func TestBlockColorsReturnsBothHalves(t *testing.T) {
	s := newSheet(redOverBlue(t, 10, 20), 1, 1, image.Rect(0, 0, 10, 20))
	up, low, ok := s.BlockColors(0, 0, Screen{})
	if up&0xFF0000 < 0xC00000 || up&0xFF > 0x30 || low&0xFF < 0xC0 || low&0xFF0000 > 0x300000 || !ok {
		t.Errorf("%x over %x, %v", up, low, ok)
	}
	if _, _, ok := s.BlockColors(5, 5, Screen{}); ok {
		t.Error("there is something outside")
	}
	broken := newSheet(&Source{Size: image.Pt(10, 20), PNG: []byte("no picture")}, 1, 1, image.Rect(0, 0, 10, 20))
	if _, _, ok := broken.BlockColors(0, 0, Screen{}); ok {
		t.Error("there is something of a damaged picture")
	}
	if text, _, _ := broken.EncodeKitty(Screen{}); text != nil || broken.EncodeSixel(image.Rect(0, 0, 1, 1), Screen{}) != nil {
		t.Error("a damaged picture is sent")
	}
}

func TestEncodeSixelDrawsAPartOfASheet(t *testing.T) {
	s := newSheet(redOverBlue(t, 20, 40), 2, 2, image.Rect(0, 0, 20, 40))
	lower := string(s.EncodeSixel(image.Rect(1, 1, 2, 2), Screen{Protocol: Sixel, Cell: image.Pt(10, 20)}))
	if !strings.HasPrefix(lower, "\x1bP0;1;0q\"1;1;10;18#0;2;0;0;100#0") || strings.Contains(lower, "2;100;0;0") {
		t.Errorf("%q", lower)
	}
}

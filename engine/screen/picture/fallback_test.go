package picture

import (
	"image"
	"image/color"
	"os"
	"path/filepath"
	"testing"

	"tandem/engine/screen/styled"
)

// inked counts the pixels of an area that differ from the background.
func inked(img image.Image, r image.Rectangle, s Screen) int {
	return r.Dx()*r.Dy() - count(img, r, rgb(s.Palette.Background))
}

func TestRingIsHollowAndDiscIsFilled(t *testing.T) {
	s := screenOf(10, 1, "\x1b[?25l○ ● ◉")
	img := picture(t, s, 2)
	at := func(x int) image.Rectangle {
		c := cell(x, 0)
		return image.Rect(2*c.Min.X, 2*c.Min.Y, 2*c.Max.X, 2*c.Max.Y)
	}
	middle := func(x int) color.Color {
		c := at(x)
		return color.RGBAModel.Convert(img.At((c.Min.X+c.Max.X)/2, (c.Min.Y+c.Max.Y)/2+1))
	}
	if middle(0) != rgb(s.Palette.Background) {
		t.Error("the ring is filled")
	}
	if ring, letter := inked(img, at(0), s), inked(picture(t, screenOf(10, 1, "\x1b[?25lo"), 2), at(0), s); ring == 0 || ring == letter {
		t.Errorf("the ring has %d pixels, as the letter o has", ring)
	}
	for _, x := range []int{2, 4} {
		if middle(x) != rgb(s.Palette.Foreground) {
			t.Errorf("cell %d is empty in the middle", x)
		}
	}
}

func TestEveryFigureStaysInItsCells(t *testing.T) {
	for r := range figures() {
		c := &canvas{img: image.NewRGBA(image.Rect(0, 0, 6*cellWidth, 3*cellHeight)), w: cellWidth, h: cellHeight, thin: 1}
		if !c.drawFigure(r, 2, 2*cellWidth, cellHeight, color.RGBA{255, 255, 255, 255}) {
			t.Fatalf("%c is not drawn", r)
		}
		within := image.Rect(2*cellWidth, cellHeight, 4*cellWidth, 2*cellHeight)
		n := 0
		for y := range c.img.Rect.Dy() {
			for x := range c.img.Rect.Dx() {
				if c.img.RGBAAt(x, y).A == 0 {
					continue
				}
				if n++; !(image.Point{X: x, Y: y}).In(within) {
					t.Fatalf("%c is drawn at %d, %d", r, x, y)
				}
			}
		}
		if n < 12 {
			t.Errorf("%c has %d pixels", r, n)
		}
	}
}

func TestColouredFiguresAreDrawnInTheirColour(t *testing.T) {
	s := screenOf(10, 1, "\x1b[?25l🟢🔴")
	img := picture(t, s, 1)
	for x, want := range map[int]styled.Color{0: 0x78b159, 2: 0xdd2e44} {
		if n := count(img, cell(x, 0).Union(cell(x+1, 0)), rgb(want)); n < 60 {
			t.Errorf("at %d are %d pixels of %06x", x, n, want)
		}
	}
}

func TestMissingCharacterIsABoxWithItsNumber(t *testing.T) {
	shapes := map[string]rune{}
	for _, r := range []rune{0xe7f3, 0xe7f4, 0x10fffd, 0x10fff7} { // for private use, and hardly used
		img := picture(t, screenOf(4, 1, "\x1b[?25l"+string(r)), 1)
		pixels := string(img.(*image.RGBA).Pix)
		if other, seen := shapes[pixels]; seen {
			t.Errorf("%x looks like %x", r, other)
		}
		shapes[pixels] = r
	}
	for cells := 1; cells <= 2; cells++ {
		c := &canvas{img: image.NewRGBA(image.Rect(0, 0, 4*cellWidth, 3*cellHeight)), w: cellWidth, h: cellHeight, thin: 1}
		c.drawMissing(0x1f980, cells, cellWidth, cellHeight, color.RGBA{255, 255, 255, 255})
		for y := range c.img.Rect.Dy() {
			for x := range c.img.Rect.Dx() {
				in := image.Rect(cellWidth, cellHeight, (1+cells)*cellWidth, 2*cellHeight)
				if c.img.RGBAAt(x, y).A != 0 && !(image.Point{X: x, Y: y}).In(in) {
					t.Fatalf("a box of %d cells is drawn at %d, %d", cells, x, y)
				}
			}
		}
	}
}

func TestSystemFontIsUsedForMissingCharacters(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string][]byte{"broken.ttf": []byte("no font"), "Mono.ttf": regularTTF, "Bold.otf": boldTTF, "read.me": nil} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	paths := fontFiles([]string{filepath.Join(dir, "none"), dir})
	if len(paths) != 3 || filepath.Base(paths[0]) != "Mono.ttf" || filepath.Base(paths[2]) != "Bold.otf" {
		t.Fatalf("the fonts are %q", paths)
	}
	s := systemFonts{found: true, paths: paths}
	defer s.close()
	m := s.maskOf('A', 2*cellWidth, cellHeight, ascent, emPixels)
	if m == nil || m.Rect.Dx() != 2*cellWidth || len(s.files) != 1 {
		t.Fatalf("the mask is %v of %d fonts", m, len(s.files))
	}
	if m := s.maskOf(0x10fffd, cellWidth, cellHeight, ascent, emPixels); m != nil || len(s.files) != 2 {
		t.Errorf("a character that is in none has a mask, of %d fonts", len(s.files))
	}
	s.close()
	if len(s.files) != 0 {
		t.Error("files stay open")
	}
}

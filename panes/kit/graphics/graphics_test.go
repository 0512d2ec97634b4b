package graphics

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tandem/tests/needs"
	"tandem/tests/seed"
)

// paintedImage returns a picture with the color of each pixel given by at.
func paintedImage(w, h int, at func(x, y int) color.Color) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, at(x, y))
		}
	}
	return img
}

func flag(x, y int) color.Color {
	if x < y {
		return color.RGBA{255, 0, 0, 255}
	}
	return color.RGBA{0, 102, 255, 255}
}

var kittyScreen = Screen{Protocol: Kitty, Cell: image.Pt(8, 16)}

func TestTransmitSplitsAPictureIntoChunks(t *testing.T) {
	for _, size := range []int{0, 1, 3071, 3072, 3073, 100_000} {
		data := bytes.Repeat([]byte{1, 2, 3, 250, 251}, size/5+1)[:size]
		sent := string(AppendTransmit(nil, 77, data))
		commands := regexp.MustCompile("\x1b_G([^;]*);([^\x1b]*)\x1b\\\\").FindAllStringSubmatch(sent, -1)
		var got []byte
		for i, c := range commands {
			last := i == len(commands)-1
			if first := strings.Contains(c[1], "a=t,f=100,t=d,i=77"); first != (i == 0) {
				t.Errorf("command %d is %q", i, c[1])
			}
			if more := strings.HasSuffix(c[1], "m=1"); more == last || !strings.Contains(c[1], "q=2") {
				t.Errorf("command %d of %d is %q", i, len(commands), c[1])
			}
			if len(c[2]) > kittyChunk || !last && len(c[2])%4 != 0 {
				t.Errorf("%d bytes in a chunk", len(c[2]))
			}
			piece, err := base64.StdEncoding.DecodeString(c[2])
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, piece...)
		}
		if !bytes.Equal(got, data) {
			t.Errorf("%d bytes became %d", size, len(got))
		}
	}
}

func TestPlaceHideAndDeleteReferToPictureByID(t *testing.T) {
	for want, got := range map[string][]byte{
		"\x1b_Ga=p,p=1,C=1,q=2,i=9,c=30,r=12\x1b\\": AppendPlace(nil, 9, 30, 12),
		"\x1b_Ga=d,q=2,d=i,i=9\x1b\\":               AppendHide(nil, 9),
		"\x1b_Ga=d,q=2,d=I,i=9\x1b\\":               AppendDelete(nil, 9),
	} {
		if string(got) != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestEncodeKittyFillsWholeCellsInProportion(t *testing.T) {
	cases := []struct{ w, h, cols, rows, wantCols, wantRows int }{
		{100, 50, 40, 20, 13, 4},   // fits unchanged
		{800, 400, 40, 20, 40, 10}, // 320×160 pixels of 8×16 cells
		{400, 800, 40, 20, 20, 20},
		{3, 1000, 40, 20, 1, 20},
	}
	for _, c := range cases {
		pic, err := Encode(paintedImage(c.w, c.h, flag), kittyScreen, c.cols, c.rows)
		if err != nil {
			t.Fatal(err)
		}
		if pic.Cols != c.wantCols || pic.Rows != c.wantRows {
			t.Errorf("%d×%d covers %d×%d cells, not %d×%d", c.w, c.h, pic.Cols, pic.Rows, c.wantCols, c.wantRows)
		}
		back, err := png.Decode(bytes.NewReader(pic.Data))
		if err != nil {
			t.Fatal(err)
		}
		if got := back.Bounds().Size(); got != image.Pt(pic.Cols*8, pic.Rows*16) {
			t.Errorf("%v pixels for %d×%d cells", got, pic.Cols, pic.Rows)
		}
	}
	pic, _ := Encode(paintedImage(4, 4, flag), kittyScreen, 10, 10)
	back, _ := png.Decode(bytes.NewReader(pic.Data))
	if _, _, _, a := back.At(7, 15).RGBA(); a != 0 {
		t.Error("the rest of a cell is not transparent")
	}
}

func TestEncodeLimitsSize(t *testing.T) {
	needs.FullRun(t)
	random := seed.Rand(t)
	big := paintedImage(2500, 1500, func(int, int) color.Color {
		noise := random.Uint32()
		return color.RGBA{uint8(noise), uint8(noise >> 8), uint8(noise >> 16), 255}
	})
	for _, p := range []Protocol{Kitty, Sixel} {
		pic, err := Encode(big, Screen{Protocol: p, Cell: image.Pt(10, 20)}, 250, 75)
		if err != nil {
			t.Fatal(err)
		}
		if len(pic.Data) > maxBytes {
			t.Errorf("protocol %d: %d bytes", p, len(pic.Data))
		}
		if p == Sixel && (pic.Cols > maxSixelSide/10 || pic.Rows > maxSixelSide/20) {
			t.Errorf("sixels cover %d×%d", pic.Cols, pic.Rows)
		}
		if p == Kitty && (pic.Cols != 250 || pic.Rows != 75) {
			t.Errorf("it covers %d×%d", pic.Cols, pic.Rows)
		}
	}
}

func TestEncodeRejectsEmptyPictures(t *testing.T) {
	for _, p := range []Protocol{Kitty, Sixel} {
		s := Screen{Protocol: p}
		if _, err := Encode(paintedImage(0, 0, flag), s, 10, 10); err == nil {
			t.Error("an empty picture was encoded")
		}
		if _, err := Encode(paintedImage(5, 5, flag), s, 10, 0); err == nil {
			t.Error("a picture was encoded for no row")
		}
		if _, err := Encode(paintedImage(1, 1, flag), s, 1, 1); err != nil {
			t.Error(err)
		}
	}
}

func TestSixelWithFewColorsIsExact(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {3, 5}, {7, 6}, {40, 13}, {300, 100}} {
		img := paintedImage(size.X, size.Y, flag)
		got := decodeSixel(t, AppendSixel(nil, img))
		for y := range size.Y {
			for x := range size.X {
				if g, w := got.RGBAAt(x, y), img.RGBAAt(x, y); !isNear(g, w, 2) {
					t.Fatalf("%v: pixel %d,%d is %v, not %v", size, x, y, g, w)
				}
			}
		}
	}
}

func TestSixelWithManyColorsIsClose(t *testing.T) {
	img := paintedImage(256, 128, func(x, y int) color.Color {
		return color.RGBA{uint8(x), uint8(2 * y), uint8(255 - x), 255}
	})
	data := AppendSixel(nil, img)
	if n := bytes.Count(data, []byte(";2;")); n > maxColors {
		t.Errorf("%d colours", n)
	}
	got := decodeSixel(t, data)
	for y := 0; y < 128; y += 8 { // dithering is right on average
		for x := 0; x < 256; x += 8 {
			at := image.Rect(x, y, x+8, y+8)
			a := Shrink(img.SubImage(at), 1, 1).RGBAAt(0, 0)
			b := Shrink(got.SubImage(at), 1, 1).RGBAAt(0, 0)
			if !isNear(a, b, 12) {
				t.Fatalf("around %d,%d: got %v, want %v", x, y, b, a)
			}
		}
	}
}

func isNear(a, b color.RGBA, by int) bool {
	d := func(a, b uint8) bool { return max(int(a)-int(b), int(b)-int(a)) <= by }
	return d(a.R, b.R) && d(a.G, b.G) && d(a.B, b.B) && a.A == b.A
}

func TestSixelStaysWithinItsCells(t *testing.T) {
	for h := 1; h < 70; h++ {
		pic, err := Encode(paintedImage(9, h, flag), Screen{Protocol: Sixel, Cell: image.Pt(8, 16)}, 10, 4)
		if err != nil {
			t.Fatal(err)
		}
		bands := bytes.Count(pic.Data, []byte("-")) + 1
		if pic.Rows > 4 || bands*6 > pic.Rows*16 {
			t.Errorf("%d rows of pixels make %d bands in %d rows", h, bands, pic.Rows)
		}
	}
}

func TestTransparentPixelsShowTheBackdrop(t *testing.T) {
	img := image.NewRGBA(image.Rect(0, 0, 2, 1))
	img.Set(1, 0, color.NRGBA{255, 255, 255, 128})
	got := Over(img, color.RGBA{0, 0, 100, 255})
	if c := got.RGBAAt(0, 0); c != (color.RGBA{0, 0, 100, 255}) {
		t.Errorf("nothing over blue is %v", c)
	}
	if c := got.RGBAAt(1, 0); !isNear(c, color.RGBA{128, 128, 177, 255}, 2) {
		t.Errorf("half of white over blue is %v", c)
	}
}

func TestShrinkGivesTheSameResultForAnyImageType(t *testing.T) {
	img := paintedImage(64, 48, flag)
	a := Shrink(img, 8, 6)
	b := Shrink(struct{ image.Image }{img}, 8, 6)
	for i := range a.Pix {
		if d := int(a.Pix[i]) - int(b.Pix[i]); d < -1 || d > 1 {
			t.Fatalf("byte %d is %d and %d", i, a.Pix[i], b.Pix[i])
		}
	}
}

// FuzzSixel checks that any picture can be decoded in its size.
func FuzzSixel(f *testing.F) {
	f.Add([]byte{1, 2, 3}, 4)
	f.Add(bytes.Repeat([]byte{0, 255, 7, 90}, 500), 33)
	f.Fuzz(func(t *testing.T, data []byte, w int) {
		w = min(max(w, 1), 400)
		h := min(len(data)/w+1, 300)
		at := 0
		next := func() uint8 {
			if at++; at > len(data) {
				return 0
			}
			return data[at-1]
		}
		img := paintedImage(w, h, func(int, int) color.Color { return color.RGBA{next(), next(), next(), 255} })
		got := decodeSixel(t, AppendSixel(nil, img))
		if got.Bounds() != img.Bounds() || slices.Contains(alphaValues(got), 0) {
			t.Fatalf("%v became %v, or has holes", img.Bounds(), got.Bounds())
		}
	})
}

func alphaValues(img *image.RGBA) (all []uint8) {
	for i := 3; i < len(img.Pix); i += 4 {
		all = append(all, img.Pix[i])
	}
	return all
}

// decodeSixel draws a sixel sequence as a terminal does.
func decodeSixel(t *testing.T, data []byte) *image.RGBA {
	t.Helper()
	text, ok := strings.CutPrefix(string(data), "\x1bP0;1;0q\"1;1;")
	body, end := strings.CutSuffix(text, "\x1b\\")
	if !ok || !end {
		t.Fatalf("not a sixel sequence: %.30q…", data)
	}
	number := func() int {
		n := len(body) - len(strings.TrimLeft(body, "0123456789"))
		v, err := strconv.Atoi(body[:n])
		if err != nil {
			t.Fatalf("no number in %.20q", body)
		}
		body = body[n:]
		return v
	}
	w := number()
	body = body[1:]
	img := image.NewRGBA(image.Rect(0, 0, w, number()))
	colors := map[int]color.RGBA{}
	x, y, c, times := 0, 0, 0, 1
	for body != "" {
		b := body[0]
		body = body[1:]
		switch {
		case b == '#':
			c = number()
			if strings.HasPrefix(body, ";2;") {
				var v [3]uint8
				body = body[2:]
				for k := range v {
					body = body[1:]
					v[k] = uint8((number()*255 + 50) / 100)
				}
				colors[c] = color.RGBA{v[0], v[1], v[2], 255}
			}
		case b == '!':
			times = number()
		case b == '$':
			x = 0
		case b == '-':
			x, y = 0, y+6
		case b >= '?' && b <= '~':
			for range times {
				for bit := range 6 {
					if (b-'?')>>bit&1 == 1 {
						if !(image.Pt(x, y+bit).In(img.Bounds())) {
							t.Fatalf("a pixel at %d,%d", x, y+bit)
						}
						img.SetRGBA(x, y+bit, colors[c])
					}
				}
				x++
			}
			times = 1
		default:
			t.Fatalf("a %q", b)
		}
	}
	return img
}

func BenchmarkEncode(b *testing.B) {
	photo := paintedImage(1600, 1000, func(x, y int) color.Color {
		return color.RGBA{uint8(x), uint8(y), uint8(x * y / 64), 255}
	})
	for name, p := range map[string]Protocol{"kitty": Kitty, "sixel": Sixel} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				pic, err := Encode(photo, Screen{Protocol: p, Cell: image.Pt(10, 20)}, 90, 50)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(pic.Data)), "bytes")
			}
		})
	}
}

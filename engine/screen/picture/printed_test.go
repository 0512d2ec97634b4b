package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
)

// sixels are 18×40 pixels, or two cells of 9×20: the upper one red, the lower one blue.
const sixels = "\x1bP0;1q\"1;1;18;40#1;2;100;0;0#2;2;0;0;100" +
	"#1!18~-!18~-!18~-!18B#2!18{-!18~-!18~-!18N\x1b\\"

// printed returns the screen of a terminal after a program has written something.
func printed(written string) Screen {
	t := vt.New(vt.Options{Cols: 8, Rows: 3})
	t.Write([]byte("\x1b[?25l" + written))
	return Of(t)
}

func decoded(t *testing.T, s Screen, scale int) image.Image {
	t.Helper()
	b, err := PNG(s, scale)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func TestPrintedPicturesAreDrawnInPlace(t *testing.T) {
	ground := rgb(styled.DefaultPalette().Background)
	red, blue := color.RGBA{255, 0, 0, 255}, color.RGBA{0, 0, 255, 255}
	for _, scale := range []int{1, 2} {
		img := decoded(t, printed("a\x1b[1;2H"+sixels+"\x1b[2;2Hb"), scale)
		for _, c := range []struct {
			x, y int // in cells, of which the middle is looked at
			want color.RGBA
		}{{1, 0, red}, {2, 0, red}, {2, 1, blue}, {3, 0, ground}, {4, 1, ground}, {1, 2, ground}} {
			x, y := (padding+c.x*cellWidth+cellWidth/4)*scale, (padding+c.y*cellHeight+cellHeight/2)*scale
			if got := color.RGBAModel.Convert(img.At(x, y)); got != c.want {
				t.Errorf("scale %d: cell %d, %d is %v, want %v", scale, c.x, c.y, got, c.want)
			}
		}
	}
}

func TestPictureIsDrawnBelowOrAboveText(t *testing.T) {
	const place = "\x1b_Ga=T,f=24,s=1,v=1,c=1,r=1,C=1,q=2,z=%;/wAA\x1b\\"
	has := func(img image.Image, want color.RGBA) bool {
		for y := padding; y < padding+cellHeight; y++ {
			for x := padding; x < padding+cellWidth; x++ {
				if color.RGBAModel.Convert(img.At(x, y)) == want {
					return true
				}
			}
		}
		return false
	}
	fg := rgb(styled.DefaultPalette().Foreground)
	below := decoded(t, printed("█\x1b[H"+strings.Replace(place, "%", "-1", 1)), 1)
	above := decoded(t, printed("█\x1b[H"+strings.Replace(place, "%", "1", 1)), 1)
	if !has(below, fg) || has(above, fg) || !has(above, color.RGBA{255, 0, 0, 255}) {
		t.Error("the text is not where it should be")
	}
}

func TestSVGContainsPrintedPictures(t *testing.T) {
	svg := string(SVG(printed(sixels)))
	if n := strings.Count(svg, "data:image/png;base64,"); n != 1 {
		t.Errorf("the picture is there %d times", n)
	}
	if n := strings.Count(svg, `<use href="#p1"`); n != 2 {
		t.Errorf("%d rows show it", n)
	}
	if s := string(SVG(printed("text"))); strings.Contains(s, "<defs>") {
		t.Error("there are pictures without any")
	}
}

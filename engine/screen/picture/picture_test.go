package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/engine/screen/styled"
	"tandem/engine/screen/vt"
)

// screenOf returns the screen of a terminal of this size after some output.
func screenOf(cols, rows int, output string) Screen {
	t := vt.New(vt.Options{Cols: cols, Rows: rows})
	t.Write([]byte(output))
	_, first, _ := t.Bounds()
	s := Screen{Cols: cols, Rows: rows, Cursor: t.Cursor(), Palette: styled.DefaultPalette()}
	for _, l := range t.Lines(first, rows) {
		s.Lines = append(s.Lines, l.Line)
	}
	return s
}

func picture(t *testing.T, s Screen, scale int) image.Image {
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

// cell returns the rectangle of a cell at scale 1, after the padding.
func cell(x, y int) image.Rectangle {
	return image.Rect(x*cellWidth, y*cellHeight, (x+1)*cellWidth, (y+1)*cellHeight).Add(image.Pt(padding, padding))
}

// count counts the pixels of an area with exactly this colour.
func count(img image.Image, r image.Rectangle, want color.RGBA) int {
	n := 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if color.RGBAModel.Convert(img.At(x, y)) == color.Color(want) {
				n++
			}
		}
	}
	return n
}

func TestPNGHasTheSizeOfItsCells(t *testing.T) {
	img := picture(t, screenOf(80, 24, "hello"), 2)
	if got, want := img.Bounds().Size(), image.Pt(2*(80*9+16), 2*(24*20+16)); got != want {
		t.Errorf("size %v, want %v", got, want)
	}
}

func TestBackgroundsFillTheirCells(t *testing.T) {
	s := screenOf(20, 2, "\x1b[41m  \x1b[0m\x1b[48;2;1;2;3m \x1b[0m\x1b[7m \x1b[0m\x1b[?25l")
	img := picture(t, s, 1)
	for x, want := range map[int]styled.Color{0: s.Palette.Colors[1], 1: s.Palette.Colors[1], 2: 0x010203, 3: s.Palette.Foreground, 4: s.Palette.Background} {
		if n := count(img, cell(x, 0), rgb(want)); n != cellWidth*cellHeight {
			t.Errorf("cell %d: %d pixels of %06x", x, n, want)
		}
	}
}

func TestEveryPrintableASCIICharacterHasItsOwnShape(t *testing.T) {
	seen := map[string]rune{}
	for r := '!'; r <= '~'; r++ {
		img := picture(t, screenOf(4, 1, "\x1b[?25l"+string(r)), 1)
		shape := string(img.(*image.RGBA).Pix)
		if other, ok := seen[shape]; ok {
			t.Errorf("%c looks like %c", r, other)
		}
		seen[shape] = r
	}
}

func TestBoxCharactersMeetTheirNeighbours(t *testing.T) {
	s := screenOf(4, 3, "\x1b[?25l┌──┐\r\n│  │\r\n└──┘")
	img := picture(t, s, 1)
	fg := rgb(s.Palette.Foreground)
	middle := padding + cellHeight/2
	for x := padding + cellWidth/2; x < padding+3*cellWidth+cellWidth/2; x++ {
		if color.RGBAModel.Convert(img.At(x, middle)) != color.Color(fg) {
			t.Fatalf("gap in the upper line at %d", x)
		}
	}
	for y := middle; y < padding+2*cellHeight+cellHeight/2; y++ {
		if color.RGBAModel.Convert(img.At(padding+cellWidth/2, y)) != color.Color(fg) {
			t.Fatalf("gap in the left line at %d", y)
		}
	}
}

func TestBlockElementsFillTheirShare(t *testing.T) {
	s := screenOf(6, 1, "\x1b[?25l█▄▌▂⣿")
	img := picture(t, s, 1)
	fg := rgb(s.Palette.Foreground)
	all := cellWidth * cellHeight
	for x, want := range []int{all, all / 2, 4 * cellHeight, 5 * cellWidth, 8} {
		if n := count(img, cell(x, 0), fg); n != want {
			t.Errorf("cell %d: %d pixels, want %d", x, n, want)
		}
	}
}

func TestCursorIsDrawnOnlyIfVisible(t *testing.T) {
	s := screenOf(4, 1, "")
	if n := count(picture(t, s, 1), cell(0, 0), rgb(s.Palette.Cursor)); n != cellWidth*cellHeight {
		t.Errorf("%d pixels of the cursor", n)
	}
	s.Cursor.Visible = false
	if n := count(picture(t, s, 1), cell(0, 0), rgb(s.Palette.Cursor)); n != 0 {
		t.Errorf("%d pixels of a hidden cursor", n)
	}
}

func TestConcealedTextIsNotDrawn(t *testing.T) {
	s := screenOf(8, 1, "\x1b[?25l\x1b[8msecret\x1b[0m")
	if n := count(picture(t, s, 1), cell(0, 0), rgb(s.Palette.Background)); n != cellWidth*cellHeight {
		t.Error("something shows")
	}
	if strings.Contains(string(SVG(s)), "secret") {
		t.Error("the text is in the SVG")
	}
}

func TestDoubleSizeLinesAreDrawnNormally(t *testing.T) {
	large, plain := screenOf(8, 3, "\x1b#6AB\r\n\x1b#3CD\r\n\x1b#4CD"), screenOf(8, 3, "AB\r\nCD\r\nCD")
	if !slices.Equal(picture(t, large, 1).(*image.RGBA).Pix, picture(t, plain, 1).(*image.RGBA).Pix) {
		t.Error("the PNG differs from that of plain lines")
	}
	if !bytes.Equal(SVG(large), SVG(plain)) {
		t.Error("the SVG differs from that of plain lines")
	}
}

func TestHugeScreenIsDrawnAtSmallerScale(t *testing.T) {
	img := picture(t, screenOf(1000, 10, ""), 4)
	if img.Bounds().Dx() > maxSide+2*padding*maxScale {
		t.Errorf("%d pixels wide", img.Bounds().Dx())
	}
}

const sample = "\x1b[1mbold\x1b[0m \x1b[3mitalic\x1b[0m \x1b[4:3;58;5;1mcurly\x1b[0m \x1b[9mstruck\x1b[0m \x1b[2mfaint\x1b[0m\r\n" +
	"\x1b[32m✔ ok\x1b[0m \x1b[31m✘ <failed> & \"quoted\"\x1b[0m 日本 👨‍👩‍👧 é\r\n" +
	"┌─┬─╮ ╔═╦═╗ ┏━┳━┓ ▁▂▃▄▅▆▇█ ░▒▓ ⠋⠙⠹⠸ ╱╲╳\r\n├─┼─┤ ╠═╬═╣ ┣━╋━┫ ╭─╮ ┄┅┆┇\r\n└─┴─╯ ╚═╩═╝ ┗━┻━┛ ╰─╯ ▖▗▘▙▚▛▜▝▞▟"

func TestSVGIsWellFormedAndContainsText(t *testing.T) {
	b := SVG(screenOf(60, 8, sample))
	var text strings.Builder
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if chars, ok := token.(xml.CharData); ok {
			text.Write(chars)
		}
	}
	for _, want := range []string{"bold", `<failed> & "quoted"`, "日", "👨‍👩‍👧"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
}

func TestSVGDrawsBoxesAndBlocksAsShapes(t *testing.T) {
	svg := string(SVG(screenOf(12, 3, "\x1b[31m───┐\x1b[0m x\r\n▁▄█ ░ ╭╮\r\n⠿\x1b[?25l")))
	for _, want := range []string{`fill="#e06c75" d="M8 18h27v1`, `fill-opacity="0.25"`, `stroke="#d8dee9"`, ">x<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("%s is missing in\n%s", want, svg)
		}
	}
	for _, no := range []string{"─", "┐", "█", "░", "╭", "⠿"} {
		if strings.Contains(svg, no) {
			t.Errorf("%s is text", no)
		}
	}
}

func FuzzAnyScreenCanBeDrawn(f *testing.F) {
	f.Add([]byte(sample), uint8(20), uint8(4))
	f.Add([]byte("\x1b#3high\r\n\x1b#4high"), uint8(1), uint8(2))
	f.Add([]byte("\x1b#6wide\x1b[2;2H\x1b[5q\xff\xfe"), uint8(7), uint8(3))
	f.Fuzz(func(t *testing.T, output []byte, cols, rows uint8) {
		s := screenOf(int(cols%100)+1, int(rows%30)+1, string(output))
		if _, err := PNG(s, 1); err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(bytes.NewReader(SVG(s)))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				t.Fatal(err)
			}
		}
	})
}

func BenchmarkPNG(b *testing.B) {
	s := screenOf(80, 24, strings.Repeat(sample+"\r\n", 4))
	for b.Loop() {
		if _, err := PNG(s, 1); err != nil {
			b.Fatal(err)
		}
	}
}

func TestMovieIsWellFormed(t *testing.T) {
	m := NewMovie(60, 8)
	for i, text := range []string{"", sample, sample + "\r\n\x1b#6wide"} {
		if err := m.Add(time.Duration(i)*time.Second, screenOf(60, 8, text)); err != nil {
			t.Fatal(err)
		}
	}
	b := m.SVG(3 * time.Second)
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := bytes.Count(b, []byte("curly")); n != 1 {
		t.Errorf("a row that stays is drawn %d times", n)
	}
}

// A program that does not keep spaces would stretch the rest of a text over their
// cells.
func TestSVGTextKeepsItsSpaces(t *testing.T) {
	svg := string(SVG(screenOf(40, 1, "\x1b[44m  left  \x1b[41m 7\x1b[0m   a b  c   \x1b[4m  lined  \x1b[0m\x1b[?25l")))
	for _, want := range []string{
		`<text x="26" y="24" fill="#d8dee9" textLength="36" lengthAdjust="spacingAndGlyphs">left</text>`,
		`<text x="89" y="24" fill="#d8dee9" textLength="9" lengthAdjust="spacingAndGlyphs">7</text>`,
		`<text x="125" y="24" fill="#d8dee9" textLength="27" lengthAdjust="spacingAndGlyphs">a b</text>`,
		`<text x="170" y="24" fill="#d8dee9" textLength="9" lengthAdjust="spacingAndGlyphs">c</text>`,
		">\u00a0\u00a0lined\u00a0\u00a0</text>",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("%s is missing in\n%s", want, svg)
		}
	}
}

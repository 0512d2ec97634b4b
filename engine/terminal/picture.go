package terminal

import (
	"tandem/engine/api"
	"tandem/engine/names"
	"tandem/engine/picture"
	"tandem/engine/styled"
)

// pictureScale makes small text readable for agents that look at pictures.
const pictureScale = 2

// painter draws screens in a format; nil for none.
func painter(format string) (func(picture.Screen) ([]byte, error), error) {
	switch format {
	case "":
		return nil, nil
	case "png":
		return func(s picture.Screen) ([]byte, error) { return picture.PNG(s, pictureScale) }, nil
	case "svg":
		return func(s picture.Screen) ([]byte, error) { return picture.SVG(s), nil }, nil
	}
	return nil, api.Errorf(api.CodeInvalid, "draw screen: unknown format %q", names.Shown(format)).WithHint("use png or svg")
}

// PictureOf is what a terminal shows now, to be drawn elsewhere.
func PictureOf(t Emulator) picture.Screen {
	cols, rows := t.Size()
	_, first, end := t.Bounds()
	s := picture.Screen{
		Cols: cols, Rows: rows, Lines: make([]styled.Line, 0, rows),
		Cursor: t.Cursor(), Palette: picture.DefaultPalette(),
	}
	for _, l := range t.Lines(first, int(end-first)) {
		s.Lines = append(s.Lines, l.Line)
	}
	return s
}

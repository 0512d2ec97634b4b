package terminal

import (
	"tandem/engine/api"
	"tandem/engine/names"
	"tandem/engine/picture"
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

package terminal

import (
	"tandem/engine/api"
	"tandem/engine/names"
	"tandem/engine/picture"
)

// pictureScale enlarges pictures so that agents can read small text.
const pictureScale = 2

// painterFor returns the function that draws screens in a format; nil for none.
func painterFor(format string) (func(picture.Screen) ([]byte, error), error) {
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

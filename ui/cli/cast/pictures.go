package cast

import (
	"bytes"

	"tandem/engine/api"
	"tandem/engine/screen/passthrough"
	"tandem/panes/kit/graphics"
	"tandem/ui/pictures"
)

// withSixels converts a repaint's pictures to sixels, which are erased with the screen during
// playback. Pictures of kitty's protocol would stay in the terminal.
func withSixels(repaint []byte, sizes []api.LogSize) []byte {
	if !bytes.Contains(repaint, []byte("\x1b_G")) || len(sizes) == 0 {
		return repaint
	}
	shape := pictures.Shape{Cols: sizes[0].Cols, Rows: sizes[0].Rows, On: graphics.Screen{Protocol: graphics.Sixel}}
	return pictures.New(new(passthrough.Replay).Filter(), shape).ConvertOutput(repaint)
}

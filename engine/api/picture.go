package api

import (
	"image"

	"tandem/engine/styled"
)

// What of pictures a line shows.
type (
	Placement = styled.Placement
	Strip     = styled.Strip
)

// PicturesHeld is how many bytes of pictures a viewer holds for an attachment; what came
// first goes first, and is sent again when it is needed.
const PicturesHeld = 32 << 20

// A Picture is one that lines show, as a program has printed it.
type Picture struct {
	Number uint64      // by which placements name it
	Size   image.Point // in pixels, in which placements count; a very large one is sent in fewer
	PNG    []byte
}

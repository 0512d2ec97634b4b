package api

import (
	"image"

	"tandem/engine/screen/styled"
)

// The parts of pictures in a line.
type (
	Placement = styled.Placement
	Strip     = styled.Strip
)

// PicturesHeld is how many bytes of pictures a viewer keeps for an attachment. The oldest picture
// is dropped first, and sent again when it is needed.
const PicturesHeld = 32 << 20

// A Picture is an image printed by a program. Lines of the terminal show it.
type Picture struct {
	Number uint64      // its name in placements
	Size   image.Point // in the pixels of placements; a very large PNG is scaled down to fewer
	PNG    []byte
}

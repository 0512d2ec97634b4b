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

// PicturesHeld is the maximum size of the pictures kept by a viewer per attachment, in bytes. The
// oldest is dropped first and sent again when needed.
const PicturesHeld = 32 << 20

// A Picture is an image printed by a program and shown in lines.
type Picture struct {
	Number uint64      // its name in placements
	Size   image.Point // in the pixels of placements; a very large PNG is scaled down to fewer
	PNG    []byte
}

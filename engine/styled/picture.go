package styled

import "image"

// A Placement is a picture as a program has placed it on a screen. It does not change.
type Placement struct {
	ID      uint64          // its number in its session
	Picture uint64          // the picture's
	Source  image.Rectangle // what of the picture is shown, in its pixels
	Cols    int             // cells that it covers
	Rows    int
	Cell    image.Point     // pixels of a cell, as the program knows it
	Box     image.Rectangle // where in those cells the picture is, in such pixels
	Z       int32           // it is below the text if that is negative
}

// A Strip is what of a placement is in one line.
type Strip struct {
	*Placement
	Row      int // which of the placement's rows it is
	X        int // the line's column in which the placement begins
	From, To int // the line's columns in which it is seen, the last one excluded
}

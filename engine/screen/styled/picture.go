package styled

import "image"

// A Placement is a picture placed on a screen by a program. It is immutable.
type Placement struct {
	ID      uint64          // its number in its session
	Picture uint64          // the picture's number
	Source  image.Rectangle // the part of the picture shown, in its pixels
	Cols    int             // number of cells covered
	Rows    int
	Cell    image.Point     // size of a cell in pixels, as known to the program
	Box     image.Rectangle // position of the picture in those cells, in such pixels
	Z       int32           // below the text if negative
}

// A Strip is the part of a placement in one line.
type Strip struct {
	*Placement
	Row      int // row of the placement, from 0
	X        int // column of the line at which the placement starts
	From, To int // visible columns of the line, To excluded
}

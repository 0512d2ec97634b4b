package list

import (
	"time"

	"tandem/keys"
)

// WheelRows returns the number of rows to scroll for a turn of the wheel.
func WheelRows(e keys.Mouse) int {
	if e.Button == keys.WheelUp {
		return -3
	}
	return 3
}

// A Click recognizes double clicks on a row.
type Click struct {
	row int
	at  time.Time
}

// DoubleClick is the maximum time between the clicks of a double click.
const DoubleClick = 400 * time.Millisecond

// Again records a click on a row, and reports whether it is the second click of a double click.
func (c *Click) Again(row int) bool {
	now := time.Now()
	double := row == c.row && now.Sub(c.at) < DoubleClick
	*c = Click{row, now}
	if double {
		// A third click starts over.
		c.at = time.Time{}
	}
	return double
}

package widget

import (
	"time"

	"tandem/keys"
)

// LeftDown reports whether the left button was pressed.
func LeftDown(e keys.Mouse) bool { return e.Kind == keys.MouseDown && e.Button == keys.ButtonLeft }

// IsWheel reports whether the wheel was turned.
func IsWheel(e keys.Mouse) bool { return e.Button == keys.WheelUp || e.Button == keys.WheelDown }

// WheelRows is by how many rows a turn of the wheel scrolls.
func WheelRows(e keys.Mouse) int {
	if e.Button == keys.WheelUp {
		return -3
	}
	return 3
}

// A Click tells a double click on a row from two clicks.
type Click struct {
	row int
	at  time.Time
}

// DoubleClick is the time in which another click makes a double click.
const DoubleClick = 400 * time.Millisecond

// Again reports whether this click is the second of a double click.
func (c *Click) Again(row int) bool {
	now := time.Now()
	double := row == c.row && now.Sub(c.at) < DoubleClick
	*c = Click{row, now}
	if double {
		c.at = time.Time{}
	}
	return double
}

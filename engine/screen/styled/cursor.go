package styled

// A Cursor is the position of the next character and the look of the cursor.
type Cursor struct {
	X       int         `json:"x" jsonschema:"column, from 0"`
	Y       int         `json:"y" jsonschema:"row of the screen, from 0"`
	Visible bool        `json:"visible" jsonschema:"whether it is shown"`
	Shape   CursorShape `json:"shape" jsonschema:"0 block, 1 underline, 2 bar"`
	Blink   bool        `json:"blink" jsonschema:"whether it blinks"`
	Own     bool        `json:"-"` // the program has chosen neither shape nor blinking: the user's terminal decides
	Color   Color       `json:"-"` // set by the program; 0 if none
}

// CursorShape is the shape of a cursor.
type CursorShape uint8

// The shapes of DECSCUSR.
const (
	CursorBlock CursorShape = iota
	CursorUnderline
	CursorBar
)

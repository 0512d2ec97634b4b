package styled

// A Cursor is where the next character would go and how it is shown.
type Cursor struct {
	X       int         `json:"x" jsonschema:"column, from 0"`
	Y       int         `json:"y" jsonschema:"row of the screen, from 0"`
	Visible bool        `json:"visible" jsonschema:"whether it is shown"`
	Shape   CursorShape `json:"shape" jsonschema:"0 block, 1 underline, 2 bar"`
	Blink   bool        `json:"blink" jsonschema:"whether it blinks"`
	Own     bool        `json:"-"` // the program has chosen neither shape nor blinking: they are as the person's terminal has them
	Color   Color       `json:"-"` // that the program has given it; 0 if it has given none
}

// CursorShape is how a cursor is drawn.
type CursorShape uint8

// The shapes of DECSCUSR.
const (
	CursorBlock CursorShape = iota
	CursorUnderline
	CursorBar
)

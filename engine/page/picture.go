package page

import (
	"context"
	"encoding/json"
	"image"

	"github.com/coder/websocket"

	"tandem/engine/api"
)

// A picture is one that a session's program has printed.
type picture struct {
	Number uint64 `json:"number"`
	Width  int    `json:"width"` // in pixels, in which strips count
	PNG    []byte `json:"png"`
}

func pictureOf(p *api.Picture) *picture { return &picture{p.Number, p.Size.X, p.PNG} }

// A strip is what a row of the screen shows of a picture: columns from…to, the last one
// excluded, of the given row of the cells that it was placed over, of which the first is in
// column x. Source is a part of the picture, which was drawn in box of those cells.
type strip struct {
	Y       int             `json:"y"`
	Picture uint64          `json:"picture"`
	From    int             `json:"from"`
	To      int             `json:"to"`
	X       int             `json:"x"`
	Row     int             `json:"row"`
	Cell    image.Point     `json:"cell"` // pixels of a cell
	Box     image.Rectangle `json:"box"`
	Source  image.Rectangle `json:"source"`
}

// stripsOf are those of a screen. Pictures below the text are left out: the page draws all
// of them above it.
func stripsOf(lines []api.NumberedLine) *[]strip {
	all := []strip{}
	for _, l := range lines {
		for _, s := range l.Line.Pictures {
			if s.Z >= 0 {
				all = append(all, strip{int(l.N), s.Picture, s.From, s.To, s.X, s.Row, s.Cell, s.Box, s.Source})
			}
		}
	}
	return &all
}

// tellWithin sends a note that takes its part of the window; false when the browser has gone.
func tellWithin(ctx context.Context, conn *websocket.Conn, n note, window *window) bool {
	text, err := json.Marshal(n)
	return err == nil && window.wait(len(text)) && conn.Write(ctx, websocket.MessageText, text) == nil
}

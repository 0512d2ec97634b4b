package page

import (
	"context"
	"encoding/json"
	"image"

	"github.com/coder/websocket"

	"tandem/engine/api"
)

// A picture is an image printed by a session's program.
type picture struct {
	Number uint64 `json:"number"`
	Width  int    `json:"width"` // in pixels, the unit of strips
	PNG    []byte `json:"png"`
}

func pictureOf(p *api.Picture) *picture { return &picture{p.Number, p.Size.X, p.PNG} }

// A strip is the part of a picture visible in one row of the screen: columns From to To
// (exclusive) of row Row of the cells it was placed over, which start in column X. Source is the
// part of the picture drawn into Box of those cells.
type strip struct {
	Y       int             `json:"y"`
	Picture uint64          `json:"picture"`
	From    int             `json:"from"`
	To      int             `json:"to"`
	X       int             `json:"x"`
	Row     int             `json:"row"`
	Cell    image.Point     `json:"cell"` // size of a cell in pixels
	Box     image.Rectangle `json:"box"`
	Source  image.Rectangle `json:"source"`
}

// stripsOf returns the strips of a screen. It omits pictures below the text, as the page draws all
// pictures above it.
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

// sendNoteWithin sends a note that counts towards the window. It returns false if the browser has
// disconnected.
func sendNoteWithin(ctx context.Context, conn *websocket.Conn, n note, window *window) bool {
	text, err := json.Marshal(n)
	return err == nil && window.waitFor(len(text)) && conn.Write(ctx, websocket.MessageText, text) == nil
}

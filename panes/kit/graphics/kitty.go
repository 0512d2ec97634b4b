package graphics

import (
	"encoding/base64"
	"fmt"
)

// QueryID is the number of the picture in Query.
const QueryID = 31

// Query asks a terminal whether it supports kitty's protocol, and for the size of a cell in pixels
// (XTWINOPS 16). Send a request for its attributes (DA1, where 4 means sixel) after it: every
// terminal answers that request, so if the attributes arrive first, Query will not be answered.
const Query = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[16t"

// kittyChunk is the maximum number of base64 bytes in one sequence.
const kittyChunk = 4096

// AppendTransmit appends the transmission of a PNG, which the terminal stores under id.
func AppendTransmit(dst []byte, id uint32, png []byte) []byte {
	first := fmt.Sprintf("a=t,f=100,t=d,i=%d,", id)
	for first != "" || len(png) > 0 {
		piece := png[:min(len(png), kittyChunk/4*3)]
		png = png[len(piece):]
		dst = fmt.Appendf(dst, "\x1b_G%sq=2,m=%d;", first, min(len(png), 1))
		dst = base64.StdEncoding.AppendEncode(dst, piece)
		dst = append(dst, "\x1b\\"...)
		first = ""
	}
	return dst
}

// AppendPlace appends the placement of a transmitted picture over cols×rows cells at the cursor,
// which does not move. A previous placement of the picture is replaced.
func AppendPlace(dst []byte, id uint32, cols, rows int) []byte {
	return fmt.Appendf(dst, "\x1b_Ga=p,p=1,C=1,q=2,i=%d,c=%d,r=%d\x1b\\", id, cols, rows)
}

// AppendHide appends the removal of a picture from the screen; the terminal keeps its data.
func AppendHide(dst []byte, id uint32) []byte {
	return fmt.Appendf(dst, "\x1b_Ga=d,q=2,d=i,i=%d\x1b\\", id)
}

// AppendDelete appends the removal of a picture from the screen and from the terminal's memory.
func AppendDelete(dst []byte, id uint32) []byte {
	return fmt.Appendf(dst, "\x1b_Ga=d,q=2,d=I,i=%d\x1b\\", id)
}

// AppendPatch appends the placement of a part of a transmitted sheet at the cursor, which does not
// move. A cell of the sheet has w×h pixels. number distinguishes the parts of a sheet.
func AppendPatch(dst []byte, id, number uint32, p Patch, w, h int) []byte {
	return fmt.Appendf(dst, "\x1b_Ga=p,p=%d,C=1,q=2,i=%d,x=%d,y=%d,w=%d,h=%d,c=%d,r=%d,z=%d\x1b\\", number, id,
		p.Cells.Min.X*w, p.Cells.Min.Y*h, p.Cells.Dx()*w, p.Cells.Dy()*h, p.Cells.Dx(), p.Cells.Dy(), p.Sheet.At.Z)
}

// AppendHidePatch appends the sequence that removes part number of the sheet id from the screen.
func AppendHidePatch(dst []byte, id, number uint32) []byte {
	return fmt.Appendf(dst, "\x1b_Ga=d,q=2,d=i,i=%d,p=%d\x1b\\", id, number)
}

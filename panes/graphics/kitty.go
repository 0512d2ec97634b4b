package graphics

import (
	"encoding/base64"
	"fmt"
)

// QueryID is the number of the picture that Query asks about.
const QueryID = 31

// Query asks a terminal whether it speaks kitty's protocol, and how large a cell is
// in pixels (XTWINOPS 16). Its attributes (DA1), of which 4 is sixel, are to be asked for
// behind that: every terminal answers this, and the others, if at all, before it.
const Query = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[16t"

// kittyChunk is how many bytes of base64 one sequence may have.
const kittyChunk = 4096

// AppendTransmit appends what gives a terminal a PNG to keep under a number.
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

// AppendPlace appends what shows a picture that was transmitted over
// cols×rows cells, from the cursor on, which stays. It is in one place at a
// time.
func AppendPlace(dst []byte, id uint32, cols, rows int) []byte {
	return fmt.Appendf(dst, "\x1b_Ga=p,p=1,C=1,q=2,i=%d,c=%d,r=%d\x1b\\", id, cols, rows)
}

// AppendHide appends what takes a picture off the screen; the terminal keeps
// it.
func AppendHide(dst []byte, id uint32) []byte {
	return fmt.Appendf(dst, "\x1b_Ga=d,q=2,d=i,i=%d\x1b\\", id)
}

// AppendForget appends what takes a picture off the screen and out of the
// terminal's memory.
func AppendForget(dst []byte, id uint32) []byte {
	return fmt.Appendf(dst, "\x1b_Ga=d,q=2,d=I,i=%d\x1b\\", id)
}

// AppendPatch appends what shows cells of a sheet that was transmitted, w×h pixels each,
// from the cursor on, which stays. Several of a sheet have numbers of their own.
func AppendPatch(dst []byte, id, number uint32, p Patch, w, h int) []byte {
	return fmt.Appendf(dst, "\x1b_Ga=p,p=%d,C=1,q=2,i=%d,x=%d,y=%d,w=%d,h=%d,c=%d,r=%d,z=%d\x1b\\", number, id,
		p.Cells.Min.X*w, p.Cells.Min.Y*h, p.Cells.Dx()*w, p.Cells.Dy()*h, p.Cells.Dx(), p.Cells.Dy(), p.Sheet.At.Z)
}

// AppendHidePatch appends what takes one of them off the screen.
func AppendHidePatch(dst []byte, id, number uint32) []byte {
	return fmt.Appendf(dst, "\x1b_Ga=d,q=2,d=i,i=%d,p=%d\x1b\\", id, number)
}

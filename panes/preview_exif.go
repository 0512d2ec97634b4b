package panes

import (
	"bytes"
	"encoding/binary"
	"image"
)

// orientation is how a JPEG is to be turned, from 1, not at all, to 8: the tag
// 0x0112 of Exif, which cameras write instead of turning pixels.
func orientation(data []byte) int {
	rest, ok := bytes.CutPrefix(data, []byte("\xff\xd8"))
	for ok && len(rest) >= 4 && rest[0] == 0xff && rest[1] != 0xda { // up to the scan
		n := int(binary.BigEndian.Uint16(rest[2:]))
		if n < 2 || n+2 > len(rest) {
			break
		}
		if tiff, exif := bytes.CutPrefix(rest[4:n+2], []byte("Exif\x00\x00")); exif && rest[1] == 0xe1 {
			return tiffOrientation(tiff)
		}
		rest = rest[n+2:]
	}
	return 1
}

// tiffOrientation looks for the tag in the first directory.
func tiffOrientation(tiff []byte) int {
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if tiff[0] == 'I' {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 1
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < 12 {
			break
		}
		if order.Uint16(entries) == 0x0112 {
			if o := int(order.Uint16(entries[8:])); o >= 1 && o <= 8 {
				return o
			}
			break
		}
		entries = entries[12:]
	}
	return 1
}

// sideways reports whether an orientation exchanges width and height.
func sideways(orientation int) bool { return orientation >= 5 }

// turned is a picture as its orientation says.
func turned(src *image.RGBA, orientation int) *image.RGBA {
	if orientation == 1 {
		return src
	}
	w, h := src.Bounds().Dx(), src.Bounds().Dy()
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	if sideways(orientation) {
		out = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			left, up := w-1-x, h-1-y
			toX, toY := x, y
			switch orientation {
			case 2:
				toX = left
			case 3:
				toX, toY = left, up
			case 4:
				toY = up
			case 5:
				toX, toY = y, x
			case 6:
				toX, toY = up, x
			case 7:
				toX, toY = up, left
			case 8:
				toX, toY = y, left
			}
			copy(out.Pix[out.PixOffset(toX, toY):], src.Pix[src.PixOffset(x, y):][:4])
		}
	}
	return out
}

package preview

import (
	"bytes"
	"encoding/binary"
	"image"
	"io"
	"slices"
)

// readOrientation returns the orientation of an image, from 1 (upright) to 8. Cameras store it in the
// TIFF tag 0x0112, in a JPEG inside Exif, instead of rotating the pixels.
func readOrientation(head []byte, file io.ReaderAt) int {
	rest, ok := bytes.CutPrefix(head, []byte("\xff\xd8"))
	if !ok && pictureFormatOf(head).name == "tiff" {
		return tiffOrientation(file)
	}
	for ok && len(rest) >= 4 && rest[0] == 0xff && rest[1] != 0xda { // up to the scan
		n := int(binary.BigEndian.Uint16(rest[2:]))
		if n < 2 || n+2 > len(rest) {
			break
		}
		if tiff, exif := bytes.CutPrefix(rest[4:n+2], []byte("Exif\x00\x00")); exif && rest[1] == 0xe1 {
			return tiffOrientation(bytes.NewReader(tiff))
		}
		rest = rest[n+2:]
	}
	return 1
}

// tiffOrientation returns the tag's value from the first directory.
func tiffOrientation(tiff io.ReaderAt) int {
	var head [8]byte
	if _, err := tiff.ReadAt(head[:], 0); err != nil {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if head[0] == 'I' {
		order = binary.LittleEndian
	}
	const entry = 12
	var count [2]byte
	at := int64(order.Uint32(head[4:]))
	if _, err := tiff.ReadAt(count[:], at); err != nil {
		return 1
	}
	entries := make([]byte, entry*int(order.Uint16(count[:])))
	n, _ := tiff.ReadAt(entries, at+int64(len(count)))
	for entries = entries[:n]; len(entries) >= entry; entries = entries[entry:] {
		if order.Uint16(entries) == 0x0112 {
			if o := int(order.Uint16(entries[8:])); o >= 1 && o <= 8 {
				return o
			}
			break
		}
	}
	return 1
}

// swapsSides reports whether an orientation swaps width and height.
func swapsSides(orientation int) bool { return orientation >= 5 }

// rotate returns an image rotated to its orientation.
func rotate(src *image.RGBA, orientation int) *image.RGBA {
	if orientation == 1 {
		return src
	}
	w, h := src.Bounds().Dx(), src.Bounds().Dy()
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	if swapsSides(orientation) {
		out = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	mirrored := slices.Contains([]int{2, 3, 6, 7}, orientation)
	upsideDown := slices.Contains([]int{3, 4, 7, 8}, orientation)
	b := out.Bounds()
	for y := range h {
		for x := range w {
			toX, toY := x, y
			if swapsSides(orientation) {
				toX, toY = y, x
			}
			if mirrored {
				toX = b.Dx() - 1 - toX
			}
			if upsideDown {
				toY = b.Dy() - 1 - toY
			}
			copy(out.Pix[out.PixOffset(toX, toY):], src.Pix[src.PixOffset(x, y):][:4])
		}
	}
	return out
}

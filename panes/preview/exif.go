package preview

import (
	"bytes"
	"encoding/binary"
	"image"
	"io"

	"golang.org/x/image/draw"
	"golang.org/x/image/math/f64"
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

// tiffOrientation returns the orientation stored in the first directory of a TIFF file.
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
	right, bottom := float64(w), float64(h)
	turn := [...]f64.Aff3{
		2: {-1, 0, right, 0, 1, 0},
		3: {-1, 0, right, 0, -1, bottom},
		4: {1, 0, 0, 0, -1, bottom},
		5: {0, 1, 0, 1, 0, 0},
		6: {0, -1, bottom, 1, 0, 0},
		7: {0, -1, bottom, -1, 0, right},
		8: {0, 1, 0, -1, 0, right},
	}[orientation]
	if swapsSides(orientation) {
		w, h = h, w
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.NearestNeighbor.Transform(out, turn, src, src.Bounds(), draw.Src, nil)
	return out
}
